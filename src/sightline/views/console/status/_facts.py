"""Facts about a session for its status, read from the fold. Their texts are untrusted."""

from collections.abc import Iterator

from sightline import events
from sightline.text import clean_line
from sightline.transcript import Snapshot, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.console.shapes._shape import seconds_words

_LOOKED_AT = 50  # entries, from the end
_LOOKED_AT_WITH_AGENTS = 1000  # their entries come between those of the one that waits for them


class Facts:
    """A reader of one snapshot. Every property reads anew."""

    def __init__(self, state: Snapshot) -> None:
        self.state = state
        self._states = state.state

    @property
    def model(self) -> str:
        model = events.ModelState.among(self._states)
        return clean_line((model.name if model else "") or self.state.model)

    @property
    def provider(self) -> str:
        """The provider whose agent works; empty: our own agent."""
        provider = events.ProviderState.among(self._states)
        return clean_line(provider.name) if provider else ""

    @property
    def worktree(self) -> events.WorktreeState | None:
        """The one the session works in."""
        return events.WorktreeState.among(self._states)

    @property
    def lacks_model(self) -> bool:
        """Whether our own agent works here and reports that it has no model."""
        return events.ModelState.among(self._states) == events.ModelState("") and not self.provider

    @property
    def takes_steering(self) -> bool:
        """Whether a message reaches a running agent; else it is queued."""
        return events.SteeringState.among(self._states) != events.SteeringState(False)

    @property
    def stops_agents(self) -> bool:
        """Whether one subagent can be stopped while the rest continues."""
        return events.StopsAgentsState.among(self._states) != events.StopsAgentsState(False)

    @property
    def thinking(self) -> str:
        thinking = events.ThinkingState.among(self._states)
        return clean_line(thinking.level) if thinking else ""

    @property
    def approval(self) -> str:
        """The approval level; empty: unknown."""
        approval = events.ApprovalState.among(self._states)
        return clean_line(approval.level) if approval else ""

    @property
    def context(self) -> tuple[int, int] | None:
        """Tokens in the model's context, and how many fit (0: unknown)."""
        context = events.ContextState.among(self._states)
        return None if context is None or context.used is None else (context.used, context.window or 0)

    @property
    def queue(self) -> list[events.QueuedMessage]:
        queue = events.QueueState.among(self._states)
        return queue.messages if queue else []

    @property
    def jobs(self) -> list[events.SessionJob]:
        """Running jobs."""
        jobs = events.JobsState.among(self._states)
        return [job for job in jobs.jobs if job.status == "running"] if jobs else []

    @property
    def commands(self) -> list[events.OfferedCommand]:
        commands = events.CommandsState.among(self._states)
        return commands.commands if commands else []

    @property
    def skills(self) -> list[events.SessionSkill]:
        skills = events.SkillsState.among(self._states)
        return skills.skills if skills else []

    @property
    def agents(self) -> int:
        return sum(agent.running for agent in self.state.agents.values())

    @property
    def todo(self) -> list[events.TodoTask]:
        todo = events.TodoState.among(self._states)
        return todo.tasks if todo else []

    @property
    def tokens(self) -> tuple[int, int]:
        """Tokens read and written, by all agents."""
        read = written = 0
        for total in self.state.totals.values():
            read += (total.input_tokens or 0) + (total.cache_read_tokens or 0) + (total.cache_write_tokens or 0)
            written += total.output_tokens or 0
        return read, written

    @property
    def cost(self) -> float:
        return sum([total.cost or 0.0 for total in self.state.totals.values()])

    @property
    def waits(self) -> int:
        """How many requests wait for an answer."""
        return len(self.state.requests)

    @property
    def activity(self) -> str:
        """What the agent does now, in a word or two; empty: it does nothing."""
        compaction = events.CompactionState.among(self._states)
        if compaction is not None and compaction.running:
            return "summarising the conversation"
        if not self.state.running:
            return ""
        if self.waits:
            return "waiting for your answer"
        if starting := events.StartingState.among(self._states):
            return clean_line(f"starting {starting.title}")
        if self.retry is not None:
            return self.retry_text(None)
        return self._last_act()

    @property
    def retry(self) -> events.RetryState | None:
        """The retry of a request that is waited for; None: there is none."""
        return events.RetryState.among(self._states)

    def retry_text(self, left: float | None) -> str:
        """`left`: seconds until the retry, where known."""
        retry = self.retry or events.RetryState()
        when = f" in {seconds_words(left)}" if left is not None else ""
        known = retry.attempt is not None and retry.attempts is not None
        which = f" ({retry.attempt} of {retry.attempts})" if known else ""
        return clean_line(f"retrying{when}{which}: {retry.reason or 'the server is busy'}")

    def _acts(self, path: str) -> Iterator[TranscriptCall | TranscriptText]:
        """The calls and texts of one agent since the last message to it, the newest first. The user's commands and
        jobs are not among them."""
        for entry in reversed(self.state.entries[-_LOOKED_AT_WITH_AGENTS if self.state.agents else -_LOOKED_AT :]):
            if entry.agent != path:
                continue
            if isinstance(entry, TranscriptMessage) and entry.how != "steer":
                return
            if isinstance(entry, TranscriptCall) and (entry.by_user or entry.is_job):
                continue
            if isinstance(entry, TranscriptCall | TranscriptText):
                yield entry

    def _last_act(self) -> str:
        """What the agent does; where that is to wait for others, what those do."""
        awaited = self._awaited
        if len(awaited) > 1:
            return f"waiting for {len(awaited)} agents"
        if awaited:
            name = clean_line(awaited[0].name or awaited[0].path)
            return f"waiting for {name}: {self._last_act_of(awaited[0].path)}"
        return self._last_act_of("")

    def _last_act_of(self, path: str) -> str:
        """Its running call, or its text if no call has ended after it."""
        has_ended = False
        for act in self._acts(path):
            if isinstance(act, TranscriptCall):
                if act.content is None:
                    name = clean_line(act.name) or "a tool"
                    return f"preparing {name.lower()}" if _is_prepared(act) else f"running {name}"
                has_ended = True
            elif not has_ended:
                return "thinking" if act.reasoning else "answering"
        return "working"

    @property
    def _awaited(self) -> list[TranscriptAgent]:
        """The agents that work for a running call of the session's agent, with those below them."""
        working = [agent for agent in self.state.agents.values() if agent.running and not agent.aside]
        if not working:
            return []
        calls = {call.id for call in self._running_calls("")}
        above = tuple(f"{agent.path}/" for agent in working if not agent.parent and agent.call in calls)
        return [agent for agent in working if f"{agent.path}/".startswith(above)] if above else []

    def _running_calls(self, path: str) -> Iterator[TranscriptCall]:
        return (act for act in self._acts(path) if isinstance(act, TranscriptCall) and act.content is None)

    @property
    def call(self) -> TranscriptCall | None:
        """The running call that `activity` names."""
        awaited = self._awaited
        path = awaited[0].path if len(awaited) == 1 else ""
        return next(self._running_calls(path), None)

    @property
    def aside(self) -> TranscriptAgent | None:
        """What answers the last question beside the conversation, while it does."""
        agents = reversed(self.state.agents.values())
        return next((agent for agent in agents if agent.aside and agent.running), None)

    @property
    def review(self) -> TranscriptAgent | None:
        """The reviewer of the user's last review, while it works."""
        agents = reversed(self.state.agents.values())
        return next((each for each in agents if each.running and each.fact is not None and each.fact.is_review), None)

    @property
    def typed(self) -> TranscriptCall | None:
        """The user's last command that runs."""
        entries = reversed(self.state.entries[-_LOOKED_AT:])
        calls = (entry for entry in entries if isinstance(entry, TranscriptCall) and entry.by_user)
        return next((call for call in calls if call.content is None and not call.is_job), None)


def _is_prepared(call: TranscriptCall) -> bool:
    """Whether the model still writes its arguments."""
    return bool(call.written) and call.args is None


def count(number: float) -> str:
    """`950`, `12.3k`, `128k`, `1M`, `1.2M`."""
    if number < 1000:
        return str(int(number))
    if number < 99_950:
        return f"{number / 1000:.1f}".removesuffix(".0") + "k"
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"
