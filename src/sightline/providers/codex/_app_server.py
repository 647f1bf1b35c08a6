"""Codex through `codex app-server`: JSON-RPC over its standard streams, one process for all prompts of a session.

Rules of this wire:

- `initialize`, then `initialized`, before anything else. A thread is started or resumed once per process; each prompt
  is a turn of it, and begins with `turn/start`.
- `serverRequest/resolved` reports that a request of theirs is closed, whichever side closed it.
- `turn/interrupt` ends a turn; its `turn/completed` follows. `turn/steer` adds text to a running turn.
"""

import asyncio
import re
import shlex
from collections.abc import Callable, Mapping
from functools import partial

import msgspec

from sightline.events import ApprovalState, Error, Event, Request, RunStarted, leaves_sandbox
from sightline.providers._channel_run import ChannelRun
from sightline.providers._preview import unwrap_shell
from sightline.providers._program_channel import RpcChannel, RpcMessage, client_info
from sightline.providers._provider import Approval, ProviderPrompt, Unreachable
from sightline.providers._requests import ALWAYS, NO, ONCE, SESSION, OpenRequest, choice_in, question, words_in
from sightline.providers._source import remember, text_at
from sightline.providers.codex._app_server_source import AppServerSource, diff_of
from sightline.providers.codex._command import COMMAND
from sightline.text import clean_line, clean_text, visible, visible_value

# From the user's answer to the result for Codex, and a reason to send it besides.
Answer = Callable[[object], tuple[object, str]]
TranslatedRequest = tuple[Request, Answer]
# From the item of a file change to its tool, path and diff.
Changes = Mapping[str, tuple[str, str, str]]

_AMENDMENT = "proposedExecpolicyAmendment"


class _Command(msgspec.Struct):
    itemId: str = ""
    command: str | None = ""
    cwd: str | None = ""
    reason: str | None = ""
    proposedExecpolicyAmendment: list[str] | None = None
    availableDecisions: list[object] | None = None


class _Permissions(msgspec.Struct):
    itemId: str = ""
    cwd: str | None = ""
    reason: str | None = ""
    permissions: object = None


class _Question(msgspec.Struct):
    id: str = ""
    question: str = ""
    options: list[dict[str, object]] | None = None


class _Questions(msgspec.Struct):
    questions: list[_Question] = []


def translate_request(
    method: str, id: str, params: dict[str, object], call: str, changes: Changes
) -> TranslatedRequest | None:
    """None for a request that cannot be answered here. `call`: our id of the call it is about."""
    known = _KINDS.get(method)
    try:
        return None if known is None else known(id, _shown(params), call, changes)
    except (ValueError, RecursionError):
        return None


def _shown(params: dict[str, object]) -> dict[str, object]:
    """Parameters as the user can read them. A rule that would not be what they read is not offered."""
    shown: dict[str, object] = visible_value(params)
    if shown.get(_AMENDMENT) != params.get(_AMENDMENT):
        shown[_AMENDMENT] = None
    return shown


def _command(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Command)
    command = unwrap_shell(request.command or "")
    offered = request.availableDecisions
    amendment = request.proposedExecpolicyAmendment or []
    choices = [ONCE]
    if offered is None or "acceptForSession" in offered:
        choices.append(SESSION)
    if amendment and (offered is None or any(isinstance(one, dict) for one in offered)):
        choices.append(ALWAYS)
    details = {
        **_about("Bash", call, "exec", command, request.reason),
        "rule": shlex.join(amendment),
        "args": {"command": command},
        "cwd": request.cwd or "",
        "leaves": True,
    }
    always = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": amendment}}
    decisions: dict[str, object] = {ONCE: "accept", SESSION: "acceptForSession", ALWAYS: always}
    event = Request(id, "approval", f"Codex wants to run `{command}`", [*choices, NO], details)
    return event, _decided({choice: decisions[choice] for choice in choices})


def _file_change(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Command)
    tool, path, diff = changes.get(request.itemId, ("Edit", "", ""))
    details = {
        **_about(tool, call, "write", path, request.reason),
        "path": path,
        "diff": diff,
        "leaves": leaves_sandbox("write", path, request.cwd or ""),
        **({} if diff else {"unseen": "its changes are unknown"}),
    }
    words = f"Codex wants to change {path or 'files'}"
    event = Request(id, "approval", words, [ONCE, SESSION, NO], details)
    return event, _decided({ONCE: "accept", SESSION: "acceptForSession"})


