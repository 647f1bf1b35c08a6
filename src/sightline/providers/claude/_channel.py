"""Claude Code as the SDKs run it: one process for all prompts of a session, spoken to in lines of JSON.

Rules of this wire:

- Text and calls are the lines of its other stream, and read as those. Besides there are `control_request`s, from
  either side, and the `control_response` that has the id of what it answers.
- `initialize` comes first. `can_use_tool` asks; `control_cancel_request` withdraws a question. `interrupt` ends a
  round, whose `result` follows.
- A `user` line starts a round, or waits for the running one: the result of its next call carries the text to the model.
  `cancel_async_message` withdraws text that the model has not been sent.
- Input is read in order: the answer to a request that was sent after a text shows that the text has been read.
"""

import json
from collections.abc import Callable, Iterable
from functools import partial
from uuid import uuid4

import msgspec
from msgspec.structs import replace

import sightline.events as ev
from sightline.events import Event
from sightline.events.stamping import of_agent
from sightline.providers._channel_run import ChannelRun
from sightline.providers._program_channel import ProgramChannel
from sightline.providers._provider import ProviderPrompt, Run, Unreachable
from sightline.providers._requests import OpenRequest
from sightline.providers._source import add, add_usage, read_line, remember, text_at
from sightline.providers.claude._channel_requests import RequestOrigin, TranslatedRequest, translate_request
from sightline.providers.claude._command import COMMAND, channel_arguments
from sightline.providers.claude._source import ClaudeSource
from sightline.text import clean_line, clean_text

