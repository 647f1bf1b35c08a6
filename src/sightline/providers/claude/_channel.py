"""Claude Code as the SDKs run it: one process for all prompts of a session, spoken to in lines of JSON.

Rules of this wire:

- What it says and does are the lines of its other stream, and read as those. Besides there are `control_request`s, from
  either side, and the `control_response` that has the id of what it answers.
- `initialize` comes first. `can_use_tool` asks; `control_cancel_request` takes a question back. `interrupt` ends a
  round, whose `result` follows.
- A line with the person's words starts a round, or waits for the one that goes on: its next call's result carries
  them to the model. `cancel_async_message` takes words back that the model has not been sent.
- Input is read in order: the answer to a request that was sent after some words says that those have been read.
"""

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from sightline.events import ApprovalState, Error, Event, Notice, RequestResolved, RunEnded, RunStarted, State
from sightline.events.stamping import of_agent
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import ProviderPrompt, Run, Unreachable
from sightline.providers._source import text_at, unknown
from sightline.providers._spoken_program import ProgramChannel
from sightline.providers.claude import _channel_wire as wire
from sightline.providers.claude._channel_requests import RequestOrigin, TranslatedRequest, asked
from sightline.providers.claude._channel_turns import ClaudeTurns
from sightline.providers.claude._command import COMMAND, channel_arguments
from sightline.providers.claude._source import ClaudeSource
from sightline.text import clean_line, clean_text

_SECONDS_TO_OPEN = 60.0
_KEPT_AT_MOST = 256  # of words sent in one run, of tasks, of events between runs
_HINT = f"update Claude Code: npm install -g {COMMAND.package}"
# Without it a result does not say whether more follows by itself.
_ENVIRONMENT = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}


