"""The network of commands in the sandbox, for real: what rules and a person allow, and nothing else."""

import asyncio
import contextlib
import socket
import subprocess
import threading
import zipfile
from collections.abc import AsyncIterator, Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from sightline.events import Notice, Request, RequestResolved, ToolConnection, ToolResult
from sightline.exec import sandbox_status
from sightline.exec.gateway import gateway_problem
from tests.agent.support import Lab, lab
from tests.tools.bash.support import Ran, bash
from tests.tools.web.server import Server, lookups

BOXED = {"permissions.sandbox": "true"}
HERE = "127.0.0.2"  # of this machine, and not among those that a program connects to without a proxy

pytestmark = [
    pytest.mark.needs("bubblewrap", "curl"),
    pytest.mark.skipif(
        sandbox_status().kind == "bubblewrap" and bool(gateway_problem()), reason="no network by host on this machine"
    ),
]


@contextlib.asynccontextmanager
async def serving() -> AsyncIterator[Server]:
    server = Server()
    listening = await asyncio.start_server(server.accept, HERE, 0)
    server.port = listening.sockets[0].getsockname()[1]
    server.page("/", "hello")
    try:
        yield server
    finally:
        listening.close()
        for task in server.tasks:
            task.cancel()


def turns(*commands: str, **more: Any) -> list[Any]:
    return [[bash(command, **more)] for command in commands] + [[{"text": "ok"}]] * 2


def told(here: Lab) -> list[tuple[str, str, str]]:
    """Of each connection that is over: where to, what became of it, by which rule."""
    return [(f"{e.host}:{e.port}", e.verdict, e.rule) for e in here.of(ToolConnection) if e.duration is not None]


async def test_a_host_that_a_rule_allows_is_reached(tmp_path: Path) -> None:
    """By each way a program may ask a proxy, and every connection is an event of its call, before its end."""
    async with serving() as server:
        url, rule = f"http://{HERE}:{server.port}/", f"network({HERE}:{server.port})"
        ways = ["", "-p", "--socks5-hostname ${HTTP_PROXY#http://}", "--socks4a ${HTTP_PROXY#http://}"]
        command = "; ".join(f"curl -sS --noproxy nothing {way} {url}; echo" for way in ways)
        async with lab(tmp_path, turns(command), settings=BOXED, allow=[rule]) as here:
            await here.run()
            done = Ran(here)
    assert done.text == "hello\nhello\nhello\nhello"
    assert told(here) == [(f"{HERE}:{server.port}", "allowed", rule)] * 4
    for event in here.of(ToolConnection):
        assert event.id == done.result.id
        assert event.seq < done.result.seq
    last = here.of(ToolConnection)[-1]
    assert last.sent > 0
    assert last.received > len("hello")
    assert f"{HERE}:{server.port}" in server.heads[0]


async def test_a_host_nobody_allowed_is_refused_with_nobody_there(tmp_path: Path, monkeypatch: Any) -> None:
    """At once, before its name is looked up; the model hears which host, the person which rule, and the run goes on."""
    names = lookups(monkeypatch, [HERE])
    command = "curl -sS https://secret.example.test/ || curl -fsS http://secret.example.test/"
    async with lab(tmp_path, turns(command), settings=BOXED) as here:
        assert (await here.run()).exit_code == 0
        done = Ran(here)
    assert names == []
    assert done.result.exit_code != 0
    assert [verdict for _, verdict, _ in told(here)] == ["refused", "refused"]
    assert (
        "connections were refused: secret.example.test:443 (no rule allows it, and there is no user to ask)"
        in done.text
    )
    hints = [event.hint for event in here.of(Notice)]
    assert "to allow it: --allow 'network(secret.example.test:443)'" in hints
    assert not here.of(Request)


