"""Gemini through `gemini --acp`: the Agent Client Protocol over its standard streams, one process for a session.

Rules of this wire:

- JSON-RPC, one message per line. `initialize`, then a session is made or loaded, once per process; each prompt is one
  `session/prompt`, whose answer is the end of the work on it. Updates come before that answer.
- `session/cancel` ends a prompt that goes on; whatever it asks meanwhile has to be answered with `cancelled`.
- What a session was is told again when it is loaded, partly after the answer to `session/load`, one update after the
  other has been written. Answers come between them: it is over when there was none between two answers.
- Loading a session begins a file for a new one under its id before it is looked for. Within the minute in which the
  session was begun that is its own file, and empties it. With a blank before the id, which is not looked at where
  sessions are found, it is another file.
- Files are its own to read and write: we offer it none of ours.
- Without a terminal of its own for commands Gemini tells what they print; with one it tells nothing.
- At the levels `plan` and `full` nothing is to be asked. There it is run once per prompt, which tells more of each
  call, and of those that it refuses because the level has no such tool.
"""

from contextlib import suppress
from typing import Any

import msgspec

from sightline.events import ApprovalState, Error, Event, Notice, RequestResolved, RunStarted
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import Approval, ProviderPrompt, Run, Unreachable
from sightline.providers._source import reread, text_at, unknown
from sightline.providers._spoken_program import ProgramChannel
from sightline.providers.gemini._channel_requests import Answer, asked, call_asked_about
from sightline.providers.gemini._channel_source import ChannelSource
from sightline.providers.gemini._command import COMMAND, channel_arguments
from sightline.text import clean_line, clean_text

_ASKING: tuple[Approval, ...] = ("auto", "edit")
_SECONDS_TO_OPEN = 60.0
_NO_SUCH_METHOD = -32601
_HINT = f"update Gemini CLI: npm install -g {COMMAND.package}"
_ENVIRONMENT = {"GEMINI_PTY_INFO": "child_process"}
_CANCELLED = {"outcome": {"outcome": "cancelled"}}
_STOPPED = "stopped before it began"


class _Message(msgspec.Struct, gc=False):
    """Any line: an answer has no method, a notification no id, a request of theirs both."""

    method: str = ""
    id: Any = None
    params: dict[str, Any] = {}
    result: Any = None
    error: Any = None


_decode = msgspec.json.Decoder(_Message).decode


