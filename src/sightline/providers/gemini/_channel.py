"""Gemini through `gemini --acp`: the Agent Client Protocol over its standard streams, one process for a session.

Rules of this wire:

- `initialize`, then a session is made or loaded, once per process; each prompt is one `session/prompt`, whose answer is
  the end of the work on it. Updates come before that answer.
- `session/cancel` ends a running prompt; each request that is open has to be answered with `cancelled`.
- A session that is loaded is replayed, partly after the answer to `session/load`, one update after the other has been
  written. Answers come between them: the replay is over when there was no update between two answers.
- Loading a session begins a file for a new one under its id before it is looked for. Within the minute in which the
  session was begun that is its own file, and empties it. With a blank before the id, which is not looked at where
  sessions are found, it is another file.
- Files are its own to read and write: we offer it none of ours.
- Without a terminal of its own for commands Gemini reports what they print; with one it reports nothing.
- At the levels `plan` and `full` nothing is to be asked. There it is run once per prompt, which reports more of each
  call, and those that it refuses because the level has no such tool.
"""

import os
from collections.abc import Callable
from contextlib import suppress

import msgspec

from sightline.events import ApprovalState, Error, Event, Request, RequestResolved, RunStarted, ToolUse, leaves_sandbox
from sightline.providers._channel_run import ChannelRun
from sightline.providers._program_channel import RpcChannel, RpcMessage, client_info
from sightline.providers._provider import Approval, ProviderPrompt, Run, Unreachable
from sightline.providers._requests import NO, ONCE, SESSION, OpenRequest, choice_in
from sightline.providers._source import text_at
from sightline.providers.gemini._channel_calls import GeminiCall
from sightline.providers.gemini._channel_source import ChannelSource
from sightline.providers.gemini._command import COMMAND, channel_arguments
from sightline.text import clean_line, clean_text, clean_value, visible_value

# From the user's answer to the chosen option and the reason of a refusal; no option: refused.
Answer = Callable[[object], tuple[str, str]]

_ASKING: tuple[Approval, ...] = ("auto", "edit")
_SECONDS_TO_OPEN = 60.0
_HINT = f"update Gemini CLI: npm install -g {COMMAND.package}"
_ENVIRONMENT = {"GEMINI_PTY_INFO": "child_process"}
_CANCELLED = {"outcome": {"outcome": "cancelled"}}
_STOPPED = "stopped before it began"


