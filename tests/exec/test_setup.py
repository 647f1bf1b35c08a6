"""A sandbox whose parts change while it is set up: a real bubblewrap that begins late, after something happened."""

import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sightline.exec import SETUP_ATTEMPTS, SandboxSpec, sandbox_status
from sightline.exec.sandbox import _programs, _sandbox
from sightline.tools.files._documents import DocumentError, convert

from .running import Ran, sh

pytestmark = [pytest.mark.needs("bubblewrap"), pytest.mark.usefixtures("none_left")]

Late = Callable[[str], None]
CONNECT = "import socket, sys; socket.socket(socket.AF_UNIX).connect(sys.argv[1])"


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "workspace"
    folder.mkdir()
    return folder


@pytest.fixture
def home() -> Iterator[Path]:
    """A folder that commands can see and not write to."""
    folder = Path(tempfile.mkdtemp(prefix="sl-", dir=Path.home()))
    yield folder
    shutil.rmtree(folder)


@pytest.fixture(params=["home", "workspace"])
def place(request, home: Path, workspace: Path) -> Path:
    return home if request.param == "home" else workspace


@pytest.fixture
def starts(tmp_path: Path) -> Path:
    """A file with a line for each start of bubblewrap: those that fail because of a socket of another test, too."""
    return tmp_path / "starts"


@pytest.fixture
def late(tmp_path: Path, starts: Path, monkeypatch: pytest.MonkeyPatch) -> Late:
    """Gives what a shell does between the start of bubblewrap and its beginning; `$n` is the number of the start."""
    real = shutil.which("bwrap", path="/usr/local/bin:/usr/bin:/bin")
    folder = tmp_path / "programs"
    folder.mkdir()
    file = folder / "bwrap"

    def set_to(script: str) -> None:
        file.write_text(f'#!/bin/sh\necho >> {starts}; n=$(wc -l < {starts})\n{script}\nexec {real} "$@"\n')
        file.chmod(0o755)

    set_to("")
    monkeypatch.setattr(_sandbox, "_decided", None)
    monkeypatch.setattr(_programs, "_OF_THE_SYSTEM", frozenset())
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    assert sandbox_status().kind == "bubblewrap"
    starts.unlink()
    return set_to


@pytest.fixture
def service() -> Iterator[Callable[[Path], None]]:
    """Listens at a path until the end of the test."""
    listeners: list[socket.socket] = []

    def listen(path: Path) -> None:
        listeners.append(socket.socket(socket.AF_UNIX))
        listeners[-1].bind(str(path))
        listeners[-1].listen()

    yield listen
    for listener in listeners:
        listener.close()


def count(starts: Path) -> int:
    return len(starts.read_text().splitlines())


def boxed(script: str, workspace: Path, **spec) -> Ran:
    return sh(script, cwd=str(workspace), sandbox=SandboxSpec(workspace=str(workspace)), **spec)


async def test_a_socket_that_is_gone_needs_no_cover(place: Path, workspace: Path, late: Late, service):
    """The command runs, no word of the sandbox is among its output, and no file is where the socket was."""
    service(place / "s")
    late(f"rm -f {place}/s")
    ran = await boxed("echo ran", workspace).run()
    assert (ran.result.exit_code, ran.text()) == (0, "ran\n")
    assert os.listdir(place) == []


async def test_a_socket_that_is_gone_needs_no_cover_on_a_terminal(home: Path, workspace: Path, late: Late, service):
    """Where what sets it up writes to the same stream as the command."""
    service(home / "s")
    late(f"rm -f {home}/s")
    ran = await boxed("echo ran; tty -s", workspace, pty=True).run()
    assert (ran.result.exit_code, ran.text()) == (0, "ran\r\n")


async def test_a_folder_of_sockets_that_is_gone_needs_no_cover(home: Path, workspace: Path, late: Late, service):
    """As when a program removes the folder it worked in."""
    (home / "run").mkdir()
    for name in "abc":
        service(home / "run" / name)
    late(f"rm -rf {home}/run")
    ran = await boxed("echo ran", workspace).run()
    assert (ran.result.exit_code, ran.text()) == (0, "ran\n")


async def test_the_place_of_a_socket_is_free_while_the_command_runs(workspace: Path, late: Late, service):
    """A service that starts again can listen there, also when the command writes nothing."""
    service(workspace / "s")
    late(f"rm -f {workspace}/s")
    ran = boxed("while [ ! -e over ]; do sleep 0.05; done", workspace)
    running = ran.start()
    await ran.until(lambda ran: ran.statuses)
    service(workspace / "s")
    (workspace / "over").touch()
    await running
    assert ran.result.exit_code == 0


