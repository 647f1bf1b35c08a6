"""OpenCode through `opencode serve`: HTTP on loopback and a stream of events, one server for all prompts of a session.

Rules:

- The server takes a password, made for it: other programs on the machine are not to steer it.
- It prints where it listens in its first lines. The stream of events is opened before the first prompt, so that nothing
  is missed, and not earlier: requesting it makes the server load the project (see `loads_offline`).
- A run begins with `prompt_async` and is over when its session is idle after it was busy. One that is stopped is over
  when the server has answered that.
"""

import asyncio
import os
import re
import secrets
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

import sightline.events as ev
from sightline.events import Event
from sightline.events.stamping import of_agent
from sightline.exec import Process
from sightline.handles import read_at_most
from sightline.providers._binary import start_channel
from sightline.providers._channel_run import ChannelRun
from sightline.providers._provider import ProviderPrompt, Unreachable
from sightline.providers._requests import ONCE, OpenRequest, OpenRequests
from sightline.providers._source import read_line
from sightline.providers._stream import EventStream
from sightline.providers.opencode._command import COMMAND
from sightline.providers.opencode._printed import data_folder
from sightline.providers.opencode._server_requests import Answer, permission, question
from sightline.providers.opencode._server_source import Talk, used_in
from sightline.providers.opencode._source import error_event
from sightline.text import clean_line, clean_text

if TYPE_CHECKING:
    import httpx2

_SECONDS_TO_OPEN = 60.0
_SECONDS_AFTER_STOP = 1.0
_HEAD_AT_MOST = 64 * 1024
_HINT = "update OpenCode: npm install -g opencode-ai"
_AGENTS = {"plan": "sightline-plan", "edit": "sightline-edit"}

_address = re.compile(rb"listening on (http://127\.0\.0\.1:\d{1,5})\b").search


class _ServerEvent(msgspec.Struct):
    type: str = ""
    properties: dict[str, object] = {}


_decoder = msgspec.json.Decoder(_ServerEvent)


