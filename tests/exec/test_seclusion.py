"""Services a command in bubblewrap could ask to act in its place: real ones, each first reached from outside."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from sightline.exec import SandboxSpec, sandboxed
from sightline.exec.sandbox import _seclusion

from .running import run_boxed, start_boxed, wait_for

pytestmark = pytest.mark.needs("bubblewrap")

CONNECT = (
    "import socket, sys; socket.socket(socket.AF_UNIX, int(sys.argv[2])).connect(sys.argv[1].replace('@', chr(0)))"
)
Stream = str(int(socket.SOCK_STREAM))
Client = tuple[list[str], Mapping[str, str]]


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that commands can see, as a home is."""
    folder = Path(tempfile.mkdtemp(prefix="sl-", dir=Path.home()))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["temporary", "home", "workspace"])
def place(request, home, workspace) -> Iterator[Path]:
    """Where a service listens: in /tmp, in a folder of the home, and in the workspace itself."""
    if request.param == "temporary":
        with tempfile.TemporaryDirectory(prefix="sl-") as folder:
            yield Path(folder)
    else:
        yield home if request.param == "home" else workspace


@pytest.fixture
def workspace() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="sl-w-") as folder:
        yield Path(folder)


def inside(argv: list[str], workspace: Path, env: Mapping[str, str], *, network: bool = False, cwd: str = "") -> int:
    spec = SandboxSpec(workspace=str(workspace), network=network)
    return run_boxed(argv, spec, cwd=cwd or workspace, environment={**os.environ, **env}).returncode


def assert_out_of_reach(client: Client, workspace: Path) -> None:
    argv, env = client
    reached = lambda: subprocess.run(argv, env={**os.environ, **env}, capture_output=True).returncode == 0  # noqa: E731
    wait_for(reached, "the service", 300)
    assert inside(argv, workspace, env) != 0
    assert reached(), "it must have been there all the time"


