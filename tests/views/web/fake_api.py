"""A stand-in for `sightline serve`: the real page, and its HTTP API told by a test what to answer.

A job here does nothing by itself: `write` makes it print, `end` makes it end. So a test decides every row and moment.
"""

import asyncio
import contextlib
import re
import socket
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import msgspec
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

import sightline.views
from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS

STATIC = Path(sightline.views.__file__).parent / "web" / "static"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src 'self'; "
    "manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'"
)
_SGR = re.compile(r"\x1b\[([\d;]*)m")
_FLAGS = {1: "o", 2: "d", 3: "i", 4: "u", 7: "v", 9: "s"}

Row = Any


class FakeJob:
    """One command: what it printed, as rows, and how it stands."""

    def __init__(self, id: str, command: str) -> None:
        self.id = id
        self.command = command
        self.state = "running"
        self.exit_code: int | None = None
        self.began = time.monotonic()
        self.elapsed: float | None = None
        self.counted = 0  # rows before `rows` that are just their number, made when asked for
        self.rows: list[Row] = []
        self.size = 0
        self.said = ""
        self._style: dict[str, Any] = {}
        self._open = False

    @property
    def total(self) -> int:
        return self.counted + len(self.rows)

    def row(self, number: int) -> Row:
        return [[str(number + 1)]] if number < self.counted else self.rows[number - self.counted]

    def window(self, first: int, count: int) -> list[Row]:
        return [self.row(number) for number in range(first, min(first + count, self.total))]

    def text_rows(self) -> Iterator[str]:
        for number in range(self.total):
            row = self.row(number)
            yield "".join(run[0] for run in row) if isinstance(row, list) else ""

    def write(self, text: str, stream: str) -> None:
        """Enough of a terminal for the tests: newline, carriage return (which begins the row anew) and SGR."""
        self.size += len(text.encode())
        for piece in re.findall(r"\n|\r|\x1b\[[\d;]*m|[^\n\r\x1b]+", text):
            if piece == "\n":
                if not self._open:
                    self.rows.append([])
                self._open = False
            elif piece == "\r":
                if self._open:
                    self.rows[-1] = []
            elif piece.startswith("\x1b"):
                self._restyle([int(code or 0) for code in _SGR.fullmatch(piece)[1].split(";")])  # type: ignore[index]
            else:
                self._print(piece, stream)

    def _print(self, text: str, stream: str) -> None:
        if not self._open:
            self.rows.append([])
            self._open = True
        style = {**self._style, **({"e": 1} if stream == "stderr" else {})}
        self.rows[-1] = [*self.rows[-1], [text, style] if style else [text]]

    def _restyle(self, codes: list[int]) -> None:
        while codes:
            code = codes.pop(0)
            if code == 0:
                self._style = {}
            elif code in _FLAGS:
                self._style = {**self._style, _FLAGS[code]: 1}
            elif code in (38, 48) and codes[:1] == [5]:
                self._style = {**self._style, "fb"[code == 48]: codes[1]}
                del codes[:2]
            elif code in (38, 48) and codes[:1] == [2]:
                self._style = {**self._style, "fb"[code == 48]: "#{:02x}{:02x}{:02x}".format(*codes[1:4])}
                del codes[:4]
            else:
                self._style = {**self._style, **_named(code)}

    def summary(self) -> dict[str, Any]:
        elapsed = time.monotonic() - self.began if self.elapsed is None else self.elapsed
        return {
            "id": self.id, "session": self.id.split("-")[0], "command": self.command, "cwd": "/home/ada/app",
            "state": self.state, "exit_code": self.exit_code, "started": 1_790_000_000, "elapsed": elapsed,
            "bytes": self.size, "pty": False,
        }  # fmt: skip

    def entry(self, position: int) -> dict[str, Any]:
        return {
            **self.summary(), "n": position, "kind": "call", "agent": "", "name": "Bash", "arg": self.command[:40],
            "running": self.state == "running", "total": self.total, "binary": False, "said": self.said,
            "own": True, "kept": self.size, "note": "",
        }  # fmt: skip


def _named(code: int) -> dict[str, Any]:
    for base, key, bright in ((30, "f", 0), (40, "b", 0), (90, "f", 8), (100, "b", 8)):
        if base <= code <= base + 7:
            return {key: code - base + bright}
    return {}


