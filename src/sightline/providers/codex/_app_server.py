"""Codex through `codex app-server`: JSON-RPC over its standard streams, one process for all prompts of a session.

Rules of this wire:

- `initialize`, then `initialized`, before anything else. A thread is started or resumed once per process; each prompt
  is a turn of it, and begins with `turn/start`.
- Answers have the id of what they answer; requests of theirs have ids of their own, and `serverRequest/resolved` says
  that one is closed, whoever closed it.
- `turn/interrupt` ends a turn; its `turn/completed` follows. `turn/steer` adds words to one that goes on.
"""

import asyncio
import re
from typing import Any

import msgspec

from sightline.events import ApprovalState, Error, Event, RunStarted
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import Approval, ProviderPrompt, Unreachable
from sightline.providers._source import reread, text_at, unknown
from sightline.providers._spoken_program import ProgramChannel
from sightline.providers.codex import _app_server_wire as wire
from sightline.providers.codex._app_server_items import diff_of
from sightline.providers.codex._app_server_requests import Answer, asked
from sightline.providers.codex._app_server_source import AppServerSource
from sightline.providers.codex._command import COMMAND
from sightline.text import clean_line, clean_text, visible

_SECONDS_TO_OPEN = 30.0
_CHANGES_AT_MOST = 64
_NO_SUCH_METHOD = -32601
_OTHER_VERSION = (-32600, _NO_SUCH_METHOD, -32602)  # what is asked of it is nothing it knows
_HINT = f"update Codex: npm install -g {COMMAND.package}"

# What a version without an app-server says to the word.
_too_old = re.compile(r"unrecogni[sz]ed subcommand|unexpected argument|stdin is not a terminal", re.IGNORECASE).search

# Where nothing is said, what the person's own settings for Codex say.
_APPROVALS: dict[Approval, dict[str, str]] = {
    "auto": {},
    "plan": {"sandbox": "read-only", "approvalPolicy": "never"},
    "edit": {"sandbox": "workspace-write", "approvalPolicy": "on-request"},
    "full": {"sandbox": "danger-full-access", "approvalPolicy": "never"},
}

_decode = msgspec.json.Decoder(wire.AppServerMessage).decode