class GeminiChannel(ProgramChannel):
    """The channel. `ask`: what all prompts have in common."""

    def __init__(self, ask: ProviderPrompt, binary: str = COMMAND.binary) -> None:
        super().__init__("gemini --acp", seconds=_SECONDS_TO_OPEN)
        self._ask = ask
        self._binary = binary
        self._forget()

    def _forget(self) -> None:
        """What belongs to one process."""
        self._source = ChannelSource(self._ask.cwd)
        self._requests: dict[str, tuple[Any, str, Answer]] = {}  # open: their id, that of the call, how to answer
        self._session = self._handle = ""  # its id, and what this process calls it
        self._model = self._wanted_model = self._reason = ""
        self._prompt = 0  # the id of the one that goes on
        self._replayed_before_answer = 0
        self._stopping = False

    async def open(self, ask: ProviderPrompt) -> None:
        """The program, not a session in it: where somebody is logged in, making one speaks to a service."""
        if ask.approval in _ASKING:
            await self._start(ask)

    async def run(self, ask: ProviderPrompt) -> Run:
        if ask.approval not in _ASKING:
            from sightline.providers._registry import get_provider
            from sightline.providers.running._runner import start_run

            return start_run(get_provider("gemini"), ask)
        await self._open(ask)
        run = self._run = ChannelRun("gemini", self._session, self._stop, self._program.end)
        self._stopping, self._reason = False, ""
        flags = list(COMMAND.approvals[ask.approval])
        begun = RunStarted(clean_line(self._session), clean_line(self._model), clean_line(ask.cwd))
        await run.put([ApprovalState(ask.approval, flags).as_state(), begun])
        self._say(ask.prompt)
        if not self._program.is_heard:
            await run.fail(Error("Gemini CLI has ended", "send it again"))
        return run

    def answer(self, request: str, answer: Any) -> bool:
        open_request = self._requests.pop(request, None)
        if open_request is None:
            return False
        id, call, to_option = open_request
        option, self._reason = to_option(answer)
        events: list[Event] = [RequestResolved(request)]
        if not option:
            events += self._source.refused(call)
        if self._reason:  # it takes no words with a no: the prompt is ended, and another one has them
            events += self._cancel()
        self._send(
            {"id": id, "result": {"outcome": {"outcome": "selected", "optionId": option}} if option else _CANCELLED}
        )
        self._tell(events)
        return True

    async def steer(self, text: str) -> bool:
        return False

    # The conversation

    async def _open(self, ask: ProviderPrompt) -> None:
        if self._session and ask.resume not in ("", self._session):
            await self.close()
        await self._start(ask)
        if not self._session:
            await self._open_session(ask)

    async def _start(self, ask: ProviderPrompt) -> None:
        if self._program.is_running and ask.model == self._wanted_model:
            return
        await self.close()
        self._forget()
        self._wanted_model = ask.model
        argv, env = [self._binary, *channel_arguments(ask)], {**self._ask.env, **_ENVIRONMENT}
        self._program.start(argv, cwd=self._ask.cwd, env=env, hint=_HINT)
        from importlib.metadata import version

        client = {"name": "sightline", "title": "Sightline", "version": version("sightline")}
        await self._call("initialize", protocolVersion=1, clientCapabilities={}, clientInfo=client)

    async def _open_session(self, ask: ProviderPrompt) -> None:
        import os

        place = {"cwd": self._ask.cwd or os.getcwd(), "mcpServers": []}
        if ask.resume:
            self._source.replaying = True
            self._session, self._handle = ask.resume, f" {ask.resume}"
            answer = await self._call("session/load", sessionId=self._handle, **place)
            await self._all_replayed()
            self._source.replaying = False
        else:
            answer = await self._call("session/new", **place)
            self._session = self._handle = text_at(answer, "sessionId")
        self._model = ask.model or text_at(answer, "models", "currentModelId")
        if not self._session:
            raise Unreachable("gemini --acp started no session", _HINT)

    async def _all_replayed(self) -> None:
        self._replayed_before_answer = 1
        while self._replayed_before_answer:
            self._replayed_before_answer = 0
            with suppress(Unreachable):  # it is no method of theirs: that it is answered is all
                await self._call("_sightline/loaded")

    def _say(self, text: str) -> None:
        self._prompt = self._next_id()
        words = [{"type": "text", "text": text.encode("utf-8", "replace").decode()}]
        params = {"sessionId": self._handle, "prompt": words}
        self._send({"id": self._prompt, "method": "session/prompt", "params": params})

    async def _stop(self) -> None:
        self._stopping = True
        self._tell(self._cancel())

    def _cancel(self) -> list[Event]:
        """What it asked is answered too: until then it waits."""
        self._send({"method": "session/cancel", "params": {"sessionId": self._handle}})
        events: list[Event] = []
        for request, (id, call, _) in self._requests.items():
            self._send({"id": id, "result": _CANCELLED})
            events += [RequestResolved(request), *self._source.refused(call, _STOPPED)]
        self._requests.clear()
        return events

    # Messages

    async def _call(self, method: str, **params: Any) -> Any:
        """The answer; Unreachable when there is none, or it is an error."""
        id = self._next_id()
        return await self._program.ask(id, _encoded({"id": id, "method": method, "params": params}), method, _HINT)

    def _send(self, message: dict[str, Any]) -> None:
        self._program.send(_encoded(message))

    def _tell(self, events: list[Event]) -> None:
        if self._run is not None:
            self._run.tell(events)

    def why_ended(self, exit_code: int | None, stderr: str) -> Unreachable:
        from sightline.providers.running import _explain

        return Unreachable(*_explain.channel_ended("gemini --acp", COMMAND, exit_code, stderr))

    async def ended(self, problem: Unreachable) -> None:
        self._requests.clear()
        await self.pass_on(self._source.turn_over())
        await super().ended(problem)

    def parse_events(self, line: bytes) -> list[Event]:
        """One line of theirs. An answer wakes who waits for it, anything else is events."""
        try:
            message = _decode(line)
        except (ValueError, RecursionError) as error:
            message = reread(line, _Message)
            if message is None:
                return [unknown(line, len(line), str(error))]
        if not message.method:
            return self._answered(message)
        if message.id is not None:
            return self._asked(message)
        if message.method != "session/update" or message.params.get("sessionId") != self._handle:
            return []
        return self._source.updated(message.params.get("update"), line)

    def _answered(self, message: _Message) -> list[Event]:
        id = message.id
        # Counted where the answer stands in the stream: by the time who waits for it is woken, more may have been read.
        self._replayed_before_answer, self._source.replayed = self._source.replayed, 0
        if not isinstance(id, int):
            return []
        if id == self._prompt:
            return self._prompt_over(message)
        answer = message.result
        if message.error is not None:
            words = [text_at(message.error, "message"), text_at(message.error, "data", "details")]
            answer = Unreachable(clean_text(": ".join(filter(None, words)) or "gemini --acp refused"), _HINT)
        self._program.answered(id, answer)
        return []

    def _prompt_over(self, message: _Message) -> list[Event]:
        self._prompt = 0
        reason, self._reason = self._reason, ""
        if reason and not self._stopping and message.error is None:
            self._say(f"I refused this. {reason}")
            return self._source.turn_over()
        return self._source.run_over(message.result, message.error)

    def _asked(self, message: _Message) -> list[Event]:
        call = call_asked_about(message.params) if message.method == "session/request_permission" else None
        if call is None:
            self._send({"id": message.id, "error": {"code": _NO_SUCH_METHOD, "message": "not supported"}})
            text = f"Gemini asked for something that only its own program supports: {message.method[:100]}"
            return [Notice(clean_line(text), "warning")]
        events, use = self._source.asked_about(call)
        if self._stopping or self._reason or not self._prompt:  # nobody is there to say yes
            self._send({"id": message.id, "result": _CANCELLED})
            return [*events, *self._source.refused(call.toolCallId, _STOPPED)]
        request, answer = asked(clean_line(str(message.id)), message.params, use, self._ask.cwd)
        self._requests[request.id] = (message.id, call.toolCallId, answer)
        return [*events, request]


def _encoded(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode({"jsonrpc": "2.0", **message}) + b"\n"