async def test_a_denied_host_is_refused_whatever_allows_it(tmp_path: Path, monkeypatch: Any) -> None:
    """By its name, and by the address that a name leads to."""
    lookups(monkeypatch, [HERE])
    async with serving() as server:
        port = server.port
        command = f"curl -sS http://denied.test:{port}/; curl -sS http://other.test:{port}/"
        deny = ["network(denied.test)", f"network({HERE})"]
        async with lab(tmp_path, turns(command), settings=BOXED, allow=["network"], deny=deny) as here:
            await here.run()
    assert told(here) == [(f"denied.test:{port}", "refused", deny[0]), (f"other.test:{port}", "refused", deny[1])]
    assert server.asked == []


@pytest.mark.parametrize("allow", [["network"], ["network(*)"], ["network(inside.test)"]])
async def test_a_rule_about_a_name_opens_no_private_network(tmp_path: Path, monkeypatch: Any, allow: list[str]) -> None:
    """Whoever owns a name says where it leads: this machine, a private network, a cloud's metadata."""
    lookups(monkeypatch, ["169.254.169.254"], ["93.184.216.34", "10.0.0.1"], ["::ffff:127.0.0.1"], [HERE])
    command = "for n in 1 2 3 4; do curl -sS -m 20 http://inside.test/; done"
    async with lab(tmp_path, turns(command), settings=BOXED, allow=allow) as here:
        await here.run()
        done = Ran(here)
    assert [verdict for _, verdict, _ in told(here)] == ["refused"] * 4
    assert done.text.count("an address of this machine or of a private network") == 4


@pytest.mark.parametrize(
    "written",
    ["127.0.0.1", "127.1", "0x7f000001", "[::1]", "[::ffff:127.0.0.1]", "10.0.0.1", "169.254.169.254", "0.0.0.0"],
)
async def test_a_private_address_is_refused_without_a_question(tmp_path: Path, written: str) -> None:
    """In every spelling, a person there or not; the rule that would allow it is named."""
    command = f"curl -sS --noproxy nothing http://{written}:9/"
    async with lab(tmp_path, turns(command), settings=BOXED, allow=["network(*)"], attended=True) as here:
        await here.run()
        done = Ran(here)
    assert [verdict for _, verdict, _ in told(here)] == ["refused"]
    assert "private network" in done.text
    assert not here.of(Request)


async def test_a_name_is_looked_up_once(tmp_path: Path, monkeypatch: Any) -> None:
    """The address that was judged is the one that is connected to."""
    names = lookups(monkeypatch, [HERE], ["10.0.0.1"])
    async with serving() as server:
        allow = ["network(name.test)", f"network({HERE})"]
        command = f"curl -sS http://name.test:{server.port}/"
        async with lab(tmp_path, turns(command), settings=BOXED, allow=allow) as here:
            await here.run()
    assert names == ["name.test"]
    assert server.asked == ["/"]
    assert f"host: name.test:{server.port}" in server.heads[0]


async def test_the_port_of_a_rule_counts(tmp_path: Path) -> None:
    """One port of a host is not another."""
    async with serving() as server, serving() as other:
        command = f"curl -sS http://{HERE}:{server.port}/; curl -sS http://{HERE}:{other.port}/"
        allow = [f"network({HERE}:{server.port})"]
        async with lab(tmp_path, turns(command), settings=BOXED, allow=allow) as here:
            await here.run()
    assert [verdict for _, verdict, _ in told(here)] == ["allowed", "refused"]
    assert other.asked == []


def script(server: Server, name: str, times: int = 3) -> str:
    """Several connections at once, then one more."""
    one = f"curl -sS http://{name}:{server.port}/"
    return " & ".join([one] * times) + f" & wait; {one}"


