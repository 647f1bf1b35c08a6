"""Requests to the page's server: each is answered with what HTTP has for it, and the server goes on without a word."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from random import Random

from sightline.testing.fuzz._mutation import joined, mutated, text_of
from sightline.testing.fuzz._target import hold

_SECONDS_TO_ANSWER = 30.0
_TOKEN = b"@TOKEN@"
_PATHS = [
    "/", "/?token=x", "/static/app.js", "/static/..%2f_api.py", "/static/%00", "/api/sessions",
    "/api/sessions?limit=9999999999999999",
    "/api/sessions/r1", "/api/sessions/zzzzzz", "/api/sessions/@JOB@", "/api/sessions/zzzzzz/events?after=-1",
    "/api/page?session=r1&after=5",
    "/api/jobs", "/api/jobs?before=zzz&limit=0", "/api/jobs/zzzzzz-1", "/api/jobs/r1-0/rows?first=0&count=5",
    "/api/jobs/r1-0/rows?first=-1",
    "/api/jobs/r1-0/find?text=a&first=0&limit=5", "/api/jobs/r1-99999999/text", "/api/jobs/r1-0/artifact",
    "/api/jobs/r1-0/text",
    "/api/openapi.json", "/api/nothing", "//", "/api//sessions", "/api/sessions/%1b%5d0;x%07", "*",
    "http://evil.example/", "/" + "x" * 5000,
]  # fmt: skip
_TALK = ["prompt", "abort", "unqueue", "requests/request-1"]
_BODIES = [
    b"", b"{}", b"null", b"[]", b'{"text":"x"}', b'{"text":1}', b'{"answer":{"choice":"once"}}', b'{"force":true}',
    b"{", b'{"a":' * 50_000,
    b"[" * 100_000, b'{"answer":' + b"[" * 40 + b"]" * 40 + b"}", b'"\xff"', b'{"text":"\\ud800"}', b"\0", b"1e999",
    b"x" * 100_000,
]  # fmt: skip
_HEADERS = [
    "Host: 127.0.0.1", "Host: 127.0.0.1", "Host: localhost:1", "Host: evil.example", "Host:",
    "Origin: http://127.0.0.1", "Origin: null",
    "Authorization: Bearer @TOKEN@", "Authorization: Bearer @TOKEN@", "Authorization: Bearer",
    "Authorization: Basic eDp5", "Cookie: a=b",
    "Range: bytes=0-1", "Range: bytes=99999999999-", "Range: bytes=-0", "Range: x", "If-Range: x", "If-None-Match: *",
    "Last-Event-ID: 99",
    "Connection: close", "Connection: upgrade", "Upgrade: websocket", "Upgrade: h2c", "Expect: 100-continue",
    "Transfer-Encoding: chunked",
    "Transfer-Encoding: gzip", "Content-Length: 3", "Content-Length: -1", "Content-Length: 5\r\nContent-Length: 6",
    "X: \x1b]0;x\x07",
    "X: " + "y" * 9000, " folded", "no colon", ":", "Content-Type: application/json", "\x00: x",
]  # fmt: skip
_METHODS = (
    ["GET"] * 6
    + ["POST"] * 4
    + ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE", "CONNECT", "PRI", "get", "\x1b[31m", "G" * 300]
)
_VERSIONS = ["HTTP/1.1"] * 8 + ["HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "HTTP/1.1 x", "", "ICY"]
_GOOD = (
    b"GET /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer "
    + _TOKEN
    + b"\r\nConnection: close\r\n\r\n"
)
_ALLOWED = (b"2", b"3", b"4")


class Http:
    """Against the real program. No input can run a command: the paths that start one are asked with what is none."""

    name = "http"

    def open(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="sightline-fuzz-"))
        recording = self._folder / "recording.jsonl"
        recording.write_text(_RECORDING)
        self._errors = self._folder / "stderr"
        environment = {**os.environ, "SIGHTLINE_HOME": str(self._folder / "home")}
        with self._errors.open("wb") as errors:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "sightline", "serve", str(recording)],
                env=environment,
                stdout=subprocess.PIPE,
                stderr=errors,
            )
        assert self._server.stdout is not None
        base, _, token = self._server.stdout.readline().decode().strip().partition("/#token=")
        self._port, self._token = int(base.rpartition(":")[2]), token.encode()

    def close(self) -> None:
        self._server.terminate()
        self._server.wait()
        shutil.rmtree(self._folder)

    def make(self, random: Random) -> bytes:
        requests = [_request(random) for _ in range(random.choice((1, 1, 1, 2, 3)))]
        data = b"".join(requests)
        if random.random() < 0.4:
            data = mutated(random, data, requests)
        return data

    def check(self, given: bytes) -> None:
        self._send(given.replace(_TOKEN, self._token), is_good=False)
        status = self._send(_GOOD.replace(_TOKEN, self._token), is_good=True)
        hold(status == b"200", f"a good request is answered with {status!r}")
        hold(self._server.poll() is None, "the server has ended")
        said = self._errors.read_bytes()
        hold(said == b"", f"the terminal was told: {said[:500]!r}")

    def _send(self, data: bytes, *, is_good: bool) -> bytes:
        """The status of the last answer; one that is not HTTP's for a client's mistake is a failure."""
        with socket.create_connection(("127.0.0.1", self._port), _SECONDS_TO_ANSWER) as connection:
            try:
                connection.sendall(data)
                if not is_good:
                    connection.shutdown(socket.SHUT_WR)
                answer = _until_enough(connection, everything=is_good)
            except TimeoutError:
                raise
            except OSError:  # it was closed while we spoke
                return b""
        status = answer[9:12] if answer.startswith(b"HTTP/1.1 ") else b""
        hold(not answer or status[:1] in _ALLOWED, f"answered with {answer[:60]!r}")
        return status


def _until_enough(connection: socket.socket, *, everything: bool) -> bytes:
    """The head of what is answered; a stream of events has no end to wait for."""
    answer = b""
    while part := connection.recv(65536):
        answer = (answer + part).removeprefix(b"HTTP/1.1 100 Continue\r\n\r\n")
        if not everything and b"\r\n\r\n" in answer:
            break
    return answer


def _request(random: Random) -> bytes:
    method, version = random.choice(_METHODS), random.choice(_VERSIONS)
    path = random.choice(_PATHS)
    body = b""
    headers = random.choices(_HEADERS, k=random.randint(0, 4))
    if random.random() < 0.7:
        headers = ["Host: 127.0.0.1", "Authorization: Bearer @TOKEN@", *headers[:2]]
    if method == "POST":
        path = random.choice(
            [
                f"/api/sessions/zzzzzz/{random.choice(_TALK)}",
                "/api/jobs/r1-0/cancel",
                "/api/jobs/r1-0/download",
                "/api/sessions",
            ]
        )
        body = random.choice(_BODIES)
        headers.append(f"Content-Length: {len(body)}")
    if random.random() < 0.2:
        path += joined(
            random,
            ["?", "&", "=", "%", "%00", "%ff", "/", "..", ";", "#", "first", "after", "9" * 30, text_of(random, 5)],
        )
    head = "\r\n".join([f"{method} {path} {version}", *headers, "", ""])
    return head.encode("utf-8", "replace") + body


_RECORDING = (
    '{"type":"system","subtype":"init","session_id":"s","cwd":"/","model":"m","tools":[]}\n'
    '{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash",'
    '"input":{"command":"seq 3"}}]},"session_id":"s"}\n'
    '{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"1\\n2\\n3"}]},'
    '"session_id":"s"}\n'
    '{"type":"result","subtype":"success","is_error":false,"result":"done","session_id":"s"}\n'
)
