"""What a connection may take of time and room: slow, silent, greedy and broken clients, and those of other users."""

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx2
import pytest

from sightline.views.web import _connection
from sightline.views.web._peer import may_connect, owner_of
from tests.views.web.conftest import DEADLINE, serving, wait_for

# Short times, so that a test need not wait; the program itself is the real one.
_HURRIED = """
import sys
from sightline.views.web import _connection
_connection._SECONDS_FOR_A_HEAD = _connection._SECONDS_FOR_A_BODY = 0.5
_connection._SECONDS_UNREAD = 0.5
from sightline.views.web import serve
sys.exit(serve(0, []))
"""


@pytest.fixture(scope="module")
def hurried(tmp_path_factory):
    """A server whose times are half a second; what it wrote to stderr is in `errors`."""
    home = tmp_path_factory.mktemp("hurried")
    errors = home / "stderr"
    with serving(home, program=["-c", _HURRIED], errors=errors) as server:
        server.errors = errors
        yield server


@pytest.fixture
def watched(tmp_path):
    """A server of its own, whose stderr is in `errors`."""
    errors = tmp_path / "stderr"
    with serving(tmp_path / "home", errors=errors) as server:
        server.errors = errors
        yield server


def connect(server):
    connection = socket.create_connection(("127.0.0.1", int(server.base.rpartition(":")[2])), DEADLINE)
    connection.settimeout(DEADLINE)
    return connection


def is_closed(connection):
    """Whether the server ended it, whatever it sent before."""
    try:
        while connection.recv(65536):
            pass
    except ConnectionResetError:
        pass
    return True


def head(server, path="/api/sessions", method="GET", *more):
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1", f"Authorization: Bearer {server.token}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def drip(connection, data):
    """Send a byte at a time until the other side has enough; how many it took."""
    connection.settimeout(0)
    for sent, byte in enumerate(data):
        try:
            connection.send(bytes([byte]))
            if connection.recv(1) == b"":
                return sent
        except BlockingIOError:
            pass
        except OSError:
            return sent
        time.sleep(0.02)
    return len(data)


def test_a_connection_that_says_nothing_is_closed(hurried):
    """Nobody holds one open for nothing."""
    with connect(hurried) as connection:
        assert is_closed(connection)


def test_a_head_that_comes_byte_by_byte_is_not_waited_for(hurried):
    """The time is that of the whole head: a byte now and then does not make it longer."""
    data = head(hurried, "/api/sessions", "GET", "X-Long: " + "x" * 10_000)
    with connect(hurried) as connection:
        assert drip(connection, data) < 1000


def test_the_head_of_a_second_request_has_the_same_time(hurried):
    """A connection that was used once is no better."""
    with connect(hurried) as connection:
        connection.sendall(head(hurried))
        assert connection.recv(65536).startswith(b"HTTP/1.1 200")
        assert drip(connection, head(hurried, "/", "GET", "X-Long: " + "x" * 10_000)) < 1000


@pytest.mark.parametrize("signed_in", [True, False])
def test_a_body_that_comes_byte_by_byte_is_not_waited_for(hurried, signed_in):
    """Neither where it is read nor where it was refused already."""
    data = head(hurried, "/api/sessions", "POST", "Content-Length: 100000")
    data = data if signed_in else data.replace(hurried.token.encode(), b"wrong")
    with connect(hurried) as connection:
        connection.sendall(data)
        assert drip(connection, b"{" * 10_000) < 1000


def test_a_reader_that_takes_nothing_is_dropped(hurried):
    """An event stream that is never read ends, and what watched for it goes."""
    job = hurried.start("sh", "-c", "while :; do printf '%01000d\\n' 1; done", timeout=60)
    with connect(hurried) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        connection.sendall(head(hurried, f"/api/sessions/{job.rpartition('-')[0]}/events"))
        port = int(hurried.base.rpartition(":")[2])
        here = connection.getsockname()
        wait_for(lambda: (port, here[1]) in established())
        wait_for(lambda: (port, here[1]) not in established())
    hurried.post(f"/api/jobs/{job}/cancel", {"force": True})


def established():
    """Pairs of ports (theirs, of the other end) that are connected, as the server's side sees it."""
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()[1:]]
    ports = [(int(row[1].rpartition(":")[2], 16), int(row[2].rpartition(":")[2], 16), row[3]) for row in rows]
    return {(local, other) for local, other, state in ports if state == "01"}