class FakeServer:
    """The page's server. Everything happens on the loop of the test."""

    def __init__(self) -> None:
        self.sessions: dict[str, dict[str, Any]] = {}
        self.entries: dict[str, list[Any]] = {}
        self.jobs: dict[str, FakeJob] = {}
        self.signed_in = True
        self.requests: list[str] = []
        self.cancels: list[str] = []
        self.facts: dict[str, Any] = {}
        self.texts: dict[str, list[str]] = {}  # what a search finds in a session, in parts; else its title
        self.posts: list[tuple[str, Any]] = []  # what was said to an agent: where, and the body
        self.refusal = ""  # why it is not taken
        self.no_model = ""
        self.to_review: dict[str, Any] = {"uncommitted": 0}
        self.live_rows = 200
        self.rows_an_answer = 500
        self._tabs: dict[asyncio.Queue[bytes | None], str | None] = {}
        self._seq = 0
        self._port = 0
        self._server: _Quiet | None = None
        self._serving: asyncio.Task[None] | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/"

    # What a test says happens

    def session(
        self, id: str, *, kind: str = "session", title: str = "", cwd: str = "/home/ada/app", **more: Any
    ) -> str:
        self.sessions[id] = {
            "id": id, "kind": kind, "title": title, "cwd": cwd, "state": "running",
            "started": 1_790_000_000 + len(self.sessions) * 60, **more,
        }  # fmt: skip
        self.entries[id] = []
        self._tell_list()
        return id

    async def start(self, command: str, session: str = "abcdef") -> str:
        if session not in self.sessions:
            self.session(session)
        known = sum(isinstance(entry, FakeJob) for entry in self.entries[session])
        job = FakeJob(f"{session}-{known + 1}", command)
        self.jobs[job.id] = job
        self.entries[session].append(job)
        self._tell_entry(session, len(self.entries[session]) - 1)
        self._tell_list()
        return job.id

    async def write(self, id: str, text: str, stream: str = "stdout") -> None:
        job = self.jobs[id]
        job.write(text, stream)
        self._tell_rows(job)

    async def lines(self, count: int, session: str = "abcdef") -> str:
        """A job that has printed the numbers from 1 to `count`, one a row."""
        id = await self.start(f"seq 1 {count}", session)
        self.jobs[id].counted = count
        self.jobs[id].size = count * 7
        self._tell_rows(self.jobs[id])
        return id

    async def end(self, id: str, code: int = 0, state: str = "", said: str = "") -> None:
        job = self.jobs[id]
        job.elapsed = time.monotonic() - job.began
        job.state = state or ("ok" if code == 0 else "failed")
        job.exit_code = code
        job.said = said
        session = id.split("-")[0]
        self._tell_entry(session, self.entries[session].index(job))
        self._tell_list()

    async def say(self, session: str, **entry: Any) -> None:
        self.entries[session].append({"agent": "", **entry})
        self._tell_entry(session, len(self.entries[session]) - 1)

    async def know(self, session: str, **facts: Any) -> None:
        """What is known of a session as a whole: replaces what was."""
        known = {"live": True, "lost": None, "talks": True, "running": False, "requests": [], "agents": []}
        self.facts[session] = {**known, "levels": LEVELS, "level_choices": ["plan", "edit", "auto"], **facts}
        self._send("facts", self.facts[session], session)

    async def stand(self, session: str, **standing: Any) -> None:
        """How the agent of a session stands, as the list has it."""
        self.sessions[session].update(standing)
        self._tell_list()

    async def status(self, id: str, text: str) -> None:
        self._send("status", {"id": id, "text": text}, id.split("-")[0])

    async def up(self) -> None:
        listening = socket.socket()
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(("127.0.0.1", self._port))
        self._port = listening.getsockname()[1]
        self._server = _Quiet(uvicorn.Config(self._app(), log_level="critical", lifespan="off"))
        self._serving = asyncio.create_task(self._server.serve(sockets=[listening]))
        await self._server.listening.wait()

    async def down(self) -> None:
        assert self._server is not None
        assert self._serving is not None
        for tab in self._tabs:
            tab.put_nowait(None)
        self._server.should_exit = True
        self._server.force_exit = True
        await self._serving

    # What tabs are told

    def _tell_list(self) -> None:
        self._send("list", self._list(), None)

    def _tell_entry(self, session: str, position: int) -> None:
        self._seq += 1
        self._send("entries", {"reset": False, "entries": [self._entry(session, position)]}, session)

    def _tell_rows(self, job: FakeJob) -> None:
        self._seq += 1
        self._send("rows", self._rows(job), job.id.split("-")[0])

    def _send(self, kind: str, body: Any, session: str | None) -> None:
        for tab, watched in self._tabs.items():
            if session in (None, watched):
                tab.put_nowait(self._frame(kind, body))

    def _frame(self, kind: str, body: Any) -> bytes:
        return b"id: %d\nevent: %s\ndata: %s\n\n" % (self._seq, kind.encode(), msgspec.json.encode(body))

    def _list(self) -> Any:
        newest = sorted(self.sessions.values(), key=lambda session: -session["started"])
        return {"sessions": [{**session, "jobs": self._jobs_of(session["id"])} for session in newest]}

    def _jobs_of(self, session: str) -> list[Any]:
        return [entry.summary() for entry in self.entries[session] if isinstance(entry, FakeJob)]

    def _entry(self, session: str, position: int) -> Any:
        entry = self.entries[session][position]
        return entry.entry(position) if isinstance(entry, FakeJob) else {**entry, "n": position}

    def _rows(self, job: FakeJob) -> Any:
        first = max(0, job.total - self.live_rows)
        return {"id": job.id, "total": job.total, "first": first, "rows": job.window(first, self.live_rows)}

    # HTTP

    def _app(self) -> Any:
        routes = [
            Route("/", lambda request: Response((STATIC / "index.html").read_bytes(), media_type="text/html")),
            Mount("/static", StaticFiles(directory=STATIC)),
            Route("/api/sessions", self._get_sessions),
            Route("/api/sessions", self._post_job, methods=["POST"]),
            Route("/api/search", self._search),
            Route("/api/agents", self._choices),
            Route("/api/agents", self._start_agent, methods=["POST"]),
            Route("/api/sessions/{id}/jobs", self._post_job, methods=["POST"]),
            Route("/api/sessions/{id}/review", self._review_choices, methods=["GET"]),
            Route("/api/sessions/{id}/{what:path}", self._talk, methods=["POST"]),
            Route("/api/page", self._page),
            Route("/api/jobs/{id}/rows", self._get_rows),
            Route("/api/jobs/{id}/find", self._find),
            Route("/api/jobs/{id}/text", self._text),
            Route("/api/jobs/{id}/artifact", self._artifact),
            Route("/api/jobs/{id}/download", self._download, methods=["POST"]),
            Route("/api/jobs/{id}/cancel", self._cancel, methods=["POST"]),
        ]
        inner = Starlette(routes=routes)

        async def app(scope: Any, receive: Any, send: Any) -> None:
            self.requests.append(scope["path"])
            if not self.signed_in and scope["path"].startswith("/api"):
                await PlainTextResponse("unauthorised", 401)(scope, receive, send)
                return
            await inner(scope, receive, _with_policy(send))

        return app

    async def _get_sessions(self, request: Request) -> Response:
        return JSONResponse(self._list())

    async def _search(self, request: Request) -> Response:
        words = request.query_params["text"].lower().split()
        talks = [one for one in self._list()["sessions"] if one.get("agent")]
        parts = {one["id"]: self.texts.get(one["id"], [one["title"]]) for one in talks}
        found = [one for one in talks if all(word in "".join(parts[one["id"]]).lower() for word in words)]
        return JSONResponse({"hits": [{"session": one, "snippet": parts[one["id"]]} for one in found]})

    async def _post_job(self, request: Request) -> Response:
        command = (await request.json())["command"]
        if command == "refuse":
            return JSONResponse({"error": "no such folder", "hint": "give another cwd"}, 400)
        session = request.path_params.get("id") or f"new{len(self.sessions):03d}"
        return JSONResponse({"job": await self.start(command, session), "session": session}, 201)

    async def _choices(self, request: Request) -> Response:
        folder = request.query_params["cwd"] or "/home/ada/app"
        if folder == "/nowhere":
            return JSONResponse({"error": "no folder /nowhere", "hint": "name one that exists"}, 400)
        theirs = {name: LEVELS_OF_OTHERS[name] for name in ("plan", "auto")}
        claude = {"name": "claude", "title": "Claude Code", "levels": theirs}
        ours = {name: LEVELS[name] for name in ("plan", "edit", "auto")}
        folders = [folder, "/home/ada/site"]
        choices = {"cwd": folder, "folders": folders, "agents": [claude], "models": ["local/m1"], "level": "auto"}
        return JSONResponse({**choices, "levels": ours, "no_model": self.no_model})

    async def _start_agent(self, request: Request) -> Response:
        if self.refusal:
            return JSONResponse({"error": self.refusal, "hint": "try again"}, 409)
        asked = await request.json()
        self.posts.append(("agents", asked))
        session = self.session(f"agent{len(self.sessions)}", title="", cwd=asked["cwd"], agent=True)
        await self.know(session)
        return JSONResponse({"session": session}, 201)

    async def _review_choices(self, request: Request) -> Response:
        if self.refusal:
            return JSONResponse({"error": self.refusal, "hint": "try again"}, 409)
        return JSONResponse(self.to_review)

    async def _talk(self, request: Request) -> Response:
        if self.refusal:
            return JSONResponse({"error": self.refusal, "hint": "try again"}, 409)
        id, what, asked = request.path_params["id"], request.path_params["what"], await request.json()
        self.posts.append((what, asked))
        self._change_list(id, what, asked)
        return JSONResponse({"id": "", "data": {"queued": []}}, 202)

    def _change_list(self, id: str, what: str, asked: Any) -> None:
        changes = {"rename": {"title": asked.get("title")}, "archive": asked, "stop": {"state": "ended"}}
        if what == "delete":
            del self.sessions[id]
        elif what in changes:
            self.sessions[id].update(changes[what])
        self._tell_list()

    async def _page(self, request: Request) -> Response:
        session = request.query_params.get("session")
        if session and not session.isalnum():
            return JSONResponse({"error": f"no session {session}"}, 404)
        tab: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._tabs[tab] = session
        return StreamingResponse(self._told(tab, session), media_type="text/event-stream")

    async def _told(self, tab: asyncio.Queue[bytes | None], session: str | None) -> AsyncIterator[bytes]:
        try:
            yield self._frame("list", self._list())
            if session in self.facts:
                yield self._frame("facts", self.facts[session])
            if session in self.entries:
                entries = [self._entry(session, position) for position in range(len(self.entries[session]))]
                yield self._frame("entries", {"reset": True, "entries": entries})
                for job in self.entries[session]:
                    if isinstance(job, FakeJob) and job.state == "running" and job.total:
                        yield self._frame("rows", self._rows(job))
            elif session:
                yield self._frame("gone", {})
            while (frame := await tab.get()) is not None:
                yield frame
        finally:
            del self._tabs[tab]

    async def _get_rows(self, request: Request) -> Response:
        job = self.jobs[request.path_params["id"]]
        first, count = int(request.query_params["first"]), int(request.query_params["count"])
        if count > 500:
            return JSONResponse({"error": "count is at most 500"}, 400)
        rows = job.window(first, min(count, self.rows_an_answer))
        return JSONResponse({"total": job.total, "first": first, "rows": rows})

    async def _find(self, request: Request) -> Response:
        job, query = self.jobs[request.path_params["id"]], request.query_params
        wanted, first, limit = query["text"].lower(), int(query["first"]), int(query["limit"])
        hits = [n for n, text in enumerate(job.text_rows()) if n >= first and wanted in text.lower()]
        more = len(hits) > limit
        return JSONResponse({"rows": hits[:limit], "more": more, "next": hits[limit] if more else job.total})

    async def _text(self, request: Request) -> Response:
        return PlainTextResponse("".join(f"{row}\n" for row in self.jobs[request.path_params["id"]].text_rows()))

    async def _artifact(self, request: Request) -> Response:
        body = "\n".join(self.jobs[request.path_params["id"]].text_rows()).encode()
        return Response(body, headers={"Content-Disposition": 'attachment; filename="output.log"'})

    async def _download(self, request: Request) -> Response:
        return JSONResponse({"url": f"/api/jobs/{request.path_params['id']}/artifact?ticket=once"}, 201)

    async def _cancel(self, request: Request) -> Response:
        id = request.path_params["id"]
        self.cancels.append(id)
        await self.end(id, 130, "cancelled", "cancelled; output stored")
        return Response(status_code=202)


class _Quiet(uvicorn.Server):
    """Leaves the signals to pytest, and says when it listens."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.listening = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.listening.set()

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def _with_policy(send: Any) -> Any:
    async def policed(message: Any) -> None:
        if message["type"] == "http.response.start":
            message["headers"] = [*message["headers"], (b"content-security-policy", POLICY.encode())]
        await send(message)

    return policed
