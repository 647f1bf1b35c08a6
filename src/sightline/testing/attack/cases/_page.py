"""The page's server: a token that leaks, requests without it, clients that hold it up; and names in what is printed."""

import http.client
import json
import os
import re
import socket
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import msgspec

from sightline.testing.attack import Lab, attack
from sightline.testing.attack._corpus import Sandbox

_SECONDS = 20.0
_ANY: list[Sandbox] = ["bubblewrap"]  # nothing here runs a command: one sandbox is as good as the other
_STRANGER = 54321  # a user of this machine who is not the one who serves


class _Answer(msgspec.Struct, frozen=True):
    status: int
    cookie: str
    body: bytes


class _Served:
    """A server of the lab's user, and what it prints on its terminal."""

    def __init__(self, lab: Lab, *prefix: str) -> None:
        self.errors = lab.write(lab.folder / "stderr")
        words = [str(lab.sightline), "serve"]
        self.process = lab.spawn(["/bin/sh", "-c", f'{" ".join(prefix)} exec "$@" 2>{self.errors}', "sh", *words])
        assert self.process.stdout is not None
        url = self.process.stdout.readline().decode().strip()
        base, self.token = re.split(r"/[#?]token=", url)
        self.port = int(base.rpartition(":")[2])
        self.bearer = {"Authorization": f"Bearer {self.token}"}

    def ask(self, path: str, method: str = "GET", body: str | None = None, **headers: str) -> _Answer:
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=_SECONDS)) as connection:
            connection.request(method, path.replace("TOKEN", self.token), body, headers)
            with connection.getresponse() as answer:
                return _Answer(answer.status, answer.headers.get("set-cookie", ""), answer.read1(65536))

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), _SECONDS)

    def head(self, path: str, method: str = "GET", *more: str) -> bytes:
        lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {self.token}", *more, "", ""]
        return "\r\n".join(lines).encode()

    def is_up(self) -> bool:
        try:
            return self.ask("/api/sessions", **self.bearer).status == 200
        except OSError:
            return False


@attack(
    point=9, forms=["/", "/?token=TOKEN", "/static/app.js", "/api/sessions", "/api/page?token=TOKEN"], sandboxes=_ANY
)
def the_token_becomes_a_cookie_for_every_port(lab: Lab, form: str) -> str:
    """A browser sends a cookie of 127.0.0.1 to every port of it, whoever listens there."""
    served = _Served(lab)
    for headers in ({}, served.bearer):
        cookie = served.ask(form, **headers).cookie
        if cookie:
            return f"a cookie is set: {cookie[:40]}"
    return ""


_WITHOUT = [
    *("GET /api/sessions", "GET /api/page", "GET /api/jobs", "GET /api/openapi.json", "GET /api/sessions?token=TOKEN"),
    *("POST /api/sessions", "POST /api/sessions/aaaaaa/prompt", "POST /api/jobs/aaaaaa-1/cancel", "HEAD /api/sessions"),
    *(
        "GET /api/jobs/aaaaaa-1/artifact?ticket=",
        "GET /api/jobs/aaaaaa-1/artifact?ticket=TOKEN",
        "GET /static/../api/sessions",
    ),
    *(
        "GET /static/%2e%2e/api/sessions",
        "GET //api/sessions",
        "GET /?/api/sessions",
        "PUT /",
        "GET /api/sessions#TOKEN",
    ),
]


@attack(point=9, forms=_WITHOUT, sandboxes=_ANY)
def a_request_without_the_token_is_answered(lab: Lab, form: str) -> str:
    served = _Served(lab)
    method, _, path = form.partition(" ")
    tries: list[dict[str, str]] = [
        {},
        {"Cookie": f"token={served.token}; sightline={served.token}"},
        {"Authorization": "Bearer"},
    ]
    for headers in tries:
        answer = served.ask(path, method, "{}" if method == "POST" else None, **headers)
        if answer.status < 400 and not (path == "/?/api/sessions" and b"<title>" in answer.body):
            return f"{answer.status}: {answer.body[:60]!r}"
    return ""


_ELSEWHERE = ["Host: evil.example", "Host: 127.0.0.1.evil.example", "Host: 127.0.0.2", "Host: [::2]", "Host: 0.0.0.0"]
_ELSEWHERE += ["Origin: http://evil.example", "Origin: null", "Origin: http://127.0.0.1:1", "Origin: https://127.0.0.1"]


@attack(point=9, forms=_ELSEWHERE, sandboxes=_ANY)
def a_page_from_elsewhere_asks_with_the_token(lab: Lab, form: str) -> str:
    served = _Served(lab)
    name, _, value = form.partition(": ")
    status = served.ask("/api/sessions", **{**served.bearer, name: value}).status
    return "" if status == 403 else f"answered with {status}"