def test_a_head_that_is_too_long_is_refused(watched):
    """Long before it fills the memory; the connection is closed."""
    with connect(watched) as connection:
        try:
            connection.sendall(head(watched, "/", "GET", "X-Long: " + "x" * 1_000_000))
        except ConnectionError:
            return
        assert is_closed(connection)


def test_strangers_cannot_keep_a_person_out(watched):
    """Hundreds of connections without the token: a signed-in page stays, and a new one gets in."""
    signed_in = httpx2.Client(base_url=watched.base, headers=watched.headers, timeout=DEADLINE, verify=False)
    with signed_in.stream("GET", "/api/page") as page:
        parts = page.iter_raw()
        assert next(parts)
        strangers = [connect(watched) for _ in range(400)]
        try:
            assert httpx2.get(watched.base + "/api/sessions", headers=watched.headers, verify=False).status_code == 200
            assert watched.post("/api/sessions", {"argv": ["true"]}).status_code == 201
            assert b"event: list" in next(parts)
            held = sum(port == int(watched.base.rpartition(":")[2]) for port, _ in established())
            assert held <= _connection._MOST_STRANGERS + 16
        finally:
            for stranger in strangers:
                stranger.close()


def test_those_signed_in_are_counted_too(watched):
    """A program that opens one connection after the other is told, and does not use up the descriptors."""
    connections = [connect(watched) for _ in range(_connection._MOST_SIGNED_IN + 5)]
    answers = []
    for connection in connections:
        try:
            connection.sendall(head(watched))
            answers.append(connection.recv(65536)[9:12])
        except ConnectionError:
            answers.append(b"")
    assert b"200" in answers
    for connection in connections:
        connection.close()


def test_one_signed_in_connection_too_many_is_refused(watched):
    """503, and as soon as one is closed there is room again."""
    connections = []
    for _ in range(_connection._MOST_SIGNED_IN):
        connections.append(connect(watched))
        connections[-1].sendall(head(watched, "/api/page"))
        assert connections[-1].recv(65536)[9:12] == b"200"
    assert httpx2.get(watched.base + "/api/sessions", headers=watched.headers, verify=False).status_code == 503
    for connection in connections[:3]:
        connection.close()
    wait_for(
        lambda: httpx2.get(watched.base + "/api/sessions", headers=watched.headers, verify=False).status_code == 200
    )
    for connection in connections:
        connection.close()


GARBAGE = [
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(256)),
    b"GET / HTTP/9.9\r\n\r\n",
    b"\x1b]0;owned\x07 / HTTP/1.1\r\nHost: x\r\n\r\n",
    b"GET /\x1b[31m HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: \x1b[2J\r\n\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -1\r\n\r\n",
    b"HEAD /api/sessions HTTP/1.0\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\nno chunk\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n",
    b"GET /static/%1b%5d0;owned%07.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nnot a request\r\n\r\n",
    b"GET /api/page HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\n\r\n\x00\xff garbage behind it",
    b"POST /api/sessions HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 9\r\n\r\n{",
]