_SECONDS_TO_OPEN = 60.0
_REMEMBERED_AT_MOST = 256  # of texts sent in one run, of tasks, of events between runs
_HINT = f"update Claude Code: npm install -g {COMMAND.package}"
# Without it a result does not show whether more follows by itself.
_ENVIRONMENT = {"CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}


class _Line(msgspec.Struct, gc=False):
    """Any line, as far as it is about the conversation itself; the rest is for the source to read."""

    type: str
    subtype: object = ""
    request_id: object = ""
    request: object = None
    response: object = None
    state: object = ""
    task_id: object = ""
    tool_use_id: object = ""
    summary: object = ""


_decoder = msgspec.json.Decoder(_Line)


class ClaudeChannel(ProgramChannel):
    """The channel. `ask`: what all prompts have in common."""

    def __init__(self, ask: ProviderPrompt, binary: str = COMMAND.binary) -> None:
        super().__init__("claude", seconds=_SECONDS_TO_OPEN, hint=_HINT)
        self._ask = ask
        self._binary = binary
        self._begun_by_itself: Callable[[Run], bool] | None = None
        self._reset()

    def _reset(self) -> None:
        """The state that belongs to one process."""
        self._requests.clear()
        self._source = ClaudeSource()
        self._source.attended = True
        self._turns = ClaudeTurns()
        self._session = self._model = ""
        self._unread: dict[str, int] = {}  # requests whose answer shows that a text was read → wakings when it was sent
        self._sent: dict[str, str] = {}  # texts of this run, by their uuid
        self._tasks: dict[str, str] = {}  # their id of a subagent → the call that started it
        self._between: list[Event] = []  # events between two runs

    async def open(self, ask: ProviderPrompt) -> None:
        if self.is_running and ask.resume in ("", self._session):
            return
        await self.close()
        self._reset()
        self._session, self._model = ask.resume, ask.model
        argv, env = [self._binary, *channel_arguments(ask)], {**self._ask.env, **_ENVIRONMENT}
        self._start_program(argv, self._ask, env)
        await self._call("initialize")

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self.open(ask)
        await self._use_model(ask.model)
        run = self._run
        if run is None or run.over:
            run = self._run = self._new_run()
            flags = list(COMMAND.approvals[ask.approval])
            await run.put([ev.ApprovalState(ask.approval, flags).as_state(), *self._between])
            self._between = []
        self._turns.prompted()
        self._sent.clear()
        self._send_text(ask.prompt)
        if not self.is_read:
            await run.fail(ev.Error("Claude Code has ended", "send it again"))
        return run

    def on_own_run(self, begun: Callable[[Run], bool]) -> None:
        self._begun_by_itself = begun

    async def steer(self, text: str) -> bool:
        if self._run is None or self._run.over or self._turns.stopping:
            return False
        self._send_text(text)
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

    async def _use_model(self, model: str) -> None:
        if model != self._model:
            self._model = model
            await self._call("set_model", **({"model": model} if model else {}))

    def _new_run(self) -> ChannelRun:
        return ChannelRun("claude", self._session, self._interrupt, self._end_program)

    async def _interrupt(self) -> None:
        self._turns.stopping = True
        if self._source.has_background:
            await self._end_program()  # an interrupt ends the round, not the subagents beside it
            return
        try:
            unread = {uuid: text for uuid, text in list(self._sent.items()) if await self._withdrawn(uuid)}
            # Before the interrupt: the end of the run may be read before we see the answer to it.
            await self._forward(
                [ev.Notice(f"stopped before Claude Code read this: {clean_text(text)}") for text in unread.values()]
            )
            await self._call("interrupt")
        except Unreachable:
            await self._end_program()
            return
        if not self._turns.begun and next(iter(self._sent), "") in unread:
            await self._forward(self._turns.given_up())  # the prompt was never begun: nothing of it will end

    async def _withdrawn(self, uuid: str) -> bool:
        answer = await self._call("cancel_async_message", message_uuid=uuid)
        return isinstance(answer, dict) and answer.get("cancelled") is True

    def _send_text(self, text: str) -> None:
        uuid, read = str(uuid4()), self._new_id()
        remember(self._sent, uuid, text, _REMEMBERED_AT_MOST)
        self._unread[read] = self._turns.wakings
        line: dict[str, object] = {
            "type": "user",
            "message": {"role": "user", "content": text},
            "parent_tool_use_id": None,
            "session_id": "",
            "uuid": uuid,
        }
        self._send(line, _control(read, "get_binary_version"))

    async def _call(self, subtype: str, **fields: object) -> object:
        """The answer; Unreachable when there is none, or it is an error."""
        id = self._new_id()
        return await self._request(id, _encoded(_control(id, subtype, **fields)), subtype)

    def _new_id(self) -> str:
        return f"sightline-{self._next_id()}"

    def _send(self, *messages: dict[str, object]) -> None:
        self._write(_encoded(*messages))

    def _respond(self, id: object, subtype: str, **fields: object) -> None:
        self._send({"type": "control_response", "response": {"subtype": subtype, "request_id": id, **fields}})

    async def _forward(self, events: list[Event]) -> None:
        """To the run they belong to: what follows the end of one does not."""
        while events:
            run = self._run_for(events)
            if run is None:
                news = [event for event in events if not isinstance(event, ev.RunStarted | ev.RunEnded)]
                self._between = [*self._between, *news][-_REMEMBERED_AT_MOST:]
                return
            ends = [at for at, event in enumerate(events, 1) if isinstance(event, ev.RunEnded) and not event.agent]
            of_run = ends[0] if ends else len(events)
            await run.put(events[:of_run])
            events = events[of_run:]

    def _run_for(self, events: list[Event]) -> ChannelRun | None:
        if self._run is not None and not self._run.over:
            return self._run
        if self._begun_by_itself is None or not any(isinstance(event, ev.RunStarted) for event in events):
            return None
        run = self._new_run()
        if not self._begun_by_itself(run):
            return None
        events[:0] = self._between
        self._between = []
        self._sent.clear()
        self._run = run
        return run

    def _exit_error(self, exit_code: int | None, stderr: str) -> Unreachable:
        from sightline.providers.running import _explain

        return Unreachable(*_explain.channel_ended("claude", COMMAND, exit_code, stderr))

    async def _on_exit(self, error: Unreachable) -> None:
        await self._forward(self._turns.broke(busy=self._is_busy))
        await super()._on_exit(error)

    def parse_events(self, line: bytes) -> list[Event]:
        head = read_line(line, _decoder)
        if isinstance(head, ev.Unknown):
            return [head]
        match head.type:
            case "control_request":
                return self._on_request(head)
            case "control_cancel_request":
                return self._on_withdrawal(head.request_id)
            case "control_response":
                self._on_response(head.response)
                return self._end_of_run()
            case "system" if head.subtype == "session_state_changed":
                self._turns.is_in(str(head.state))
                return self._end_of_run()
            case "system" if head.subtype == "task_started":
                remember(self._tasks, str(head.task_id), str(head.tool_use_id), _REMEMBERED_AT_MOST)
            case "system" if head.subtype == "task_notification" and not self._turns.open:
                return [ev.Notice(clean_line(str(head.summary or "a task has ended")))]
        events = self._turns.of_run(self._source.parse_events(line))
        for event in events:
            if isinstance(event, ev.RunStarted) and event.session:
                self._session = event.session
        return [*events, *self._end_of_run()] if head.type == "result" else events

    def _end_of_run(self) -> list[Event]:
        return self._turns.end(busy=self._is_busy)

    @property
    def _is_busy(self) -> bool:
        """Whether more will come by itself, whatever state it reports."""
        return bool(self._unread) or self._source.has_background

    def _on_response(self, response: object) -> None:
        id = text_at(response, "request_id")
        if id in self._unread:
            self._turns.has_read(self._unread.pop(id))
        if not isinstance(response, dict):
            return
        if response.get("subtype") == "success":
            self._resolve(id, response.get("response"))
        else:
            text = clean_text(text_at(response, "error")) or "claude refused"
            self._resolve(id, Unreachable(text, _HINT))

    def _on_request(self, head: _Line) -> list[Event]:
        request, id = head.request, clean_line(str(head.request_id))
        kind = text_at(request, "subtype")
        if kind == "can_use_tool":
            native = text_at(request, "tool_use_id")
            call = self._source.call_id(clean_line(native)) if native else ""
            agent = self._source.agent_of(self._tasks.get(text_at(request, "agent_id"), ""))
            translated = translate_request(request, RequestOrigin(id, call, self._ask.cwd))
            if translated is not None:
                return of_agent(agent, [self._open_request(head.request_id, translated)])
        self._respond(head.request_id, "error", error="not supported")
        text = f"Claude Code asked for something that only its own program supports: {kind[:100]}"
        return [ev.Notice(clean_line(text), "warning")]

    def _open_request(self, native_id: object, request: TranslatedRequest) -> Event:
        reply = partial(self._reply, native_id, request)
        self._requests[request.event.id] = OpenRequest(request.event, reply, native_id)
        return request.event

    def _reply(self, native_id: object, request: TranslatedRequest, answer: object) -> None:
        response = request.answer(answer)
        events: list[Event] = [ev.RequestResolved(request.event.id)]
        if isinstance(response, TranslatedRequest):
            events.append(self._open_request(native_id, response))
        else:
            self._respond(native_id, "success", response=response)
        self._publish(of_agent(request.event.agent, events))

    def _on_withdrawal(self, native_id: object) -> list[Event]:
        """It needs no answer to this request any more."""
        withdrawn = [pending.event for pending in self._requests.values() if pending.native_id == native_id]
        for event in withdrawn:
            del self._requests[event.id]
        return [event for each in withdrawn for event in of_agent(each.agent, [ev.RequestResolved(each.id)])]


def _control(id: str, subtype: str, **fields: object) -> dict[str, object]:
    return {"type": "control_request", "request_id": id, "request": {"subtype": subtype, **fields}}


def _encoded(*messages: dict[str, object]) -> bytes:
    """Lines to be sent. Half a character that came in goes back as it was."""
    return b"".join([json.dumps(message).encode() + b"\n" for message in messages])


_INTERRUPTED = "[Request interrupted by user"


class ClaudeTurns:
    """The events of the source, cut into runs, in a stream that does not end with the work on a prompt.

    - Each round of Claude Code has an `init` and a `result`. A prompt can take several: text sent meanwhile that no
      call was left to carry, and the end of a subagent in the background, open another. They are one run, with one
      beginning and one end; tokens and costs are added up.
    - The run is over when Claude Code reports that it is idle after a result, has read all it was sent, and no subagent
      is running. For a version that does not report its state it is over with the first result.
    - The costs in a `result` are those of the whole process.
    - A round that was interrupted ends as failed, with a line in the user's name. Of a run that is being stopped
      neither is shown.
    - A command left in the background outlives the run. Its end makes Claude Code continue by itself: a run too.
    """

    def __init__(self) -> None:
        self.open = False  # from the prompt, or a round that began by itself, to the end of the run
        self.begun = False  # its first round has
        self.stopping = False
        self.wakings = 0  # how often it reported that it works
        self._state = ""  # empty: never reported
        self._wakes_up = False  # it has read a text, and will
        self._spent = 0.0
        self._ended: ev.RunEnded | None = None  # what its rounds so far came to

    def prompted(self) -> None:
        self.stopping = False
        if not self.open:
            self._open()

    def given_up(self) -> list[Event]:
        """The end of a run of which no round began."""
        self.open = False
        return [ev.RunEnded(stop_reason="cancelled")]

    def _open(self) -> None:
        self.open, self.begun, self.stopping, self._ended = True, False, False, None

    def is_in(self, state: str) -> None:
        self._state = state
        if state == "running":
            self.wakings += 1
            self._wakes_up = False

    def has_read(self, wakings: int) -> None:
        """A text that was sent after so many wakings has been read. Read while idle it begins a round, whatever ended
        before."""
        self._wakes_up = self._state == "idle" and self.wakings == wakings

    def of_run(self, events: Iterable[Event]) -> list[Event]:
        """The events of the source that are events of the run."""
        shown: list[Event] = []
        for event in events:
            if event.agent:
                shown.append(event)
            elif isinstance(event, ev.RunStarted):
                shown += self._round_begun(event)
            elif isinstance(event, ev.RunEnded):
                self._round_ended(event)
            elif isinstance(event, ev.Error):
                shown += [] if self.stopping else [_with_hint(event)]
            elif not (isinstance(event, ev.User) and self._is_redundant(event)):
                shown.append(event)
        return shown

    def end(self, *, busy: bool) -> list[Event]:
        """The end of the run, if this is it."""
        if self._ended is None or busy or self._wakes_up or self._state not in ("", "idle"):
            return []
        ended, self._ended = self._ended, None
        self.open = False
        return [replace(ended, stop_reason="cancelled", is_error=False) if self.stopping else ended]

    def broke(self, *, busy: bool) -> list[Event]:
        """Nothing more comes. A result that was there counts, unless there was to be more."""
        self._state = ""
        return self.end(busy=busy and not self.stopping)

    def _round_begun(self, event: ev.RunStarted) -> list[Event]:
        if not self.open:
            self._open()
        first, self.begun = not self.begun, True
        return [event] if first else []

    def _round_ended(self, event: ev.RunEnded) -> None:
        cost = event.cost
        if cost is not None:
            cost, self._spent = max(cost - self._spent, 0.0), cost
        before = self._ended or ev.RunEnded()
        self._ended = replace(event, usage=add_usage(before.usage, event.usage), cost=add(before.cost, cost))

    def _is_redundant(self, event: ev.User) -> bool:
        """Between runs the user sends nothing: it is the answer to one of our own commands."""
        return not self.open or (self.stopping and event.text.startswith(_INTERRUPTED))


def _with_hint(error: ev.Error) -> ev.Error:
    from sightline.providers.running import _explain

    return _explain.with_hint(error, COMMAND)