async def test_a_new_host_is_asked_about_once(tmp_path: Path, monkeypatch: Any) -> None:
    """Who asks sees the command and the host; a yes for once holds until the command ends, for what waits and comes."""
    lookups(monkeypatch, [HERE])
    async with serving() as server:
        command, name = script(server, "new.test"), f"new.test:{server.port}"
        made = turns(command, f"curl -sS http://{name}/")
        async with lab(tmp_path, made, settings=BOXED, allow=[f"network({HERE})"], attended=True) as here:
            await here.agent.prompt("go")
            request = await here.first(Request)
            await here.until(lambda: len({e.connection for e in here.of(ToolConnection)}) == 3)
            assert {e.verdict for e in here.of(ToolConnection)} == {"asked"}
            assert server.asked == []
            assert request.details["access"] == "network"
            assert request.details["what"] == name
            assert request.details["rule"] == f"network({name})"
            assert request.details["args"]["command"] == command
            assert here.agent.requests.answer(request.id, "once")
            await here.until(lambda: len(here.of(Request)) == 2)
            assert len(server.asked) == 4
            again = here.of(Request)[1]
            assert again.details["args"]["command"] == f"curl -sS http://{name}/"
            assert here.agent.requests.answer(again.id, {"choice": "no", "reason": "not twice"})
            await here.ended()
            result = here.of(ToolResult)[1]
    assert told(here)[:4] == [(name, "allowed", "allowed once")] * 4
    assert told(here)[4][1] == "refused"
    assert "not twice" in result.content


async def test_an_answer_can_be_remembered(tmp_path: Path, monkeypatch: Any) -> None:
    """For the session: the rule of the answer decides from then on."""
    lookups(monkeypatch, [HERE])
    async with serving() as server:
        one, rule = f"curl -sS http://new.test:{server.port}/", f"network(new.test:{server.port})"
        async with lab(tmp_path, turns(one, one), settings=BOXED, allow=[f"network({HERE})"], attended=True) as here:
            await here.agent.prompt("go")
            request = await here.first(Request)
            here.agent.requests.answer(request.id, {"choice": "this session", "rule": rule})
            await here.ended()
    assert told(here) == [(f"new.test:{server.port}", "allowed", rule)] * 2
    assert len(here.of(Request)) == 1