class AppServer(ProgramChannel):
    """The channel. `ask`: what all prompts have in common."""

    def __init__(self, ask: ProviderPrompt, binary: str = "codex") -> None:
        super().__init__("codex app-server", seconds=_SECONDS_TO_OPEN)
        self._ask = ask
        self._binary = binary
        self._source = AppServerSource()
        self._requests: dict[str, tuple[Any, Answer]] = {}  # open: their id, how to answer
        self._changes: dict[str, tuple[str, str, str]] = {}  # of file changes: tool, path, diff
        self._thread = self._turn = self._model = ""
        self._steering: asyncio.Task[bool] | None = None

    async def open(self, ask: ProviderPrompt) -> None:
        await self._open()

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self._open()
        opened = await self._open_thread(ask)
        run = self._run = ChannelRun("codex", self._thread, self._interrupt, self._program.end)
        flags = list(_APPROVALS[ask.approval].values())
        begun = RunStarted(clean_line(self._thread), clean_line(ask.model or self._model), clean_line(ask.cwd))
        await run.put([ApprovalState(ask.approval, flags).as_state(), begun, *opened])
        more = {"model": ask.model} if ask.model else {}
        try:
            answer = await self._call("turn/start", threadId=self._thread, input=_input(ask.prompt), **more)
            self._turn = text_at(answer, "turn", "id")
        except Unreachable as problem:
            await run.fail(Error(problem.message, problem.hint))
        return run

    def answer(self, request: str, answer: Any) -> bool:
        open_request = self._requests.pop(request, None)
        if open_request is None:
            return False
        id, to_result = open_request
        result, reason = to_result(answer)
        self._send({"id": id, "result": result})
        if reason:
            self._steering = asyncio.get_running_loop().create_task(self.steer(f"I refused this. {reason}"))
        return True

    async def steer(self, text: str) -> bool:
        if self._run is None or self._run.over or not self._turn:
            return False
        try:
            await self._call("turn/steer", threadId=self._thread, expectedTurnId=self._turn, input=_input(text))
        except Unreachable:
            return False
        return True

    async def stop_agent(self, path: str) -> bool:
        thread, turn = self._source.thread_of(path)
        if not turn:
            return False
        try:
            await self._call("turn/interrupt", threadId=thread, turnId=turn)
        except Unreachable:
            return False
        return True

    # The conversation

    async def _open(self) -> None:
        if self._program.is_running:
            return
        self._thread = ""
        argv, hint = [self._binary, "app-server"], f"npm install -g {COMMAND.package}"
        self._program.start(argv, cwd=self._ask.cwd, env=self._ask.env, hint=hint)
        from importlib.metadata import version

        client = {"name": "sightline", "title": "Sightline", "version": version("sightline")}
        await self._call("initialize", clientInfo=client)
        self._send({"method": "initialized"})

    async def _open_thread(self, ask: ProviderPrompt) -> list[Event]:
        """Have the thread of this conversation; what is to be said about it."""
        if self._thread and ask.resume in ("", self._thread):
            return []
        more: dict[str, Any] = {**_APPROVALS[ask.approval], "cwd": ask.cwd or None, "model": ask.model or None}
        if ask.resume:
            answer = await self._call("thread/resume", threadId=ask.resume, excludeTurns=True, **more)
        else:
            answer = await self._call("thread/start", **more)
        self._thread = self._source.thread = text_at(answer, "thread", "id")
        self._model = text_at(answer, "model") or text_at(answer, "thread", "model")
        if not self._thread:
            raise Unreachable("codex app-server started no thread", _HINT)
        return []

    async def _interrupt(self) -> None:
        if self._turn:
            try:
                await self._call("turn/interrupt", threadId=self._thread, turnId=self._turn)
            except Unreachable:
                await self._program.end()

    # Messages

    async def _call(self, method: str, **params: Any) -> Any:
        """The answer; Unreachable when there is none, or it is an error."""
        id, given = self._next_id(), {key: value for key, value in params.items() if value is not None}
        message = _encoded({"id": id, "method": method, "params": given})
        return await self._program.ask(id, message, method, _HINT)

    def _send(self, message: dict[str, Any]) -> None:
        self._program.send(_encoded(message))

    def why_ended(self, exit_code: int | None, stderr: str) -> Unreachable:
        why, hint = _last_words(stderr)
        return Unreachable(f"codex app-server ended with exit code {exit_code}{why}", hint)

    async def ended(self, problem: Unreachable) -> None:
        self._requests.clear()
        self._turn = ""
        await super().ended(problem)

    def parse_events(self, line: bytes) -> list[Event]:
        """One line of theirs. An answer wakes who waits for it, anything else is events."""
        try:
            message = _decode(line)
        except (ValueError, RecursionError) as error:
            message = reread(line, wire.AppServerMessage)
            if message is None:
                return [unknown(line, len(line), str(error))]
        if not message.method:
            self._answered(message)
            return []
        if message.id is not None:
            return self._asked(message)
        if message.method == "serverRequest/resolved":
            self._requests.pop(clean_line(str(message.params.get("requestId"))), None)
        if message.method in ("item/started", "item/fileChange/patchUpdated"):
            self._note_changes(message.params)
        events = self._source.notified(message.method, message.params, line)
        if message.method == "turn/completed" and message.params.get("threadId") == self._thread:
            self._turn = ""
        return events

    def _answered(self, message: wire.AppServerMessage) -> None:
        answer = message.result
        if message.error is not None:
            text = clean_text(text_at(message.error, "message") or "codex app-server refused")
            answer = Unreachable(text, _hint_for_refusal(message.error, text))
        if isinstance(message.id, int):
            self._program.answered(message.id, answer)

    def _asked(self, message: wire.AppServerMessage) -> list[Event]:
        id, item = clean_line(str(message.id)), message.params.get("itemId")
        call = self._source.call_id(clean_line(item)) if isinstance(item, str) and item else ""
        params = {"cwd": self._ask.cwd, **message.params}
        event, answer = asked(message.method, id, params, call, self._changes_of)
        if answer is None:
            self._send({"id": message.id, "error": {"code": _NO_SUCH_METHOD, "message": "not supported"}})
        else:
            self._requests[id] = (message.id, answer)
        return [event]

    def _note_changes(self, params: dict[str, Any]) -> None:
        """What a file change is about to do, for when it is asked about."""
        item = params.get("item", params)
        changes = item.get("changes") if isinstance(item, dict) else None
        id = (item.get("id") or item.get("itemId")) if isinstance(item, dict) else None
        if not isinstance(changes, list) or not isinstance(id, str):
            return
        sound = [change for change in changes if isinstance(change, dict)]
        paths = [change["path"] for change in sound if isinstance(change.get("path"), str)]
        tool = "Write" if all(text_at(change, "kind", "type") == "add" for change in sound) else "Edit"
        self._changes[id] = (tool, visible(", ".join(paths)), visible(diff_of(sound)))
        if len(self._changes) > _CHANGES_AT_MOST:
            del self._changes[next(iter(self._changes))]

    def _changes_of(self, item: str) -> tuple[str, str, str]:
        return self._changes.get(item, ("Edit", "", ""))


def _input(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text.encode("utf-8", "replace").decode(), "text_elements": []}]


def _encoded(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"


def _last_words(stderr: str) -> tuple[str, str]:
    """What it said before it ended, to be put behind that it did, and what to do about it."""
    from sightline.providers.running import _explain

    said = _explain.last_words(stderr)
    if not said or _too_old(said):
        return f": {said}" if said else "", _HINT
    return f": {said}", _explain.hint_for(COMMAND, said)


def _hint_for_refusal(error: Any, said: str) -> str:
    from sightline.providers.running import _explain

    code = error.get("code") if isinstance(error, dict) else None
    return _HINT if code in _OTHER_VERSION else _explain.hint_for(COMMAND, said)