async def test_a_socket_that_was_exchanged_is_out_of_reach(place: Path, workspace: Path, late: Late, service):
    """Another service has its name by then, made elsewhere and moved there."""
    service(place / "s")
    service(place / "new")
    late(f"[ $n != 1 ] || mv {place}/new {place}/s")
    ran = await Ran(
        *(sys.executable, "-ISc", CONNECT, str(place / "s")),
        cwd=str(workspace),
        sandbox=SandboxSpec(workspace=str(workspace)),
    ).run()
    assert ran.result.details["ended"] == "exit"
    assert ("ConnectionRefusedError" in ran.text(), ran.result.exit_code) == (True, 1)
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(place / "s"))


async def test_it_is_not_tried_for_ever(workspace: Path, late: Late, starts: Path):
    """What it said last is why the command was not started, and nothing is left of the attempts."""
    late("echo 'bwrap: first line' >&2; echo 'bwrap: no room' >&2; exit 1")
    ran = await boxed("echo ran", workspace).run()
    assert (ran.result.details["ended"], ran.result.exit_code) == ("spawn", 126)
    assert ran.result.content == f"the sandbox could not be set up: bwrap: no room (tried {SETUP_ATTEMPTS} times)"
    assert (ran.pieces, count(starts)) == ([], SETUP_ATTEMPTS)


async def test_a_command_that_fails_is_run_once(workspace: Path):
    """With the exit code bubblewrap itself has when it gives up, at once and without a word."""
    ran = await boxed("echo ran >> runs; exit 1", workspace).run()
    assert (ran.result.exit_code, ran.result.details["ended"]) == (1, "exit")
    assert (workspace / "runs").read_text() == "ran\n"


async def test_a_warning_of_what_sets_it_up_is_shown(workspace: Path, late: Late):
    """Before what the command writes."""
    late("echo warning >&2")
    ran = await boxed("echo ran >&2", workspace).run()
    assert (ran.result.exit_code, ran.text("stderr")) == (0, "warning\nran\n")
    late("echo warning >&2")
    assert (await boxed(":", workspace).run()).text("stderr") == "warning\n"


@pytest.mark.parametrize("how", ["command", "task"])
async def test_one_that_is_cancelled_while_it_is_set_up_is_not_started_again(
    workspace: Path, late: Late, starts: Path, how: str
):
    """Ended as always; what sets it up never got as far as a command."""
    late("sleep 600")
    ran = boxed("echo ran > ran", workspace, grace=0.2)
    running = ran.start()
    await ran.until(lambda _: starts.exists())
    ran.command.cancel() if how == "command" else running.cancel()
    await ran.until(lambda ran: running.done())
    assert (ran.result.details["ended"], count(starts)) == ("cancelled", 1)
    assert not (workspace / "ran").exists()


async def test_a_cancellation_between_two_attempts_is_heard(workspace: Path, late: Late, starts: Path, home: Path):
    """The process has ended, and another is about to be started: that is not an end."""
    held = home / "held"
    os.mkfifo(held)
    late(f"(read x < {held}) & echo 'bwrap: no room' >&2; exit 1")  # what holds its output open
    ran = boxed("echo ran > ran", workspace)
    running = ran.start()
    await ran.until(lambda ran: ran.command._drain_until is not None)
    ran.command.cancel()
    await running
    assert (ran.result.details["ended"], ran.result.exit_code, count(starts)) == ("cancelled", 130, 1)
    with held.open("w") as file:
        file.write("\n")


async def test_what_became_impossible_meanwhile_is_the_reason(workspace: Path, late: Late):
    """The second look finds no workspace."""
    late(f"rmdir {workspace}; exit 1")
    ran = await boxed("echo ran", workspace).run()
    assert (ran.result.details["ended"], ran.result.exit_code) == ("spawn", 126)
    assert "does not exist" in ran.result.content or "no such folder" in ran.result.content


async def test_a_document_is_converted_when_a_socket_is_gone(home: Path, late: Late, service, tmp_path: Path):
    """The same for what is read with a program of ours."""
    service(home / "s")
    late(f"rm -f {home}/s")
    python = tmp_path / "programs" / "python"
    python.write_text("#!/bin/sh\necho converted\n")
    python.chmod(0o755)
    (tmp_path / "a.pdf").write_bytes(b"%PDF-")
    assert await convert(tmp_path / "a.pdf", python=str(python)) == "converted\n"
    late("echo 'bwrap: no room' >&2; exit 1")
    with pytest.raises(DocumentError, match="bwrap: no room"):
        await convert(tmp_path / "a.pdf", python=str(python))