def test_bad_input_leaves_nothing_in_the_log(watched):
    """No traceback, and nothing of what was sent; the next request is answered as ever."""
    for data in GARBAGE:
        for cut in (len(data), len(data) // 2):
            with connect(watched) as connection:
                connection.sendall(data[:cut].replace(b"TOKEN", watched.token.encode()))
                connection.settimeout(0.05)
                try:
                    connection.recv(65536)
                except OSError:
                    pass
    assert watched.get("/api/sessions").status_code == 200
    assert watched.errors.read_text() == ""


DEEP = [
    "[" * 200_000,
    '{"answer": ' + "[" * 200_000 + "]" * 200_000 + "}",
    '{"answer": ' + '{"a":' * 100_000 + "1" + "}" * 100_000 + "}",
    '{"answer": ' + "[" * 500 + "]" * 500 + "}",
]


@pytest.mark.parametrize("number", range(len(DEEP)))
@pytest.mark.parametrize("path", ["/api/sessions", "/api/sessions/{session}/requests/request-1"])
def test_what_nests_too_deep_is_refused(watched, path, number):
    """400, and not a word on the terminal; a host is not even asked."""
    session = watched.run("true").rpartition("-")[0]
    answer = watched.client.post(path.format(session=session), content=DEEP[number])
    assert answer.status_code == 400
    assert "nested arrays and objects" in answer.json()["error"]
    assert watched.errors.read_text() == ""


def test_brackets_in_strings_do_not_nest(watched):
    """A prompt may be nothing but brackets."""
    session = watched.run("true").rpartition("-")[0]
    answer = watched.post(f"/api/sessions/{session}/prompt", {"text": '[[[["\\' * 1000})
    assert answer.status_code == 409  # the session is over: it was read


@pytest.mark.parametrize(
    "body",
    [
        {"argv": ["true", "x" * 900_000]},
        {"argv": ["true"], "cwd": "/proc/1/root/" + "x" * 200},
        {"command": "x" * 900_000},
        {"argv": ["\ud7ff" * 1000]},
    ],
)
def test_a_command_that_cannot_be_started_is_refused(watched, body):
    """Too long for the system: its reason, not a bug of ours."""
    answer = watched.post("/api/sessions", body)
    assert answer.status_code in (400, 409), answer.text
    assert watched.errors.read_text() == ""


def test_a_client_that_leaves_in_the_middle_leaves_nothing_in_the_log(watched):
    """Of an event stream, of a download, of a body."""
    job = watched.run("sh", "-c", "seq 1 2000000")
    session = job.rpartition("-")[0]
    for path in (f"/api/jobs/{job}/artifact", f"/api/jobs/{job}/text", f"/api/sessions/{session}/events", "/api/page"):
        for _ in range(5):
            with connect(watched) as connection:
                connection.sendall(head(watched, path))
                connection.recv(100)
    with connect(watched) as connection:
        connection.sendall(head(watched, "/api/sessions", "POST", "Content-Length: 1000") + b"{")
    assert watched.get("/api/sessions").status_code == 200
    assert watched.errors.read_text() == ""


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="needs another user, so root")
def test_a_connection_of_another_user_is_closed_before_it_is_read(watched):
    """Even with the right token; the terminal says so, once."""
    port = watched.base.rpartition(":")[2]
    code = (
        "import socket, sys\n"
        f"s = socket.create_connection(('127.0.0.1', {port}), 10)\n"
        f"s.sendall({head(watched)!r})\n"
        "try: print(s.recv(100))\n"
        "except ConnectionError: print(b'')\n"
    )
    other = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "/usr/bin/python3", "-c", code]
    for _ in range(2):
        assert subprocess.run(other, capture_output=True, text=True, timeout=DEADLINE).stdout.strip() == "b''"
    assert watched.get("/api/sessions").status_code == 200
    assert watched.errors.read_text() == (
        "note: a connection of another user of this machine (number 65534) was refused\n"
    )


@pytest.mark.skipif(sys.platform != "linux", reason="asks Linux")
def test_the_kernel_says_whose_a_connection_is():
    """The person's own, over IPv4 and mapped IPv6."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        here = listener.getsockname()
        for family, name in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::ffff:127.0.0.1")):
            with socket.socket(family) as client:
                client.connect((name, here[1]))
                accepted, peer = listener.accept()
                with accepted:
                    assert owner_of(peer, here) == os.geteuid()


def test_the_person_root_and_an_unknown_user_may_connect(monkeypatch):
    """An unknown one is for the token to decide; behind sudo the person has two numbers."""
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert [may_connect(uid) for uid in (1000, 0, None, 1001, 65534)] == [True, True, True, False, False]
    monkeypatch.setenv("SUDO_UID", "1001")
    assert not may_connect(1001)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    assert [may_connect(uid) for uid in (0, 1001, 1000)] == [True, True, False]


def test_an_unexpected_error_is_one_line_without_control_characters(capfd):
    """What a bug's message quotes of a request does not drive the terminal, and is said once."""
    from sightline.views.web._serve import _Notices

    notices = _Notices()
    for _ in range(3):
        notices.broken(ValueError("\x1b]0;owned\x07 bad\nvalue \u202e" + "x" * 1000))
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    assert said.startswith("error: unexpected ValueError:  bad value")
    assert not {"\x1b", "\x07", "\u202e"} & set(said)
    assert len(said) < 400


def test_the_openapi_document_knows_one_way_to_sign_in(served):
    """As a bearer."""
    document = served.get("/api/openapi.json").json()
    assert json.dumps(document["security"]) == '[{"bearer": []}]'