class OpenCodeServer(OpenRequests):
    """The channel. `ask`: what all prompts have in common."""

    def __init__(self, ask: ProviderPrompt, binary: str = COMMAND.binary) -> None:
        super().__init__()
        self._ask = ask
        self._binary = binary
        self._process: Process | None = None
        self._client: httpx2.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._listens: asyncio.Event | None = None  # set when the stream of events is open
        self._session = self._data = ""
        self._talks: dict[str, Talk] = {}  # by session
        self._run: ChannelRun | None = None
        self._busy = self._stopping = False
        self._failure: object = None  # the error the session reported

    async def open(self, ask: ProviderPrompt) -> None:
        await self._start(ask)
        if not loads_offline(ask.cwd, {**os.environ, **ask.env}):
            return
        # It loads a project, its providers and its tools with the first request about them.
        await self._listen()
        for path in ("/config/providers", "/experimental/tool/ids", "/agent"):
            with suppress(Unreachable):
                await self._request("GET", path)

    async def run(self, ask: ProviderPrompt) -> ChannelRun:
        await self._start(ask)
        await self._listen()
        if not self._session or ask.resume not in ("", self._session):
            self._session = await self._find_session(ask.resume)
            self._talks = {self._session: Talk(data=self._data)}
        self._busy = self._stopping = False
        self._failure = None
        run = self._run = ChannelRun("opencode", self._session, self._interrupt, self._end)
        approval = ev.ApprovalState(ask.approval).as_state()
        begun = ev.RunStarted(clean_line(self._session), clean_line(ask.model), clean_line(ask.cwd))
        await run.put([approval, begun])
        try:
            await self._request("POST", f"/session/{self._session}/prompt_async", _prompt(ask))
        except Unreachable as problem:
            await run.fail(ev.Error(problem.message, problem.hint))
        return run

    async def steer(self, text: str) -> bool:
        return False  # it would take the text, but as a turn of its own after this one

    async def stop_agent(self, path: str) -> bool:
        child = next((session for session, talk in self._talks.items() if talk.agent == path), "")
        if not child:
            return False
        try:
            await self._request("POST", f"/session/{child}/abort", {})
        except Unreachable:
            return False
        return True

    async def close(self) -> None:
        await self._end()
        if self._tasks:
            await asyncio.wait(self._tasks)
        if self._client is not None:
            await self._client.aclose()

    async def _start(self, ask: ProviderPrompt) -> None:
        if self._process is not None and self._process.exit_code is None:
            return
        self._session, self._listens, password = "", None, secrets.token_urlsafe(24)
        environment = {**ask.env, "OPENCODE_SERVER_PASSWORD": password}
        if COMMAND.environment is not None:
            environment |= COMMAND.environment(ask)
        self._data = data_folder({**os.environ, **environment})
        argv = [self._binary, "serve", "--hostname", "127.0.0.1", "--port", "0"]
        process = self._process = start_channel(
            argv,
            "opencode serve",
            cwd=ask.cwd,
            env=environment,
            hint=_HINT,
            program="opencode",
            entering=ask.entering,
        )
        listening: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._later(self._watch(process, listening))
        try:
            async with asyncio.timeout(_SECONDS_TO_OPEN):
                await self._connect(await listening, password)
        except TimeoutError:
            raise Unreachable(f"opencode serve did not open in {_SECONDS_TO_OPEN:.0f} s", _HINT) from None

    async def _watch(self, process: Process, listening: "asyncio.Future[str]") -> None:
        """Read what it prints: at first where it listens, at last that it has ended."""
        head = b""
        while chunk := await process.read():
            if not listening.done() and len(head) < _HEAD_AT_MOST:
                head += chunk
                if found := _address(head):
                    listening.set_result(found.group(1).decode())
        printed = clean_text(process.stderr.decode("utf-8", "replace")).strip().rpartition("\n")[2]
        text = f"opencode serve ended with exit code {process.exit_code}" + (f": {printed}" if printed else "")
        await process.end()  # what it was running outlives it otherwise
        process.close()
        if not listening.done():
            listening.set_exception(Unreachable(text, _HINT))
        await self._broke(text)

    async def _connect(self, url: str, password: str) -> None:
        import httpx2

        if self._client is not None:
            await self._client.aclose()
        # Nothing on loopback goes through a proxy.
        self._client = httpx2.AsyncClient(
            base_url=url, auth=("opencode", password), trust_env=False, timeout=httpx2.Timeout(30, read=None)
        )

    async def _listen(self) -> None:
        """Open the stream of events of this server, once."""
        if self._listens is None and self._client is not None:
            self._listens = asyncio.Event()
            self._later(self._read_events(self._client, self._listens))
        if self._listens is not None:
            try:
                async with asyncio.timeout(_SECONDS_TO_OPEN):
                    await self._listens.wait()
            except TimeoutError:
                raise Unreachable(f"opencode serve sent no events in {_SECONDS_TO_OPEN:.0f} s", _HINT) from None

    async def _read_events(self, client: "httpx2.AsyncClient", is_open: asyncio.Event) -> None:
        """The stream of events, to its end."""
        import httpx2

        stream = EventStream(self)
        text = "its stream of events ended"
        try:
            async with client.stream("GET", "/event") as response:
                is_open.set()
                if response.status_code != 200:
                    text = f"its stream of events cannot be read: status {response.status_code}"
                    return
                async for chunk in response.aiter_bytes():
                    events = stream.feed(chunk)
                    if self._run is not None:
                        await self._run.put(events)
        except httpx2.HTTPError as problem:
            text = f"its stream of events broke: {problem}"
        finally:
            is_open.set()
            await self._broke(clean_line(f"opencode serve: {text}"))

    async def _broke(self, text: str) -> None:
        self._requests.clear()
        self._session = ""
        if self._run is not None:
            hint = "send it again: the conversation is resumed"
            await self._run.fail(ev.Error(text, hint))
        if self._process is not None and self._process.exit_code is None:
            self._later(self._process.end())

    async def _find_session(self, resume: str) -> str:
        if not resume:
            made = await self._request("POST", "/session", {})
        else:
            made = await self._request("GET", f"/session/{resume}")
        ident = made.get("id") if isinstance(made, dict) else None
        if not isinstance(ident, str):
            raise Unreachable("opencode serve has no such session", _HINT)
        return ident

    async def _interrupt(self) -> None:
        self._stopping = True
        try:
            await self._request("POST", f"/session/{self._session}/abort", {})
        except Unreachable:
            await self._end()
            return
        if self._run is not None and not self._run.over:
            # Its last events come with the answer, on another connection.
            await asyncio.sleep(_SECONDS_AFTER_STOP if self._busy else 0)
            await self._run.put([ev.RunEnded(stop_reason="cancelled")])

    async def _end(self) -> None:
        if self._process is not None and self._process.exit_code is None:
            await self._process.end()

    async def _reply(self, path: str, body: dict[str, object]) -> None:
        try:
            await self._request("POST", path, body)
        except Unreachable as problem:
            if self._run is not None:
                await self._run.put([ev.Error(problem.message, problem.hint)])

    async def _request(self, method: str, path: str, body: dict[str, object] | None = None) -> object:
        import httpx2

        if self._client is None:
            raise Unreachable("opencode serve is not running", _HINT)
        try:
            response = await self._client.request(method, path, json=body, timeout=_SECONDS_TO_OPEN)
        except httpx2.HTTPError as problem:
            raise Unreachable(clean_line(f"opencode serve cannot be reached: {problem}"), _HINT) from None
        if response.status_code >= 400:
            raise Unreachable(clean_line(f"opencode serve refused {path}: status {response.status_code}"), _HINT)
        try:
            return msgspec.json.decode(response.content) if response.content else None
        except ValueError:
            return None

    def _later(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def parse_events(self, line: bytes) -> list[Event]:
        """One line of the stream; those that are no data are skipped."""
        if not line.startswith(b"data:"):
            return []
        event = read_line(line, _decoder, len(b"data:"))
        if isinstance(event, ev.Unknown):
            return [event]
        session = event.properties.get("sessionID")
        talk = self._talks.get(session) if isinstance(session, str) else None
        return [] if talk is None else of_agent(talk.agent, self._of_talk(talk, event.type, event.properties))

    def _of_talk(self, talk: Talk, kind: str, fields: dict[str, object]) -> list[Event]:
        part, info = fields.get("part"), fields.get("info")
        match kind:
            case "message.updated" if isinstance(info, dict):
                talk.on_message(info)
            case "message.part.delta" if fields.get("field") == "text":
                return talk.on_delta(str(fields.get("partID")), str(fields.get("delta")))
            case "message.part.updated" if isinstance(part, dict):
                events = talk.on_part(part)
                self._know_child(talk, part)
                used = None if talk.agent else used_in(events)
                context = [ev.ContextState(used).as_state()] if used else []
                return [*events, *context]
            case "permission.asked":
                return self._open_request(permission(fields, self._call(talk, fields), self._ask.cwd))
            case "question.asked":
                return self._open_request(question(fields, self._call(talk, fields)))
            case "permission.replied" | "question.replied" | "question.rejected":
                ident = clean_line(str(fields.get("requestID")))
                self._requests.pop(ident, None)
                return [ev.RequestResolved(ident)]
            case _ if not talk.agent:
                return self._of_run(kind, fields)
        return []

    def _of_run(self, kind: str, fields: dict[str, object]) -> list[Event]:
        """The events about the session that was prompted."""
        status = fields.get("status")
        match kind:
            case "session.error":
                self._failure = fields.get("error")
            case "session.status" if isinstance(status, dict) and status.get("type") == "busy":
                self._busy = True
            case "session.status" if isinstance(status, dict) and status.get("type") == "retry":
                reason = clean_text(str(status.get("message", "")))
                again = ev.RetryState.of({"reason": reason, "attempt": status.get("attempt")}) or ev.RetryState(reason)
                return [again.as_state()]
            case "session.idle" if (self._busy or self._failure is not None) and not self._stopping:
                failed = [] if self._failure is None else [error_event(self._failure)]
                self._busy, self._failure = False, None
                return [*failed, ev.RunEnded(is_error=bool(failed))]
        return []

    def _open_request(self, translated: tuple[ev.Request, Answer] | None) -> list[Event]:
        if translated is None:
            return []
        request, to_post = translated
        if self._ask.approval == "full" and request.what == "approval":
            self._later(self._reply(*to_post(ONCE)))
            return []
        self._requests[request.id] = OpenRequest(request, lambda answer: self._later(self._reply(*to_post(answer))))
        return [request]

    def _call(self, talk: Talk, fields: dict[str, object]) -> str:
        tool = fields.get("tool")
        return talk.call_of(str(tool.get("callID"))) if isinstance(tool, dict) else ""

    def _know_child(self, talk: Talk, part: dict[str, object]) -> None:
        """A `task` call names the session of the subagent it started."""
        state = part.get("state")
        metadata = state.get("metadata") if isinstance(state, dict) else None
        child = metadata.get("sessionId") if isinstance(metadata, dict) else None
        if isinstance(child, str) and child not in self._talks and part.get("tool") == "task":
            path = talk.agent_of(str(part.get("id")))
            if path:
                self._talks[child] = Talk(path, self._data)


def _prompt(ask: ProviderPrompt) -> dict[str, object]:
    text = ask.prompt.encode("utf-8", "replace").decode()
    body: dict[str, object] = {"parts": [{"type": "text", "text": text}]}
    provider, _, model = ask.model.partition("/")
    if model:
        body["model"] = {"providerID": provider, "modelID": model}
    if ask.approval in _AGENTS:
        body["agent"] = _AGENTS[ask.approval]
    return body


_PACKAGE = "@opencode-ai/plugin"
_READ_AT_MOST = 16 * 1024 * 1024
_KINDS = ("dependencies", "devDependencies", "peerDependencies", "optionalDependencies")


def loads_offline(cwd: str, environ: Mapping[str, str]) -> bool:
    """Whether OpenCode can load a project without a request to a package registry.

    Loading one takes it seconds, so it is better done before the first prompt. But OpenCode then installs a package of
    its own into each folder that it reads settings from, unless the lock file there lists it. Nothing is to leave the
    machine before the user has sent something: so a project is loaded early only where nothing is missing.
    """
    home = environ.get("HOME") or os.path.expanduser("~")
    settings = os.path.join(environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config"), "opencode")
    # Its own folder is made when it is missing, the others are left out.
    return _is_complete(settings) and all(map(_is_complete, _other_folders(cwd or os.getcwd(), home, environ)))


def _other_folders(cwd: str, home: str, environ: Mapping[str, str]) -> Iterator[str]:
    above = [Path(cwd), *Path(cwd).parents, Path(home)]
    named = [Path(environ["OPENCODE_CONFIG_DIR"])] if environ.get("OPENCODE_CONFIG_DIR") else []
    for folder in [*(one / ".opencode" for one in above), *named]:
        if folder.is_dir():
            yield str(folder)


def _is_complete(folder: str) -> bool:
    if not os.path.isdir(os.path.join(folder, "node_modules")):
        return False
    needed = {_PACKAGE, *_names(_read_json(folder, "package.json"))}
    packages = _read_json(folder, "package-lock.json").get("packages")
    root = packages.get("") if isinstance(packages, dict) else None
    return needed <= set(_names(root if isinstance(root, dict) else {}))


def _names(package: Mapping[str, object]) -> Iterator[str]:
    for kind in _KINDS:
        listed = package.get(kind)
        yield from listed if isinstance(listed, dict) else ()


def _read_json(folder: str, name: str) -> dict[str, object]:
    try:
        return msgspec.json.decode(read_at_most(os.path.join(folder, name), _READ_AT_MOST), type=dict[str, object])
    except (OSError, ValueError, RecursionError):
        return {}