def _permissions(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Permissions)
    what = msgspec.json.encode(request.permissions).decode()
    details = {**_about("Permissions", call, "exec", what, request.reason), "cwd": request.cwd or ""}

    def answer(given: object) -> tuple[object, str]:
        choice, reason = choice_in(given)
        granted = request.permissions if choice in (ONCE, SESSION) else {}
        return {"permissions": granted, "scope": "session" if choice == SESSION else "turn"}, reason

    words = f"Codex wants more permissions: {request.reason or what}"
    return Request(id, "approval", words, [ONCE, SESSION, NO], details), answer


def _question(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest | None:
    """Several questions at once become one request."""
    questions = msgspec.convert(params, _Questions).questions
    if not questions:
        return None
    options = questions[0].options or [] if len(questions) == 1 else []
    text = "\n".join([each.question for each in questions])

    def answer(given: object) -> tuple[object, str]:
        words = words_in(given)
        return {"answers": {each.id: {"answers": words} for each in questions}}, ""

    return question(id, text, options), answer


_KINDS: dict[str, Callable[[str, dict[str, object], str, Changes], TranslatedRequest | None]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file_change,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
}


def _about(tool: str, call: str, access: str, what: str, why: str | None) -> dict[str, object]:
    return {"ui": {"kind": "approval"}, "tool": tool, "call": call, "access": access, "what": what, "why": why or ""}


def _decided(decisions: dict[str, object]) -> Answer:
    """`decline` lets Codex continue without it; the reason is sent to it as well."""

    def answer(given: object) -> tuple[object, str]:
        choice, reason = choice_in(given)
        return {"decision": decisions.get(choice, "decline")}, "" if choice in decisions else reason

    return answer


_SECONDS_TO_OPEN = 30.0
_CHANGES_AT_MOST = 64
_OTHER_VERSION = (-32600, -32601, -32602)  # error codes of a version that does not know the request
_HINT = f"update Codex: npm install -g {COMMAND.package}"

# The error of a version without an app-server.
_too_old = re.compile(r"unrecogni[sz]ed subcommand|unexpected argument|stdin is not a terminal", re.IGNORECASE).search

# What is left out is up to the user's own settings for Codex.
_APPROVALS: dict[Approval, dict[str, str]] = {
    "auto": {},
    "plan": {"sandbox": "read-only", "approvalPolicy": "never"},
    "edit": {"sandbox": "workspace-write", "approvalPolicy": "on-request"},
    "full": {"sandbox": "danger-full-access", "approvalPolicy": "never"},
}


class AppServer(RpcChannel):
    """The channel. `ask`: what all prompts have in common."""

    title = "Codex"

    def __init__(self, ask: ProviderPrompt, binary: str = "codex") -> None:
        super().__init__("codex app-server", seconds=_SECONDS_TO_OPEN, hint=_HINT)
        self._ask = ask
        self._binary = binary
        self._source = AppServerSource()
        self._changes: dict[str, tuple[str, str, str]] = {}  # of file changes: tool, path, diff
        self._thread = self._turn = self._model = ""
        self._steering: asyncio.Task[bool] | None = None

    async def open(self, ask: ProviderPrompt) -> None:
        await self._open()

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self._open()
        await self._open_thread(ask)
        run = self._run = ChannelRun("codex", self._thread, self._interrupt, self._end_program)
        flags = list(_APPROVALS[ask.approval].values())
        begun = RunStarted(clean_line(self._thread), clean_line(ask.model or self._model), clean_line(ask.cwd))
        await run.put([ApprovalState(ask.approval, flags).as_state(), begun])
        more = {"model": ask.model} if ask.model else {}
        try:
            answer = await self._call("turn/start", threadId=self._thread, input=_input(ask.prompt), **more)
            self._turn = text_at(answer, "turn", "id")
        except Unreachable as problem:
            await run.fail(Error(problem.message, problem.hint))
        return run

    async def steer(self, text: str) -> bool:
        if self._run is None or self._run.over or not self._turn:
            return False
        return await self._accepts("turn/steer", threadId=self._thread, expectedTurnId=self._turn, input=_input(text))

    async def stop_agent(self, path: str) -> bool:
        thread, turn = self._source.thread_of(path)
        return bool(turn) and await self._accepts("turn/interrupt", threadId=thread, turnId=turn)

    async def _accepts(self, method: str, **params: object) -> bool:
        try:
            await self._call(method, **params)
        except Unreachable:
            return False
        return True

    async def _open(self) -> None:
        if self.is_running:
            return
        self._thread = ""
        argv, hint = [self._binary, "app-server"], f"npm install -g {COMMAND.package}"
        self._start_program(argv, self._ask, self._ask.env, hint=hint)
        await self._call("initialize", clientInfo=client_info())
        self._send({"method": "initialized"})

    async def _open_thread(self, ask: ProviderPrompt) -> None:
        """Start or resume the thread of this conversation."""
        if self._thread and ask.resume in ("", self._thread):
            return
        given = {"cwd": ask.cwd, "model": ask.model}
        more = {**_APPROVALS[ask.approval], **{name: value for name, value in given.items() if value}}
        if ask.resume:
            answer = await self._call("thread/resume", threadId=ask.resume, excludeTurns=True, **more)
        else:
            answer = await self._call("thread/start", **more)
        self._thread = self._source.thread = text_at(answer, "thread", "id")
        self._model = text_at(answer, "model") or text_at(answer, "thread", "model")
        if not self._thread:
            raise Unreachable("codex app-server started no thread", _HINT)

    async def _interrupt(self) -> None:
        if self._turn and not await self._accepts("turn/interrupt", threadId=self._thread, turnId=self._turn):
            await self._end_program()

    def _exit_error(self, exit_code: int | None, stderr: str) -> Unreachable:
        from sightline.providers.running import _explain

        text, printed = f"codex app-server ended with exit code {exit_code}", _explain.last_words(stderr)
        hint = _HINT if not printed or _too_old(printed) else _explain.hint_for(COMMAND, printed)
        return Unreachable(f"{text}: {printed}" if printed else text, hint)

    async def _on_exit(self, error: Unreachable) -> None:
        self._turn = ""
        await super()._on_exit(error)

    def _on_notification(self, message: RpcMessage, line: bytes) -> list[Event]:
        method, params = message.method, message.params
        if method == "serverRequest/resolved":
            self._requests.pop(clean_line(str(params.get("requestId"))), None)
        if method in ("item/started", "item/fileChange/patchUpdated"):
            self._note_changes(params)
        events = self._source.notified(method, params, line)
        if method == "turn/completed" and params.get("threadId") == self._thread:
            self._turn = ""
        return events

    def _refusal(self, error: object) -> Unreachable:
        from sightline.providers.running import _explain

        text = clean_text(text_at(error, "message") or "codex app-server refused")
        code = error.get("code") if isinstance(error, dict) else None
        return Unreachable(text, _HINT if code in _OTHER_VERSION else _explain.hint_for(COMMAND, text))

    def _on_request(self, message: RpcMessage) -> list[Event]:
        id, item = clean_line(str(message.id)), text_at(message.params, "itemId")
        call = self._source.call_id(clean_line(item)) if item else ""
        params = {"cwd": self._ask.cwd, **message.params}
        translated = translate_request(message.method, id, params, call, self._changes)
        if translated is None:
            return self._unsupported(message)
        event, to_result = translated
        self._requests[id] = OpenRequest(event, partial(self._reply, message.id, to_result))
        return [event]

    def _reply(self, native_id: object, to_result: Answer, answer: object) -> None:
        result, reason = to_result(answer)
        self._send({"id": native_id, "result": result})
        if reason:
            self._steering = asyncio.get_running_loop().create_task(self.steer(f"I refused this. {reason}"))

    def _note_changes(self, params: dict[str, object]) -> None:
        """Store what a file change is about to do, for a request about it."""
        item = params.get("item", params)
        changes = item.get("changes") if isinstance(item, dict) else None
        id = (item.get("id") or item.get("itemId")) if isinstance(item, dict) else None
        if not isinstance(changes, list) or not isinstance(id, str):
            return
        sound = [change for change in changes if isinstance(change, dict)]
        paths = [change["path"] for change in sound if isinstance(change.get("path"), str)]
        tool = "Write" if all(text_at(change, "kind", "type") == "add" for change in sound) else "Edit"
        remember(self._changes, id, (tool, visible(", ".join(paths)), visible(diff_of(sound))), _CHANGES_AT_MOST)


def _input(text: str) -> list[dict[str, object]]:
    return [{"type": "text", "text": text.encode("utf-8", "replace").decode(), "text_elements": []}]
