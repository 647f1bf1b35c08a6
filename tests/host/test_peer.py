"""Who may connect to a host: views of its user, and nothing that runs in a sandbox or that a command started."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.events import Notice
from sightline.exec import CommandSpec, SandboxSpec, SandboxStatus
from sightline.exec.sandbox import _landlock, _sandbox
from sightline.host import HostRefused, connect, listen, running
from sightline.host.socket._peer import why_refused
from sightline.host.socket._runtime import socket_path
from sightline.host.socket._server import SocketServer
from sightline.journal import Store
from sightline.paths import data_folder
from tests.host.support import DEADLINE, a_session, until

# Says what a host answers first, in a file: what has left its command has no other way to tell.
CLIENT = """
import socket, sys
connection = socket.socket(socket.AF_UNIX)
connection.connect(sys.argv[1])
line = connection.makefile("rb").readline()
with open(sys.argv[2] + ".new", "wb") as file:
    file.write(line)
import os
os.rename(sys.argv[2] + ".new", sys.argv[2])
"""
# Leaves parent, session, environment and limit behind before it connects.
RUNAWAY = f"""
import os, resource, sys
if os.fork():
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
while os.getppid() == os.getsid(0):
    pass
resource.setrlimit({10}, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
os.execve(sys.executable, [sys.executable, "-c", {CLIENT!r}, *sys.argv[1:]], {{}})
"""


@pytest.fixture
async def served(tmp_path):
    async with a_session(Store(data_folder())) as (session, _):
        server = SocketServer(session, listen(session.id), cwd="/", started=1.0)
        await server.open()
        yield session
        await session.stop()
        await server.close()


async def asked(argv: list[str], answer: Path) -> dict:
    """What the host says to a process that the test, not the host, starts."""
    process = await asyncio.create_subprocess_exec(*argv)
    async with asyncio.timeout(DEADLINE):
        await process.wait()
    return said(answer)


def said(answer: Path) -> dict:
    return json.loads(answer.read_text())


def client(session, answer: Path, code: str = CLIENT) -> list[str]:
    return [sys.executable, "-c", code, str(socket_path(session.id)), str(answer)]


async def noticed(session) -> str:
    """What its host says of who connects."""
    async with asyncio.timeout(DEADLINE):
        async for frame in session.subscribe(0):
            for event in frame:
                if isinstance(event, Notice) and event.source == "host":
                    return event.text
    raise AssertionError("the session ended")


async def test_a_view_in_another_terminal_may_connect(served, tmp_path):
    """Whatever session of the system's it is in."""
    assert (await asked(client(served, tmp_path / "a"), tmp_path / "a"))["kind"] == "hello"
    assert (await asked(["sh", "-c", 'setsid -w "$@"; :', "sh", *client(served, tmp_path / "b")], tmp_path / "b"))[
        "kind"
    ] == "hello"


@pytest.mark.needs("bubblewrap")
@pytest.mark.parametrize("namespace", ["--unshare-pid", "--unshare-net", "--unshare-ipc"])
async def test_a_process_in_another_namespace_is_refused(served, tmp_path, namespace):
    """Though it can reach the socket: each bubblewrap has at least mounts of its own."""
    argv = ["bwrap", "--dev-bind", "/", "/", namespace, "--", *client(served, tmp_path / "a")]
    answer = await asked(argv, tmp_path / "a")
    assert (answer["kind"], "in a sandbox" in answer["error"]) == ("refused", True)


async def test_a_process_that_gave_up_privileges_is_refused(served, tmp_path):
    """The sandbox by Landlock has no other trace that can be seen from outside."""
    argv = ["setpriv", "--no-new-privs", *client(served, tmp_path / "a")]
    assert "in a sandbox" in (await asked(argv, tmp_path / "a"))["error"]


async def test_a_host_that_gave_them_up_itself_serves_its_like(tmp_path):
    """A container may be started so: views in it are not refused for what the host has, too."""
    code = (
        "import asyncio, sys\n"
        "from pathlib import Path\n"
        "import tests.host.test_peer as it\n"
        "async def main():\n"
        "    async with it.a_session(it.Store(it.data_folder())) as (session, _):\n"
        "        server = it.SocketServer(session, it.listen(session.id), cwd='/', started=1.0)\n"
        "        await server.open()\n"
        "        answer = Path(sys.argv[1])\n"
        "        print((await it.asked(it.client(session, answer), answer))['kind'])\n"
        "asyncio.run(main())\n"
    )
    argv = ["setpriv", "--no-new-privs", sys.executable, "-c", code, str(tmp_path / "a")]
    done = await asyncio.to_thread(subprocess.run, argv, capture_output=True, text=True, timeout=DEADLINE)
    assert done.stdout == "hello\n", done.stderr


@pytest.mark.skipif(not _landlock.abi(), reason="the kernel has no Landlock")
async def test_a_command_under_landlock_is_refused(served, tmp_path, monkeypatch):
    """The one the sandbox itself starts. The session says so."""
    monkeypatch.setattr(_sandbox, "_decided", SandboxStatus(kind="landlock"))
    answer = tmp_path / "workspace" / "a"
    answer.parent.mkdir()
    served.start(CommandSpec(argv=tuple(client(served, answer)), sandbox=SandboxSpec(workspace=str(answer.parent))))
    await until(answer.exists)
    assert "in a sandbox" in said(answer)["error"]
    assert await noticed(served) == "a process in a sandbox tried to connect to this session and was refused"


@pytest.mark.parametrize("code", [CLIENT, RUNAWAY])
async def test_a_command_outside_the_sandbox_is_refused_too(served, tmp_path, code):
    """Also what has left everything behind by which it is otherwise recognised: it is still below its host."""
    served.start(CommandSpec(argv=tuple(client(served, tmp_path / "a", code))))
    await until((tmp_path / "a").exists)
    answer = said(tmp_path / "a")
    assert answer["kind"] == "refused"
    assert "command started" in answer["error"]
    assert "terminal" in answer["hint"]


@pytest.mark.parametrize("mark", ["environment", "limit"])
async def test_a_command_of_another_host_is_refused(served, tmp_path, mark):
    """Known by either of its marks, or its parent's."""
    number = (1 << 56) + 7
    if mark == "environment":
        argv = ["env", f"SIGHTLINE_RUN={number:x}", "sh", "-c", 'env -i "$@"; :', "sh", *client(served, tmp_path / "a")]
    else:
        limit = f"import os, resource, sys; resource.setrlimit(10, ({number}, resource.RLIM_INFINITY))\n"
        argv = [sys.executable, "-c", limit + "os.execv(sys.argv[1], sys.argv[1:])", *client(served, tmp_path / "a")]
    assert "command started" in (await asked(argv, tmp_path / "a"))["error"]


def test_a_process_that_has_ended_is_refused(tmp_path):
    """What it was can no longer be looked at, and its id may be another's."""
    ours, connection = socket.socketpair()
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "s"))
        listener.listen()
        code = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"
        subprocess.run([sys.executable, "-c", code, str(tmp_path / "s")], check=True)
        accepted, _ = listener.accept()
        with accepted:
            assert why_refused(accepted) == "unknown"
    ours.close()
    connection.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
def test_another_user_is_refused(tmp_path):
    """Also one who could open the socket."""
    with socket.socket(socket.AF_UNIX) as listener:
        path = f"\0sightline-test-{os.getpid()}"
        listener.bind(path)
        listener.listen()
        if not (child := os.fork()):
            os.setresuid(65534, 65534, 65534)
            with socket.socket(socket.AF_UNIX) as connection:
                connection.connect(path)
                connection.recv(1)
            os._exit(0)
        accepted, _ = listener.accept()
        with accepted:
            assert why_refused(accepted) == "user"
        os.waitpid(child, 0)


async def test_a_refusal_is_an_error_with_a_hint_on_the_other_side(served, monkeypatch):
    """For who connects; a list of hosts goes without this one."""
    monkeypatch.setattr("sightline.host.socket._server.why_refused", lambda connection: "sandbox")
    with pytest.raises(HostRefused, match="does not serve a process in a sandbox") as caught:
        await connect(served.id)
    assert caught.value.hint
    assert await running(Store(data_folder())) == []
    with pytest.raises(HostRefused):
        await connect(served.id)
    assert served.seq == 1, "one notice a minute is enough"