class GeminiChannel(RpcChannel):
    """The channel. `ask`: what all prompts have in common."""

    title = "Gemini"
    rpc_version = "2.0"

    def __init__(self, ask: ProviderPrompt, binary: str = COMMAND.binary) -> None:
        super().__init__("gemini --acp", seconds=_SECONDS_TO_OPEN, hint=_HINT)
        self._ask = ask
        self._binary = binary
        self._reset()

    def _reset(self) -> None:
        """The state that belongs to one process."""
        self._source = ChannelSource(self._ask.cwd)
        self._requests.clear()
        self._session = self._handle = ""  # its id, and what this process calls it
        self._model = self._requested_model = self._reason = ""
        self._prompt = 0  # the id of the running one
        self._replayed_before_answer = 0
        self._stopping = False

    async def open(self, ask: ProviderPrompt) -> None:
        """The program, not a session in it: where the user is logged in, making one speaks to a service."""
        if ask.approval in _ASKING:
            await self._start(ask)

    async def run(self, ask: ProviderPrompt) -> Run:
        if ask.approval not in _ASKING:
            from sightline.providers._registry import get_provider
            from sightline.providers.running._runner import start_run

            return start_run(get_provider("gemini"), ask)
        await self._open(ask)
        run = self._run = ChannelRun("gemini", self._session, self._stop, self._end_program)
        self._stopping, self._reason = False, ""
        flags = list(COMMAND.approvals[ask.approval])
        begun = RunStarted(clean_line(self._session), clean_line(self._model), clean_line(ask.cwd))
        await run.put([ApprovalState(ask.approval, flags).as_state(), begun])
        self._send_prompt(ask.prompt)
        if not self.is_read:
            await run.fail(Error("Gemini CLI has ended", "send it again"))
        return run

    async def steer(self, text: str) -> bool:
        return False

    async def _open(self, ask: ProviderPrompt) -> None:
        if self._session and ask.resume not in ("", self._session):
            await self.close()
        await self._start(ask)
        if not self._session:
            await self._open_session(ask)

    async def _start(self, ask: ProviderPrompt) -> None:
        if self.is_running and ask.model == self._requested_model:
            return
        await self.close()
        self._reset()
        self._requested_model = ask.model
        argv, env = [self._binary, *channel_arguments(ask)], {**self._ask.env, **_ENVIRONMENT}
        self._start_program(argv, self._ask, env)
        await self._call("initialize", protocolVersion=1, clientCapabilities={}, clientInfo=client_info())

    async def _open_session(self, ask: ProviderPrompt) -> None:
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
            with suppress(Unreachable):  # it is no method of theirs: any answer will do
                await self._call("_sightline/loaded")

    def _send_prompt(self, text: str) -> None:
        self._prompt = self._next_id()
        words = [{"type": "text", "text": text.encode("utf-8", "replace").decode()}]
        params = {"sessionId": self._handle, "prompt": words}
        self._send({"id": self._prompt, "method": "session/prompt", "params": params})

    async def _stop(self) -> None:
        self._stopping = True
        self._publish(self._cancel())

    def _cancel(self) -> list[Event]:
        """Cancel the prompt and answer its open requests: until then it waits."""
        self._send({"method": "session/cancel", "params": {"sessionId": self._handle}})
        events: list[Event] = []
        for request, pending in self._requests.items():
            self._send({"id": pending.native_id, "result": _CANCELLED})
            events += [RequestResolved(request), *self._source.refused(pending.native_call, _STOPPED)]
        self._requests.clear()
        return events

    def _exit_error(self, exit_code: int | None, stderr: str) -> Unreachable:
        from sightline.providers.running import _explain

        return Unreachable(*_explain.channel_ended("gemini --acp", COMMAND, exit_code, stderr))

    async def _on_exit(self, error: Unreachable) -> None:
        await self._forward(self._source.turn_over())
        await super()._on_exit(error)

    def _on_notification(self, message: RpcMessage, line: bytes) -> list[Event]:
        if message.method != "session/update" or message.params.get("sessionId") != self._handle:
            return []
        return self._source.updated(message.params.get("update"), line)

    def _on_answer(self, message: RpcMessage) -> list[Event]:
        # Counted where the answer stands in the stream: by the time the caller is woken, more may have been read.
        self._replayed_before_answer, self._source.replayed = self._source.replayed, 0
        if isinstance(message.id, int) and message.id == self._prompt:
            return self._prompt_over(message)
        return super()._on_answer(message)

    def _refusal(self, error: object) -> Unreachable:
        words = [text_at(error, "message"), text_at(error, "data", "details")]
        return Unreachable(clean_text(": ".join(filter(None, words)) or "gemini --acp refused"), _HINT)

    def _prompt_over(self, message: RpcMessage) -> list[Event]:
        self._prompt = 0
        reason, self._reason = self._reason, ""
        if reason and not self._stopping and message.error is None:
            self._send_prompt(f"I refused this. {reason}")
            return self._source.turn_over()
        return self._source.run_over(message.result, message.error)

    def _on_request(self, message: RpcMessage) -> list[Event]:
        call = requested_call(message.params) if message.method == "session/request_permission" else None
        if call is None:
            return self._unsupported(message)
        events, use = self._source.call_requested(call)
        if self._stopping or self._reason or not self._prompt:  # the user cannot answer any more
            self._send({"id": message.id, "result": _CANCELLED})
            return [*events, *self._source.refused(call.toolCallId, _STOPPED)]
        request, to_option = translate_request(clean_line(str(message.id)), message.params, use, self._ask.cwd)
        pending = OpenRequest(
            request, lambda answer: self._reply(pending, to_option, answer), message.id, call.toolCallId
        )
        self._requests[request.id] = pending
        return [*events, request]

    def _reply(self, pending: OpenRequest, to_option: Answer, answer: object) -> None:
        option, self._reason = to_option(answer)
        events: list[Event] = [RequestResolved(pending.event.id)]
        if not option:
            events += self._source.refused(pending.native_call)
        if self._reason:  # a refusal takes no text: the prompt is ended, and another one has it
            events += self._cancel()
        outcome = {"outcome": {"outcome": "selected", "optionId": option}} if option else _CANCELLED
        self._send({"id": pending.native_id, "result": outcome})
        self._publish(events)


