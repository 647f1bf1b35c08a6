"""Small things about a session, read off its fold: what a status says. A value may come from anywhere."""

from sightline.events import (
    ApprovalState,
    CommandsState,
    CompactionState,
    ContextState,
    ExtensionCommand,
    JobsState,
    ModelState,
    ProviderState,
    QueuedMessage,
    QueueState,
    RetryState,
    SessionJob,
    StartingState,
    SteeringState,
    StopsAgentsState,
    ThinkingState,
    TodoState,
    TodoTask,
)
from sightline.text import clean_line
from sightline.transcript import Snapshot, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.console.shapes._shape import seconds_words

_LOOKED_AT = 50  # entries, from the end


class Facts:
    """A reading glass for one snapshot; reads anew each time."""

    def __init__(self, state: Snapshot) -> None:
        self.state = state

    @property
    def model(self) -> str:
        said = ModelState.among(self.state.state)
        return clean_line((said.name if said else "") or self.state.model)

    @property
    def provider(self) -> str:
        """Whose agent works; empty: our own."""
        said = ProviderState.among(self.state.state)
        return clean_line(said.name) if said else ""

    @property
    def lacks_model(self) -> bool:
        """Our own agent works here, and reports that it has no model."""
        return ModelState.among(self.state.state) == ModelState("") and not self.provider

    @property
    def takes_steering(self) -> bool:
        """Whether words said meanwhile reach a run that goes on; else they are queued."""
        return SteeringState.among(self.state.state) != SteeringState(False)

    @property
    def stops_agents(self) -> bool:
        """Whether one subagent can be stopped while the rest continues."""
        return StopsAgentsState.among(self.state.state) != StopsAgentsState(False)

    @property
    def thinking(self) -> str:
        said = ThinkingState.among(self.state.state)
        return clean_line(said.level) if said else ""

    @property
    def approval(self) -> str:
        """The level; empty where nobody has said it."""
        said = ApprovalState.among(self.state.state)
        return clean_line(said.level) if said else ""

    @property
    def context(self) -> tuple[int, int] | None:
        """Tokens in the model's memory, and how many fit (0: nobody knows)."""
        said = ContextState.among(self.state.state)
        return None if said is None or said.used is None else (said.used, said.window or 0)

    @property
    def queue(self) -> list[QueuedMessage]:
        said = QueueState.among(self.state.state)
        return said.messages if said else []

    @property
    def jobs(self) -> list[SessionJob]:
        """Those that run."""
        said = JobsState.among(self.state.state)
        return [job for job in said.jobs if job.status == "running"] if said else []

    @property
    def commands(self) -> list[ExtensionCommand]:
        said = CommandsState.among(self.state.state)
        return said.commands if said else []

    @property
    def agents(self) -> int:
        return sum(agent.running for agent in self.state.agents.values())

    @property
    def todo(self) -> list[TodoTask]:
        said = TodoState.among(self.state.state)
        return said.tasks if said else []

    @property
    def tokens(self) -> tuple[int, int]:
        """Read and written, by everybody."""
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
        """How many answers are waited for."""
        return len(self.state.requests)

    @property
    def going_on(self) -> str:
        """What the agent is at, in a word or two; empty when it is at nothing."""
        compaction = CompactionState.among(self.state.state)
        if compaction is not None and compaction.running:
            return "summarising the conversation"
        if not self.state.running:
            return ""
        if self.waits:
            return "waiting for your answer"
        if starting := StartingState.among(self.state.state):
            return clean_line(f"starting {starting.title}")
        if self.retry is not None:
            return self.asking_again(None)
        return self._last_act()

    @property
    def retry(self) -> RetryState | None:
        """Why and when a server that could not answer is asked again; None while none is."""
        return RetryState.among(self.state.state)

    def asking_again(self, left: float | None) -> str:
        """`left`: seconds until then, where that is known."""
        retry = self.retry or RetryState()
        when = f" in {seconds_words(left)}" if left is not None else ""
        known = retry.attempt is not None and retry.attempts is not None
        which = f" ({retry.attempt} of {retry.attempts})" if known else ""
        return clean_line(f"retrying{when}{which}: {retry.reason or 'the server is busy'}")

    def _last_act(self) -> str:
        """Of the agent's: what the person runs beside it is none of its doing, and what it said before it was asked, or
        before a call that has ended, is over."""
        over = False
        for entry in reversed(self.state.entries[-_LOOKED_AT:]):
            if isinstance(entry, TranscriptMessage) and not entry.agent and entry.how != "steer":
                break
            if isinstance(entry, TranscriptCall) and not (entry.by_user or entry.is_job):
                if entry.content is None:
                    name = clean_line(entry.name) or "a tool"
                    return f"preparing {name.lower()}" if _is_prepared(entry) else f"running {name}"
                over = True
            if isinstance(entry, TranscriptText) and not over:
                return "thinking" if entry.reasoning else "answering"
        return "working"

    @property
    def call(self) -> TranscriptCall | None:
        """What the agent runs now: the last call of its own that goes on."""
        for entry in reversed(self.state.entries[-_LOOKED_AT:]):
            if isinstance(entry, TranscriptMessage) and not entry.agent and entry.how != "steer":
                break
            if isinstance(entry, TranscriptCall) and not (entry.by_user or entry.is_job) and entry.content is None:
                return entry
        return None

    @property
    def typed(self) -> TranscriptCall | None:
        """What the person runs themselves: the last that goes on."""
        entries = reversed(self.state.entries[-_LOOKED_AT:])
        calls = (entry for entry in entries if isinstance(entry, TranscriptCall) and entry.by_user)
        return next((call for call in calls if call.content is None and not call.is_job), None)


def _is_prepared(call: TranscriptCall) -> bool:
    """The model still writes its arguments."""
    return bool(call.written) and call.args is None


def count(number: float) -> str:
    """`950`, `12.3k`, `128k`, `1M`, `1.2M`."""
    if number < 1000:
        return str(int(number))
    if number < 99_950:
        return f"{number / 1000:.1f}".removesuffix(".0") + "k"
    return f"{number / 1000:.0f}k" if number < 999_500 else f"{number / 1_000_000:.1f}".removesuffix(".0") + "M"