async def test_a_no_is_said_once(tmp_path: Path) -> None:
    """Whoever hears of it knows which host it was."""
    async with lab(tmp_path, turns("curl -sS http://new.test/"), settings=BOXED, attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        here.agent.requests.answer(request.id, {"choice": "no", "reason": "not today"})
        await here.ended()
    assert Ran(here).text.endswith("new.test:80 is not allowed: the user refused it: not today")


async def test_a_question_ends_with_who_asked(tmp_path: Path) -> None:
    """A command that does not wait for the answer takes the question with it."""
    async with lab(tmp_path, turns("curl -sS -m 1 http://new.test/"), settings=BOXED, attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        resolved = await here.first(RequestResolved)
        assert (resolved.id, resolved.answer) == (request.id, None)
        await here.ended()
    assert [verdict for _, verdict, _ in told(here)] == ["refused"]


async def test_the_level_decides_too(tmp_path: Path, monkeypatch: Any) -> None:
    """Lowered to plan while a command runs, nothing is connected to any more, whatever rules allow."""
    async with serving() as server:
        command = f"until [ -e go ]; do sleep 0.01; done; curl -sS http://{HERE}:{server.port}/"
        made = turns(command, **{"async": True})
        async with lab(tmp_path, made, settings=BOXED, allow=[f"network({HERE})"], approval="auto") as here:
            await here.run()
            here.agent.permissions.approvals.set_level("plan")
            (tmp_path / "work" / "go").touch()
            await here.until(lambda: bool(told(here)))
            await here.ended()
    assert told(here) == [(f"{HERE}:{server.port}", "refused", "approval plan")]
    assert here.of(ToolConnection)[0].id == here.of(ToolResult)[0].details["job"]
    assert server.asked == []


async def test_nothing_but_the_proxy_is_reached(tmp_path: Path) -> None:
    """Not the machine's own ports, not a name server, not an abstract socket, not another interface."""
    with socket.create_server((HERE, 0)) as there, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0sightline-test-abstract")
        abstract.listen()
        port = there.getsockname()[1]
        command = (
            f"exec 2>/dev/null; echo > /dev/tcp/{HERE}/{port} && echo through; "
            "python3 -c 'import socket; s = socket.socket(socket.AF_UNIX); "
            's.connect("\\0sightline-test-abstract"); print("through")\'; '
            'python3 -c \'import socket; print("through", socket.getaddrinfo("example.org", 80))\'; '
            "python3 -c 'import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto("
            'b"x", ("192.0.2.1", 53)); print("through")\'; tail -n +3 /proc/net/dev | cut -d: -f1'
        )
        async with lab(tmp_path, turns(command), settings=BOXED, allow=["network"]) as here:
            await here.run()
            done = Ran(here)
    assert "through" not in done.text
    assert done.text.strip() == "lo"
    assert told(here) == []


async def test_commands_of_a_session_reach_each_other(tmp_path: Path) -> None:
    """A server that one runs in the background answers the next, and no other session's."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "page").write_text("from the job")
    port = 8123
    serve = f"exec python3 -m http.server {port} --bind 127.0.0.1"
    ask = f"for i in $(seq 200); do curl -fsS http://localhost:{port}/page 2>/dev/null && break; sleep 0.05; done"
    made = [[bash(serve, **{"async": True})], [bash(ask)], [{"text": "ok"}], [{"text": "ok"}]]
    async with lab(tmp_path, made, settings=BOXED) as here:
        await here.run()
        assert here.of(ToolResult)[-1].content == "from the job"
        assert told(here) == []
        other = tmp_path / "other"
        other.mkdir()
        async with lab(other, turns(f"curl -sS http://localhost:{port}/page"), settings=BOXED) as elsewhere:
            await elsewhere.run()
            assert "from the job" not in Ran(elsewhere).text


async def test_a_connection_ends_with_its_command(tmp_path: Path) -> None:
    """Its last event comes before the end of the call, and the server is left."""
    left = asyncio.Event()

    async def hold(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        left.set()
        writer.close()

    listening = await asyncio.start_server(hold, HERE, 0)
    port = listening.sockets[0].getsockname()[1]
    command = f"curl -sS -p http://{HERE}:{port}/ --max-time 60"
    made = turns(command, timeout=2)
    async with lab(tmp_path, made, settings=BOXED, allow=[f"network({HERE})"]) as here:
        await here.run()
        await asyncio.wait_for(left.wait(), 10)
    listening.close()
    result = here.of(ToolResult)[0]
    assert result.exit_code == 124
    assert [event.seq < result.seq for event in here.of(ToolConnection)] == [True, True]
    assert here.of(ToolConnection)[-1].duration is not None


async def test_many_connections_are_counted(tmp_path: Path) -> None:
    """The first ones each, of a flood the rest as numbers: none is lost from the count."""
    command = (
        "exec 2>/dev/null; a=${HTTP_PROXY#http://}; for i in $(seq 400); do exec 3<>/dev/tcp/${a%:*}/${a#*:}; "
        "printf 'CONNECT h%s.test:1 HTTP/1.1\\r\\n\\r\\n' $i >&3; read -r line <&3; exec 3<&-; done"
    )
    async with lab(tmp_path, turns(command), settings=BOXED, deny=["network"]) as here:
        await here.run()
        events = here.of(ToolConnection)
        assert len(events) < 150
        assert len(events) + sum(event.more for event in events) == 400


async def test_a_client_that_says_anything_is_answered_or_left(tmp_path: Path) -> None:
    """Bytes that are no request come to nothing, and the next one is served."""
    async with serving() as server:
        hostile = [
            r"printf 'GET / HTTP/1.1\r\n\r\n'",
            r"printf '\x05\x01\x00\x05\x03\x00\x01\x00\x00\x00\x00\x00\x50' ",
            r"printf '\x04\x02\x00\x50\x01\x02\x03\x04\x00'",
            "head -c 100000 /dev/urandom",
            r"head -c 100000 /dev/zero | tr '\0' A",
        ]
        send = "bash -c 'a=${HTTP_PROXY#http://}; exec 3<>/dev/tcp/${a%:*}/${a#*:}; cat >&3; timeout 5 cat <&3'"
        command = "".join(f"{one} | {send} > /dev/null 2>&1; " for one in hostile)
        command += f"curl -sS http://{HERE}:{server.port}/"
        async with lab(tmp_path, turns(command), settings=BOXED, allow=[f"network({HERE})"]) as here:
            await here.run()
            done = Ran(here)
    assert done.text.endswith("hello")
    assert server.asked == ["/"]


@pytest.fixture
def files(tmp_path: Path) -> Iterator[tuple[Path, int]]:
    """A folder, and the port it is served at."""
    folder = tmp_path / "served"
    folder.mkdir()

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *args: Any) -> None: ...

    with ThreadingHTTPServer((HERE, 0), partial(Quiet, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield folder, server.server_address[1]
        server.shutdown()


async def test_git_clones_through_it(tmp_path: Path, files: tuple[Path, int]) -> None:
    """Without a word about proxies."""
    folder, port = files
    source = tmp_path / "source"
    run = partial(subprocess.run, check=True, capture_output=True)
    run(["git", "init", "-q", str(source)])
    (source / "file").write_text("cloned\n")
    run(["git", "-C", str(source), "add", "."])
    run(["git", "-C", str(source), "-c", "user.name=a", "-c", "user.email=a@b.c", "commit", "-qm", "one"])
    run(["git", "clone", "-q", "--bare", str(source), str(folder / "repo.git")])
    run(["git", "-C", str(folder / "repo.git"), "update-server-info"])
    command = f"git clone -q http://{HERE}:{port}/repo.git && cat repo/file"
    async with lab(tmp_path, turns(command), settings=BOXED, allow=[f"network({HERE}:{port})"]) as here:
        await here.run()
        assert Ran(here).text == "cloned"
    assert {verdict for _, verdict, _ in told(here)} == {"allowed"}


async def test_pip_downloads_through_it(tmp_path: Path, files: tuple[Path, int]) -> None:
    """From an index that a rule names; refused, it says so in the words the model reads."""
    folder, port = files
    name = "thing-1.0-py3-none-any.whl"
    (folder / "thing").mkdir()
    with zipfile.ZipFile(folder / "thing" / name, "w") as wheel:
        wheel.writestr("thing.py", "x = 1\n")
        wheel.writestr("thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: thing\nVersion: 1.0\n")
        wheel.writestr("thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr("thing-1.0.dist-info/RECORD", "")
    (folder / "thing" / "index.html").write_text(f'<a href="{name}">{name}</a>')
    index = f"--isolated --no-cache-dir --retries 0 --trusted-host {HERE} -i http://{HERE}:{port}/"
    command = f"python3 -m pip download -q --no-deps {index} -d got thing && ls got"
    async with lab(tmp_path, turns(command), settings=BOXED, allow=[f"network({HERE}:{port})"]) as here:
        await here.run()
        assert Ran(here).text.endswith(name)
    (tmp_path / "other").mkdir()
    async with lab(tmp_path / "other", turns(command), settings=BOXED) as here:
        await here.run()
        assert f"refused: {HERE}:{port}" in Ran(here).text


@pytest.mark.needs("node")
async def test_node_is_told_to_use_it(tmp_path: Path) -> None:
    """By the variable its newer versions look at."""
    async with lab(tmp_path, turns("node -p process.env.NODE_USE_ENV_PROXY"), settings=BOXED) as here:
        await here.run()
        assert Ran(here).text == "1"


async def test_where_there_is_no_namespace_there_is_no_network(tmp_path: Path, monkeypatch: Any) -> None:
    """As before, with the reason said once; never all of it."""
    from sightline.exec.gateway import NoNamespace, _gateway

    def none() -> Any:
        raise NoNamespace("not on this machine")

    monkeypatch.setattr(_gateway, "_opened", none)
    with socket.create_server((HERE, 0)) as there:
        command = f"echo > /dev/tcp/{HERE}/{there.getsockname()[1]} && echo through"
        async with lab(tmp_path, turns(command, command), settings=BOXED, allow=["network"]) as here:
            await here.run()
            assert "through" not in here.of(ToolResult)[0].content
            assert "there is no network" in here.of(ToolResult)[0].content
    assert sum("not on this machine" in event.text for event in here.of(Notice)) == 1


async def test_the_whole_network_has_no_proxy(tmp_path: Path) -> None:
    """`permissions.sandbox_network` means what it meant."""
    settings = {**BOXED, "permissions.sandbox_network": "true"}
    async with serving() as server:
        command = f"curl -sS --noproxy '*' http://{HERE}:{server.port}/; echo $NODE_USE_ENV_PROXY"
        async with lab(tmp_path, turns(command), settings=settings) as here:
            await here.run()
            assert Ran(here).text == "hello"
    assert told(here) == []


async def test_a_command_has_its_grace(tmp_path: Path) -> None:
    """Asked to end, it hears the signal itself, and what it says then is heard."""
    command = "trap 'echo bye; exit 0' TERM; echo begun; while :; do sleep 0.05; done"
    async with lab(tmp_path, turns(command, timeout=1), settings=BOXED) as here:
        await here.run()
        assert Ran(here).text.startswith("begun\n")
        assert "bye\n[timed out" in Ran(here).text  # before that, bash may say that its own child was ended


class OwnProxy:
    """The person's own: answers every CONNECT with a page, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.status = "200 OK"
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            self.asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(f"HTTP/1.1 {self.status}\r\n\r\n".encode())
            if self.status.startswith("200"):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nfar")
            await writer.drain()
        writer.close()


@contextlib.asynccontextmanager
async def own_proxy(
    monkeypatch: pytest.MonkeyPatch, url: str = "http://me:pw@127.0.0.1:{0}"
) -> AsyncIterator[OwnProxy]:
    proxy = OwnProxy()
    listening = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
    proxy.port = listening.sockets[0].getsockname()[1]
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name.upper(), raising=False)
        monkeypatch.setenv(name, "" if name == "no_proxy" else url.format(proxy.port))
    try:
        yield proxy
    finally:
        listening.close()


async def test_a_proxy_of_the_person_is_gone_through(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """For hosts that are allowed, with its own credentials, which no command and no event has; not for private ones."""
    lookups(monkeypatch, [])
    async with own_proxy(monkeypatch) as proxy, serving() as server:
        command = f"env | grep -c me:pw; curl -sS http://far.test/; curl -sS http://{HERE}:{server.port}/; curl -sS http://no.test"
        allow = ["network(far.test)", f"network({HERE})"]
        async with lab(tmp_path, turns(command), settings=BOXED, allow=allow) as here:
            await here.run()
            done = Ran(here)
    assert done.text.startswith("0\nfarhellosightline: no.test:80 is not allowed")
    (head,) = proxy.asked
    assert head.startswith("CONNECT far.test:80 HTTP/1.1\r\n")
    assert "proxy-authorization: Basic bWU6cHc=" in head
    assert server.asked == ["/"]
    assert "pw" not in repr(here.of(ToolConnection))


async def test_a_proxy_that_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What it said is what the command and the event say."""
    lookups(monkeypatch, [])
    async with own_proxy(monkeypatch) as proxy:
        proxy.status = "407 Sign in"
        async with lab(tmp_path, turns("curl -sS http://far.test/"), settings=BOXED, allow=["network"]) as here:
            await here.run()
            done = Ran(here)
    assert "the proxy set in the environment refused far.test:80: 407 Sign in" in done.text
    assert "407 Sign in" in here.of(ToolConnection)[-1].reason


async def test_a_proxy_of_another_kind_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Clearly, in place of going around it."""
    lookups(monkeypatch, ["93.184.216.34"])
    async with own_proxy(monkeypatch, "socks5://127.0.0.1:{0}") as proxy:
        async with lab(tmp_path, turns("curl -sS http://far.test/"), settings=BOXED, allow=["network"]) as here:
            await here.run()
            assert "write it as http://HOST:PORT" in Ran(here).text
        assert proxy.asked == []