_LASTING = {"proceed_always": SESSION, "proceed_always_tool": SESSION}
_STORED = "proceed_always_and_save"
_ACCESS = {
    "delete": "write",
    "edit": "write",
    "execute": "exec",
    "fetch": "network",
    "move": "write",
    "read": "read",
    "search": "read",
}
_FOR_LONGER = {"exec": "these programs with any arguments", "write": "all changes to files"}


class _Option(msgspec.Struct):
    optionId: str
    name: str = ""
    kind: str = ""


class _PermissionRequest(msgspec.Struct):
    toolCall: GeminiCall
    options: list[_Option]


def requested_call(params: dict[str, object]) -> GeminiCall | None:
    """None when it cannot be read."""
    try:
        return msgspec.convert(clean_value(params), _PermissionRequest).toolCall
    except (ValueError, RecursionError):
        return None


def translate_request(id: str, params: dict[str, object], use: ToolUse, cwd: str) -> tuple[Request, Answer]:
    """The request to the user. `params`: of a call that can be read. `use`: that call as it was published.

    Gemini offers the options itself, by id and kind. What one for longer than once allows is Gemini's to decide, and
    wider than the requested call: the dialog shows how wide. One that Gemini stores may hold in other folders too, and
    has the label that Gemini gives it.
    """
    request = msgspec.convert(visible_value(params), _PermissionRequest)
    call, choices = request.toolCall, _choices(request.options)
    path, diff = call.changes(cwd)
    args = {**(use.args if isinstance(use.args, dict) else {}), **call.args(cwd)}
    access = _ACCESS.get(call.kind if isinstance(call.kind, str) else "", "")
    what = str(args.get("command") or path or call.words)
    described = args.get("description") if access == "exec" else ""  # by the model; of others it is the title
    below = args.get("dir_path") if access == "exec" else ""
    details = {
        "ui": {"kind": "approval"},
        "tool": use.name,
        "call": use.id,
        "access": access,
        "what": what,
        "why": _why(str(described or ""), access, choices),
        "args": {name: value for name, value in args.items() if value not in (what, described)},
        "cwd": os.path.normpath(os.path.join(cwd, below)) if isinstance(below, str) and below else cwd,
        "leaves": leaves_sandbox(access, path or call.path, cwd),
        **({"path": path, "diff": diff} if diff else {}),
    }
    doing = {"exec": f"run `{what}`", "write": f"change {what}"}.get(access, f"use {use.name}: {what}")
    event = Request(id, "approval", f"Gemini wants to {doing}", [*choices, NO], details)

    def answer(given: object) -> tuple[str, str]:
        choice, reason = choice_in(given)
        option = choices.get(choice, "")
        return option, "" if option else reason

    return event, answer


def _choices(options: list[_Option]) -> dict[str, str]:
    """The choices of the user, and the option each stands for; a no is added by the caller."""
    made: dict[str, str] = {}
    for option in options:
        if option.kind == "allow_once":
            made.setdefault(ONCE, option.optionId)
        elif option.kind == "allow_always":
            label = _LASTING.get(option.optionId) or clean_line(option.name)
            if label not in ("", ONCE, NO):
                made.setdefault(label, option.optionId)
    order = [ONCE, SESSION]
    return dict(sorted(made.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _why(description: str, access: str, choices: dict[str, str]) -> str:
    wide = _FOR_LONGER.get(access, "this tool with any arguments")
    stored = (
        [] if access == "write" else [label for label, option in choices.items() if option == _STORED]
    )  # of one file
    labels = [f"“{label}”" for label in [*([SESSION] if SESSION in choices else []), *stored]]
    how_wide = f"{' and '.join(labels)} {'is' if len(labels) == 1 else 'are'} for {wide}" if labels else ""
    return ". ".join(filter(None, [description, how_wide]))