@contextlib.contextmanager
def serving(argv: list[str], env: Mapping[str, str] | None = None) -> Iterator[None]:
    process = subprocess.Popen(
        argv, env={**os.environ, **(env or {})}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def listening(address: str, kind: socket.SocketKind = socket.SOCK_STREAM) -> Iterator[None]:
    with socket.socket(socket.AF_UNIX, kind) as listener:
        listener.bind(address)
        if kind != socket.SOCK_DGRAM:
            listener.listen()
        yield


@pytest.mark.needs("tmux")
def test_tmux_is_out_of_reach(place, workspace):
    """Whoever reaches its server may type into every terminal in it."""
    with serving(["tmux", "-S", f"{place}/tmux", "-f", "/dev/null", "-D"]):
        assert_out_of_reach((["tmux", "-S", f"{place}/tmux", "set", "-g", "@x", "1"], {}), workspace)


@pytest.mark.needs("ssh-agent")
def test_ssh_agent_is_out_of_reach(place, workspace):
    """It signs for its caller. Listing its keys fails when there are none; locking it does not."""
    with serving(["ssh-agent", "-D", "-a", f"{place}/agent"]):
        code = (
            "import os, socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(os.environ['SSH_AUTH_SOCK']);"
            "s.sendall(bytes([0, 0, 0, 1, 11])); sys.exit(s.recv(5)[4] != 12)"
        )
        assert_out_of_reach(([sys.executable, "-c", code], {"SSH_AUTH_SOCK": f"{place}/agent"}), workspace)


@pytest.mark.needs("dbus")
@pytest.mark.parametrize("address", ["unix:path={0}/bus", "unix:abstract=/tmp/sl-{1}"])
def test_dbus_is_out_of_reach(place, workspace, address):
    """Through a session's bus programs are started."""
    address = address.format(place, os.getpid())
    argv = ["dbus-send", f"--bus={address}", "--print-reply", "--dest=org.freedesktop.DBus", "/"]
    argv += ["org.freedesktop.DBus.ListNames"]
    with serving(["dbus-daemon", "--session", "--nofork", f"--address={address}"]):
        assert_out_of_reach((argv, {}), workspace)


@pytest.mark.needs("x11")
def test_x11_is_out_of_reach(workspace):
    """By its socket in /tmp and by the abstract one. Who reaches it may read and type every key."""
    number = 200 + os.getpid() % 1000
    with serving(["Xvfb", f":{number}", "-nolisten", "tcp", "-screen", "0", "64x64x8"]):
        assert_out_of_reach((["xdpyinfo"], {"DISPLAY": f":{number}"}), workspace)
        for name in (f"/tmp/.X11-unix/X{number}", f"@/tmp/.X11-unix/X{number}"):
            assert_out_of_reach(([sys.executable, "-c", CONNECT, name, Stream], {}), workspace)


@pytest.mark.parametrize("name", ["docker.sock", "wayland-0", "agent.sock", "S.gpg-agent", "a b", "a\nb", "ä,b;c"])
@pytest.mark.parametrize("kind", [socket.SOCK_STREAM, socket.SOCK_DGRAM, socket.SOCK_SEQPACKET])
def test_any_socket_with_a_path_is_out_of_reach(place, workspace, name, kind):
    """Docker, a compositor, other agents: what listens does not matter, nor how its socket is called."""
    with listening(f"{place}/{name}", kind):
        assert_out_of_reach(([sys.executable, "-c", CONNECT, f"{place}/{name}", str(int(kind))], {}), workspace)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may make one there")
@pytest.mark.parametrize("folder", ["/run", "/var/run", "/var/tmp", "/tmp"])
def test_folders_where_services_meet_their_clients_look_empty(workspace, folder):
    """Also for a socket that is made after the command started."""
    if not os.path.isdir(folder):
        pytest.skip("not there")
    name = f"{folder}/sl-{os.getpid()}"
    ready, code = workspace / "ready", f"open('ready', 'w'); open('go').read(); {CONNECT}"
    os.mkfifo(workspace / "go")
    argv, spec = [sys.executable, "-c", code, name, Stream], SandboxSpec(workspace=str(workspace))
    process, box = start_boxed(argv, spec, cwd=workspace)
    try:
        wait_for(ready.exists, "the command", 300)
        with listening(name):
            (workspace / "go").write_text("")
            process.communicate()
            assert process.returncode != 0
        os.unlink(name)
    finally:
        process.kill()
        process.wait()
        box.cleanup()


def test_a_socket_that_was_renamed_is_out_of_reach(place, workspace):
    """The kernel goes on naming it as it was bound; ssh makes its control sockets so."""
    with listening(f"{place}/cm.Ab3"):
        os.link(f"{place}/cm.Ab3", f"{place}/cm")
        os.unlink(f"{place}/cm.Ab3")
        assert_out_of_reach(([sys.executable, "-c", CONNECT, f"{place}/cm", Stream], {}), workspace)


def test_a_covered_socket_cannot_be_uncovered(home, workspace):
    """Not moved away, linked to, nor reached by moving the folder it is in."""
    (workspace / "in").mkdir()
    with listening(str(workspace / "in" / "s")):
        connect = f"{sys.executable} -c '{CONNECT}' $1 {Stream}".replace("'@'", '"@"')
        tries = [
            "mv in/s t; set t",
            "ln in/s t; set t",
            "mv in on; set on/s",
            "rm -f in/s; set in/s",
            "cp -a in i; set i/s",
        ]
        for attempt in tries:
            script = attempt.replace("set ", "set -- ") + f"; {connect}"
            assert inside(["sh", "-c", script], workspace, {}) != 0, attempt
        (workspace / "on").rename(workspace / "in") if (workspace / "on").exists() else None
        assert subprocess.run([sys.executable, "-c", CONNECT, str(workspace / "in" / "s"), Stream]).returncode == 0


def test_sockets_of_a_commands_own_work(workspace):
    """In its folder, in its temporary folder, and abstract ones."""
    code = (
        "import os, socket\n"
        "for name in ('s', os.environ['TMPDIR'] + '/s', chr(0) + 'mine'):\n"
        "    a = socket.socket(socket.AF_UNIX); a.bind(name); a.listen()\n"
        "    b = socket.socket(socket.AF_UNIX); b.connect(name); a.accept()\n"
    )
    assert inside([sys.executable, "-c", code], workspace, {}) == 0


def test_what_is_needed_in_folders_that_look_empty_is_seen(tmp_path, monkeypatch):
    """The repository around the workspace, a home and programs in /tmp, and the folder a command starts in."""
    for name in ("repo/.git", "repo/part", "home", "tools/bin", "tools/lib", "elsewhere"):
        (tmp_path / name).mkdir(parents=True)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path}/tools/bin:{os.environ['PATH']}")
    (tmp_path / "link").symlink_to(tmp_path / "repo" / "part")
    found = _seclusion.seclusion(str(tmp_path / "elsewhere"), (str(tmp_path / "repo" / "part"),))
    expected = {str(tmp_path / name) for name in ("repo", "home", "tools", "elsewhere")}
    assert expected <= set(found.public)
    seen = ["-c", f"ls -d {tmp_path}/* && test -d {tmp_path}/repo/.git && ! test -w {tmp_path}/repo/.git"]
    assert inside(["sh", *seen], tmp_path / "repo" / "part", {}, cwd=str(tmp_path / "elsewhere")) == 0


def test_a_workspace_that_is_a_temporary_folder_is_seen_whole(monkeypatch):
    """Somebody works there."""
    found = _seclusion.seclusion("/tmp", ("/tmp",))
    assert "/tmp" not in found.private
    assert _seclusion.seclusion("/", ("/var",)).private == tuple(
        sorted({os.path.realpath(path) for path in ("/tmp", "/run")})
    )


def test_temporary_folders_cannot_be_written_to(workspace):
    """What a command leaves there would be gone with it; TMPDIR says where it may."""
    assert inside(["sh", "-c", "echo x > /tmp/x"], workspace, {}) != 0
    assert inside(["sh", "-c", 'echo x > "$TMPDIR/x" && echo x > here'], workspace, {}) == 0


def test_names_are_resolved_with_the_systems_file(workspace, monkeypatch, tmp_path):
    """Where it is a link into a folder that looks empty."""
    target = tmp_path / "resolv.conf"
    target.write_text("nameserver 127.0.0.1\n")
    link = workspace / "link"
    link.symlink_to(target)
    monkeypatch.setattr(_seclusion, "_LINKED", (str(link),))
    assert inside(["grep", "-q", "nameserver", str(link)], workspace, {}) == 0


def test_too_many_sockets_are_a_refusal(workspace, monkeypatch):
    """Not a command that could reach the last of them."""
    from sightline.exceptions import OutsideFailure

    monkeypatch.setattr(_seclusion, "_MOST_SOCKETS", 0)
    with listening(str(workspace / "s")), pytest.raises(OutsideFailure, match="too many Unix sockets") as caught:
        sandboxed(["true"], "", SandboxSpec(workspace=str(workspace)))
    assert caught.value.hint