class ClaudeChannel(ProgramChannel):
    """The channel. `ask`: what all prompts have in common."""

    def __init__(self, ask: ProviderPrompt, binary: str = COMMAND.binary) -> None:
        super().__init__("claude", seconds=_SECONDS_TO_OPEN)
        self._ask = ask
        self._binary = binary
        self._begun_by_itself: Callable[[Run], bool] | None = None
        self._forget()

    def _forget(self) -> None:
        """What belongs to one process."""
        self._source = ClaudeSource()
        self._source.attended = True
        self._turns = ClaudeTurns()
        self._session = self._model = ""
        self._unread: dict[str, int] = {}  # requests whose answer says that words were read, which were sent then
        self._said: dict[str, str] = {}  # in this run, by their uuid
        self._requests: dict[str, tuple[Any, TranslatedRequest]] = {}  # open: by our id, theirs and how to answer
        self._tasks: dict[str, str] = {}  # their id of a subagent → the call that started it
        self._between: list[Event] = []  # told while nothing was going on

    async def open(self, ask: ProviderPrompt) -> None:
        await self._open(ask)

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self._open(ask)
        await self._use_model(ask.model)
        run = self._run
        if run is None or run.over:
            run = self._run = self._new_run()
            await run.put([self._approval(ask), *self._between])
            self._between = []
        self._turns.prompted()
        self._said.clear()
        self._say(ask.prompt)
        if not self._program.is_heard:
            await run.fail(Error("Claude Code has ended", "send it again"))
        return run

    def on_own_run(self, begun: Callable[[Run], bool]) -> None:
        self._begun_by_itself = begun

    def answer(self, request: str, answer: Any) -> bool:
        open_request = self._requests.pop(request, None)
        if open_request is None:
            return False
        id, question = open_request
        made = question.answer(answer)
        events: list[Event] = [RequestResolved(request)]
        if isinstance(made, TranslatedRequest):
            self._requests[made.event.id] = (id, made)
            events.append(made.event)
        else:
            self._send(wire.answer(id, made))
        of_agent(question.event.agent, events)
        if self._run is not None:
            self._run.tell(events)
        return True

    async def steer(self, text: str) -> bool:
        if self._run is None or self._run.over or self._turns.stopping:
            return False
        self._say(text)
        return True

    async def stop_agent(self, path: str) -> bool:
        task = next((task for task, call in self._tasks.items() if path and self._source.agent_of(call) == path), "")
        if not task:
            return False
        try:
            await self._call("stop_task", task_id=task)
        except Unreachable:  # it has just ended, or this version cannot
            return False
        return True

    # The conversation

    async def _open(self, ask: ProviderPrompt) -> None:
        if self._program.is_running and ask.resume in ("", self._session):
            return
        await self.close()
        self._forget()
        self._session, self._model = ask.resume, ask.model
        argv, env = [self._binary, *channel_arguments(ask)], {**self._ask.env, **_ENVIRONMENT}
        self._program.start(argv, cwd=self._ask.cwd, env=env, hint=_HINT)
        await self._call("initialize")

    async def _use_model(self, model: str) -> None:
        if model != self._model:
            self._model = model
            await self._call("set_model", **({"model": model} if model else {}))

    def _new_run(self) -> ChannelRun:
        return ChannelRun("claude", self._session, self._interrupt, self._program.end)

    def _approval(self, ask: ProviderPrompt) -> State:
        flags = list(COMMAND.approvals[ask.approval])
        return ApprovalState(ask.approval, flags).as_state()

    async def _interrupt(self) -> None:
        self._turns.stopping = True
        if self._source.has_background:
            return await self._program.end()  # an interrupt ends the round, not the subagents beside it
        try:
            unheard = {uuid: text for uuid, text in list(self._said.items()) if await self._taken_back(uuid)}
            await self._call("interrupt")
        except Unreachable:
            return await self._program.end()
        events: list[Event] = [
            Notice(f"stopped before Claude Code read this: {clean_text(text)}") for text in unheard.values()
        ]
        if not self._turns.begun and next(iter(self._said), "") in unheard:
            events += self._turns.given_up()  # the prompt was never begun: nothing of it will end
        return await self.pass_on(events)

    async def _taken_back(self, uuid: str) -> bool:
        answer = await self._call("cancel_async_message", message_uuid=uuid)
        return isinstance(answer, dict) and answer.get("cancelled") is True

    # Messages

    def _say(self, text: str) -> None:
        uuid, read = str(uuid4()), self._new_id()
        self._said[uuid] = text
        _forget_oldest(self._said)
        self._unread[read] = self._turns.wakings
        self._send(wire.words(text, uuid), wire.control(read, "get_binary_version"))

    async def _call(self, subtype: str, **fields: Any) -> Any:
        """The answer; Unreachable when there is none, or it is an error."""
        id = self._new_id()
        return await self._program.ask(id, wire.encoded(wire.control(id, subtype, **fields)), subtype, _HINT)

    def _new_id(self) -> str:
        return f"sightline-{self._next_id()}"

    def _send(self, *messages: dict[str, Any]) -> None:
        self._program.send(wire.encoded(*messages))

    async def pass_on(self, events: list[Event]) -> None:
        """To the run they belong to: what follows the end of one does not."""
        while events:
            run = self._run_for(events)
            if run is None:
                news = [event for event in events if not isinstance(event, RunStarted | RunEnded)]
                self._between = [*self._between, *news][-_KEPT_AT_MOST:]
                return
            ends = [at for at, event in enumerate(events, 1) if isinstance(event, RunEnded) and not event.agent]
            of_run = ends[0] if ends else len(events)
            await run.put(events[:of_run])
            events = events[of_run:]

    def _run_for(self, events: list[Event]) -> ChannelRun | None:
        if self._run is not None and not self._run.over:
            return self._run
        if self._begun_by_itself is None or not any(isinstance(event, RunStarted) for event in events):
            return None
        run = self._new_run()
        if not self._begun_by_itself(run):
            return None
        events[:0] = self._between
        self._between = []
        self._said.clear()
        self._run = run
        return run

    def why_ended(self, exit_code: int | None, stderr: str) -> Unreachable:
        from sightline.providers.running import _explain

        return Unreachable(*_explain.channel_ended("claude", COMMAND, exit_code, stderr))

    async def ended(self, problem: Unreachable) -> None:
        self._requests.clear()
        await self.pass_on(self._turns.broke(busy=self._is_busy))
        await super().ended(problem)

    def parse_events(self, line: bytes) -> list[Event]:
        """One line of theirs."""
        try:
            head = wire.head_of(line)
        except (ValueError, RecursionError) as error:
            return [unknown(line, len(line), str(error))]
        match head.type:
            case "control_request":
                return self._asked(head)
            case "control_cancel_request":
                return self._taken_from_us(head.request_id)
            case "control_response":
                self._answered(head.response)
                return self._end_of_run()
            case "system" if head.subtype == "session_state_changed":
                self._turns.is_in(str(head.state))
                return self._end_of_run()
            case "system" if head.subtype == "task_started":
                self._tasks[str(head.task_id)] = str(head.tool_use_id)
                _forget_oldest(self._tasks)
            case "system" if head.subtype == "task_notification" and not self._turns.open:
                return [Notice(clean_line(str(head.summary or "a task has ended")))]
        events = self._turns.told(self._source.parse_events(line))
        for event in events:
            if isinstance(event, RunStarted) and event.session:
                self._session = event.session
        return [*events, *self._end_of_run()] if head.type == "result" else events

    def _end_of_run(self) -> list[Event]:
        return self._turns.end(busy=self._is_busy)

    @property
    def _is_busy(self) -> bool:
        """Whether more will come by itself, whatever it says of its state."""
        return bool(self._unread) or self._source.has_background

    def _answered(self, response: Any) -> None:
        id = text_at(response, "request_id")
        if id in self._unread:
            self._turns.has_read(self._unread.pop(id))
        if not isinstance(response, dict):
            return
        if response.get("subtype") == "success":
            self._program.answered(id, response.get("response"))
        else:
            text = clean_text(text_at(response, "error")) or "claude refused"
            self._program.answered(id, Unreachable(text, _HINT))

    def _asked(self, head: wire.ChannelLine) -> list[Event]:
        request, id = head.request, clean_line(str(head.request_id))
        kind = text_at(request, "subtype")
        if kind == "can_use_tool":
            native = text_at(request, "tool_use_id")
            call = self._source.call_id(clean_line(native)) if native else ""
            agent = self._source.agent_of(self._tasks.get(text_at(request, "agent_id"), ""))
            made = asked(request, RequestOrigin(id, call, self._ask.cwd))
            if made is not None:
                self._requests[id] = (head.request_id, made)
                return of_agent(agent, [made.event])
        self._send(wire.refusal(head.request_id, "not supported"))
        text = f"Claude Code asked for something that only its own program supports: {kind[:100]}"
        return [Notice(clean_line(text), "warning")]

    def _taken_from_us(self, id: Any) -> list[Event]:
        """It does not want to know any more."""
        gone = [ours for ours, (theirs, _) in self._requests.items() if theirs == id]
        taken = [self._requests.pop(ours)[1].event for ours in gone]
        return [event for each in taken for event in of_agent(each.agent, [RequestResolved(each.id)])]


def _forget_oldest(kept: dict[str, str]) -> None:
    if len(kept) > _KEPT_AT_MOST:
        del kept[next(iter(kept))]