@attack(point=9, forms=["nothing", "half a head", "a byte now and then"], sandboxes=_ANY)
def a_silent_client_holds_its_connection(lab: Lab, form: str) -> str:
    """Slowloris: for longer than any browser needs to send a request."""
    served = _Served(lab)
    with served.connect() as connection:
        connection.sendall(b"" if form == "nothing" else b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n")
        connection.settimeout(1)
        deadline = time.monotonic() + _SECONDS
        while time.monotonic() < deadline:
            try:
                if form == "a byte now and then":
                    connection.send(b"x")
                if not connection.recv(1):
                    return ""
            except TimeoutError:
                continue
            except OSError:
                return ""
    return f"held for {_SECONDS:g} seconds"


@attack(
    point=9,
    forms=["", "GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n", "GET /static/app.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"],
    sandboxes=_ANY,
)
def strangers_use_up_the_connections(lab: Lab, form: str) -> str:
    """More than the server has descriptors for: a person's browser must still get in."""
    served = _Served(lab, "ulimit -n 200;")
    held = []
    try:
        for _ in range(400):
            held.append(served.connect())
            held[-1].sendall(form.encode())
        return "" if served.is_up() else "a signed-in request is not answered"
    except OSError as problem:
        return "" if served.is_up() else f"{problem}"
    finally:
        for connection in held:
            connection.close()


_DEEP = '{"answer":' + "[" * 100_000
_BAD = {
    "deep": ("POST", "/api/sessions", _DEEP.encode()),
    "deep in an answer": ("POST", "/api/sessions/aaaaaa/requests/r", b'{"answer":' + b"[" * 2000 + b"]" * 2000 + b"}"),
    "no text": ("POST", "/api/sessions", b'{"\xff\xfe":1}'),
    "too long for a command": ("POST", "/api/sessions", json.dumps({"argv": ["/bin/true", "x" * 500_000]}).encode()),
    "a folder that is a file": ("POST", "/api/sessions", b'{"argv":["/bin/true"],"cwd":"/etc/passwd/x"}'),
    "escapes": ("GET", "/static/%1b%5d0;x%07", b""),
}


@attack(point=9, forms=[*_BAD, "chunks", "half a body", "garbage behind a stream"], sandboxes=_ANY)
def bad_input_fills_the_terminal(lab: Lab, form: str) -> str:
    """A traceback, or anything of what was sent."""
    served = _Served(lab)
    with served.connect() as connection:
        if form in _BAD:
            method, path, body = _BAD[form]
            connection.sendall(served.head(path, method, f"Content-Length: {len(body)}") + body)
        elif form == "chunks":
            connection.sendall(served.head("/api/sessions", "POST", "Transfer-Encoding: chunked") + b"zz\r\n")
        elif form == "half a body":
            connection.sendall(served.head("/api/sessions", "POST", "Content-Length: 50") + b"{")
        else:
            connection.sendall(served.head("/api/page") + b"\x00\xff\x1b]0;x\x07\r\n\r\n")
        if form != "half a body":
            try:
                connection.recv(65536)
            except OSError:
                pass
    up = served.is_up()
    said = served.errors.read_text(errors="replace")
    return f"on the terminal: {said[:200]!r}" if said else "" if up else "the server is down"


@attack(point=9, forms=["GET / HTTP/1.1", "GET /api/sessions HTTP/1.1", "x"], users=["root", "user"], sandboxes=_ANY)
def another_user_is_answered(lab: Lab, form: str) -> str:
    """Even one who learned the token; where the kernel says whose a connection is."""
    if os.geteuid() != 0:
        return ""  # nobody else to be
    served = _Served(lab)
    request = f"{form}\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\n\r\n".encode()
    with _as_stranger(served.port, request) as answer:
        return f"answered: {answer[:60]!r}" if answer else ""


@contextmanager
def _as_stranger(port: int, request: bytes) -> Iterator[bytes]:
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(_STRANGER)
            os.setuid(_STRANGER)
            with socket.create_connection(("127.0.0.1", port), _SECONDS) as connection:
                connection.sendall(request)
                os.write(writer, connection.recv(1000))
        except OSError:
            pass
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as said:
        answer = said.read()
    os.waitpid(child, 0)
    yield answer


_NAMES = {
    "title": "\x1b]0;OWNED\x07",
    "screen": "\x1b[2J\x1bc\x9b2J\u202e",
    "line": "\nhint: FORGED",
}
_COMMANDS = [
    "flow check {}",
    "flow run {}",
    "view {}",
    "events {}",
    "serve {}",
    "-p x --model scripted:{}",
    "exec -- {}",
    "attach {}",
    "config set {} 1",
]
_drives = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|^hint: FORGED", re.MULTILINE).search


@attack(point=10, forms=[f"{kind}: {command}" for kind in _NAMES for command in _COMMANDS], sandboxes=_ANY)
def a_name_drives_the_terminal(lab: Lab, form: str) -> str:
    """The name of a file, or what is said to be one, in what a command prints about it."""
    kind, _, command = form.partition(": ")
    path = lab.write(f"a{_NAMES[kind]}b", "steps: 1\n")
    process = lab.start(*[word.replace("{}", str(path)) for word in command.split()])
    printed = b"".join(process.communicate(timeout=_SECONDS)).decode(errors="replace")
    found = _drives(printed)
    return "" if found is None else f"printed: {printed[max(found.start() - 20, 0) : found.end() + 20]!r}"


@attack(point=10, forms=list(_NAMES), sandboxes=_ANY)
def a_folder_drives_the_terminal(lab: Lab, form: str) -> str:
    """The name of the project, and the keys of its settings."""
    project = lab.make(f"a{_NAMES[form]}b")
    key = "".join(f"\\u{ord(character):04x}" for character in _NAMES[form])
    lab.write(project / ".sightline" / "config.toml", f'"{key}" = 1\n"x{key}" = "{key}"\n')
    for words in (["trust", str(project)], ["config"], ["doctor"], ["rules"], ["trust", "--list"], ["-p", "x"]):
        printed = b"".join(lab.start(*words, cwd=Path(project)).communicate(timeout=_SECONDS)).decode(errors="replace")
        if found := _drives(printed):
            return f"{words[0]} printed: {printed[max(found.start() - 20, 0) : found.end() + 20]!r}"
    return ""
