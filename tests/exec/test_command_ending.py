"""Ending a command: cancelling it, running out of time, and dying with it. Nothing it started is left."""

import asyncio
import contextlib
import os
import resource
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from shutil import which

import psutil
import pytest

from sightline.events import ToolOutput
from sightline.exec import SandboxSpec, SandboxStatus
from sightline.exec.process import _guard
from sightline.exec.sandbox import _landlock, _sandbox
from tests import needs

from .running import Memory, Ran, is_gone, noted, python, sh, wait_for

pytestmark = pytest.mark.usefixtures("none_left")
linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to whom it is told to")

# Each starts a process that notes its id as "stray" and stays.
CHILD = "sleep 600 & echo $! > stray"
DEAF = """sh -c 'trap "" TERM; echo $$ > stray; while :; do sleep 0.05; done' &"""
SETSID = "setsid sh -c 'echo $$ > stray; exec sleep 600' &"
DAEMON = "(setsid sh -c 'echo $$ > stray; exec sleep 600' >/dev/null 2>&1 &)"
DEAF_DAEMON = """(setsid sh -c 'trap "" TERM; echo $$ > stray; while :; do sleep 0.05; done' >/dev/null 2>&1 &)"""
CLEAN_DAEMON = "(setsid env -i sh -c 'echo $$ > stray; exec sleep 600' >/dev/null 2>&1 &)"
WAYS = {
    "child": CHILD,
    "deaf": DEAF,
    "setsid": SETSID,
    "daemon": DAEMON,
    "deaf daemon": DEAF_DAEMON,
    "clean daemon": CLEAN_DAEMON,
}
ways = pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
IGNORES = """
import signal
signal.signal(signal.SIGTERM, signal.SIG_IGN)
print("ready", flush=True)
while True:
    signal.pause()
"""
FOREVER = "\necho ready; while :; do sleep 600; done"


async def ready(ran: Ran) -> "asyncio.Task[Ran]":
    running = ran.start()
    await ran.until(lambda ran: "ready" in ran.text())
    return running


@ways
async def test_cancelling_ends_every_descendant_and_keeps_what_was_said(tmp_path: Path, way: str):
    """Those that ignore the request, left the session, lost their parent or their environment too."""
    ran = sh("echo said\n" + way + FOREVER, cwd=str(tmp_path), grace=0.3)
    running = await ready(ran)
    stray = noted(tmp_path, "stray")
    ran.command.cancel()
    await running
    assert is_gone(stray)
    assert ran.text() == "said\nready\n"
    assert (ran.result.exit_code, ran.result.details["ended"]) == (130, "cancelled")
    assert ran.result.is_error is False
    assert "cancelled" in ran.result.content


@linux_only
async def test_a_stray_is_found_while_other_commands_are_at_work(tmp_path: Path):
    """Nothing connects it to its command but the limit it inherited; the strays of others live on."""
    folders = [tmp_path / name for name in "abc"]
    commands = []
    for folder in folders:
        folder.mkdir()
        commands.append(sh(CLEAN_DAEMON + FOREVER, cwd=str(folder), grace=0.3))
    running = [await ready(ran) for ran in commands]
    strays = [noted(folder, "stray") for folder in folders]
    commands[1].command.cancel()
    await running[1]
    assert [is_gone(stray) for stray in strays] == [False, True, False]
    for ran in commands:
        ran.command.cancel()
    await asyncio.gather(*running)
    assert all(is_gone(stray) for stray in strays)


@linux_only
async def test_what_a_finished_command_left_behind_is_not_anothers_to_end(tmp_path: Path):
    """It was started later than the one that is cancelled, and is left alone all the same."""
    other = sh(FOREVER)
    running = await ready(other)
    left = sh(CLEAN_DAEMON, cwd=str(tmp_path))
    await left.run()
    stray = noted(tmp_path, "stray")
    other.command.cancel()
    await running
    assert not is_gone(stray)
    os.kill(stray, signal.SIGKILL)


async def test_a_flood_ends_when_it_is_cancelled():
    """`yes`, as fast as it can: it is asked, and does not have to be killed."""
    ran = Ran("yes", sink=Memory(limit=0))
    running = ran.start()
    await ran.until(lambda ran: ran.sink.size > 5_000_000)
    pid = ran.command.pid
    assert pid is not None
    ran.command.cancel()
    await running
    assert is_gone(pid)
    assert ran.result.details["signal"] == signal.SIGTERM


async def test_one_that_ignores_the_request_is_killed_after_the_grace():
    ran = python(IGNORES, grace=0.4)
    running = await ready(ran)
    began = time.monotonic()
    ran.command.cancel()
    await running
    assert time.monotonic() - began >= 0.4
    assert ran.result.details["signal"] == signal.SIGKILL


@linux_only
async def test_one_that_ignored_the_request_while_it_was_set_up_is_asked_again(tmp_path: Path):
    """A sandbox that is being made ignores it: the command it then starts is asked, not killed after the grace."""
    begin = "trap '' TERM; echo ready; while [ ! -e go ]; do sleep 0.01; done; exec env --default-signal=TERM sleep 60"
    ran = sh(begin, cwd=str(tmp_path), grace=15)
    running = await ready(ran)
    ran.command.cancel()
    (tmp_path / "go").touch()
    await running
    assert ran.result.details["signal"] == signal.SIGTERM


async def test_force_does_not_wait():
    """Also when it was asked nicely before, with a grace longer than any test."""
    ran = python(IGNORES, grace=600)
    running = await ready(ran)
    ran.command.cancel()
    ran.command.cancel(force=True)
    await running
    assert ran.result.exit_code == 130


async def test_what_it_says_on_its_way_out_is_shown():
    ran = sh("trap 'echo bye; exit 3' TERM; echo ready; while :; do sleep 0.02; done")
    running = await ready(ran)
    ran.command.cancel()
    await running
    assert ran.text("stdout") == "ready\nbye\n"
    assert ran.result.exit_code == 130


async def test_cancelling_before_it_started_starts_nothing(tmp_path: Path):
    ran = sh("touch ran", cwd=str(tmp_path))
    ran.command.cancel()
    await ran.run()
    assert ran.result.details["ended"] == "cancelled"
    assert not (tmp_path / "ran").exists()


async def test_cancelling_twice_or_too_late_changes_nothing():
    ran = sh(FOREVER)
    running = await ready(ran)
    ran.command.cancel()
    ran.command.cancel()
    await running
    ran.command.cancel()
    finished = await Ran("true").run()
    finished.command.cancel()
    assert finished.result.exit_code == 0
    assert len([event for event in ran.events if event is ran.result]) == 1


async def test_cancelling_the_task_that_runs_it_cancels_it():
    """The result comes first, then the cancellation goes on its way."""
    ran = sh(SETSID.replace("echo $$ > stray;", "") + FOREVER)
    running = await ready(ran)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    ran.check()
    assert ran.result.exit_code == 130


async def test_many_that_are_cancelled_at_once_are_gone(tmp_path: Path):
    """They share the look at all processes."""
    many = [sh("echo ready; sleep 600") for _ in range(40)]
    running = [await ready(ran) for ran in many]
    pids = [ran.command.pid for ran in many]
    for ran in many:
        ran.command.cancel()
    await asyncio.gather(*running)
    assert all(is_gone(pid) for pid in pids)


@ways
async def test_the_timeout_ends_every_descendant_after_its_output_was_told(tmp_path: Path, way: str):
    ran = sh("echo said\n" + way + FOREVER, cwd=str(tmp_path), timeout=1.5, grace=0.3)
    running = await ready(ran)
    stray = noted(tmp_path, "stray")
    await running
    assert is_gone(stray)
    assert ran.text() == "said\nready\n"
    assert ran.events.index(ran.pieces[-1]) < ran.events.index(ran.result)
    assert (ran.result.exit_code, ran.result.is_error) == (124, True)
    assert (ran.result.details["ended"], ran.result.content) == ("timeout", "timed out after 1.5 s")


async def test_one_that_ends_in_time_does_not_time_out():
    ran = await sh("echo x", timeout=30).run()
    assert ran.result.details["ended"] == "exit"


async def test_a_clock_that_jumps_changes_nothing(monkeypatch: pytest.MonkeyPatch):
    """Durations and the timeout are of the monotonic clock."""
    ran = sh("echo ready; sleep 0.2", timeout=30)
    running = await ready(ran)
    monkeypatch.setattr(time, "time", lambda: 0.0)
    await running
    assert ran.result.details["ended"] == "exit"
    assert ran.result.duration is not None
    assert 0.2 <= ran.result.duration < 20


async def test_output_that_was_cut_off_by_cancelling_is_accounted_for():
    """Some was passed over when it came too fast."""
    ran = sh("yes | head -c 3000000; echo ready; sleep 600")
    running = ran.start()
    await ran.until(lambda ran: ran.sink.size >= 3_000_006)
    ran.command.cancel()
    await running
    assert isinstance(ran.outputs[-1], ToolOutput)
    assert ran.result.details["bytes"] == 3_000_006


async def test_one_guard_watches_over_all_and_goes_with_the_last():
    """Not one process more for each command."""
    many = [sh(FOREVER) for _ in range(5)]
    running = [await ready(ran) for ran in many]
    guard = _guard._shell
    assert guard is not None
    assert guard.poll() is None
    for ran in many[:4]:
        ran.command.cancel()
    await asyncio.gather(*running[:4])
    assert _guard._shell is guard
    many[4].command.cancel()
    await running[4]
    assert _guard._shell is None
    assert is_gone(guard.pid)


async def test_a_guard_that_was_ended_is_replaced_with_the_next_command():
    first = sh(FOREVER)
    running = await ready(first)
    old = _guard._shell
    assert old is not None
    old.kill()
    old.wait()
    second = sh(FOREVER)
    also_running = await ready(second)
    assert _guard._shell is not None
    assert _guard._shell.pid != old.pid
    for ran in (first, second):
        ran.command.cancel()
    await asyncio.gather(running, also_running)


_PROGRAM = """
import asyncio, sys
from sightline.exec import Command, CommandSpec
from tests.exec.running import Memory

async def main():
    specs = [CommandSpec(argv=("sh", "-c", each), cwd=f"{sys.argv[1]}/{n}") for n, each in enumerate(sys.argv[2:])]
    await asyncio.gather(*(Command("a-1", spec, Memory(), lambda _: None).run() for spec in specs))

asyncio.run(main())
"""


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_dies_takes_all_its_commands_along(tmp_path: Path, number: signal.Signals):
    """It gets no chance to do anything about it; the guard ends every descendant of every command."""
    scripts = [f"echo $$ > root\n{way}{FOREVER}" for way in WAYS.values()]
    for index in range(len(scripts)):
        (tmp_path / str(index)).mkdir()
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(tmp_path), *scripts],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
    )
    pids = [noted(tmp_path / str(index), name) for index in range(len(scripts)) for name in ("root", "stray")]
    program.send_signal(number)
    assert program.wait(10) == -number
    wait_for(lambda: all(is_gone(pid) for pid in pids), "all of them ended")


_KILLED_WHEN_IT_WORKS = """
import asyncio, os, signal, sys
from sightline.events import ToolOutput
from sightline.exec import Command, CommandSpec
from tests.exec.running import Memory

spec = CommandSpec(argv=("sh", "-c", "echo $$ > root; echo ready; exec sleep 600"), cwd=sys.argv[1])
def on_event(event):
    if isinstance(event, ToolOutput):
        os.kill(os.getpid(), signal.SIGKILL)

asyncio.run(Command("a-1", spec, Memory(), on_event).run())
"""


@pytest.mark.slow
def test_a_guard_whose_tools_fail_still_ends_what_it_knows(tmp_path: Path):
    """It looks for descendants with programs of the system; without them it has the first process of each run."""
    few = tmp_path / "few"
    few.mkdir()
    for name in ("sh", "sleep"):
        (few / name).symlink_to(str(which(name)))
    program = subprocess.run(
        [sys.executable, "-c", _KILLED_WHEN_IT_WORKS, str(tmp_path)],
        cwd=Path(__file__).parents[2],
        env={**os.environ, "PATH": str(few)},
        stdin=subprocess.DEVNULL,
        timeout=90,
        check=False,
    )
    assert program.returncode == -signal.SIGKILL
    root = noted(tmp_path, "root")
    wait_for(lambda: is_gone(root), "the first process ended")


_GONE_WHILE_IT_STARTS_ONE = """
import subprocess, sys
from sightline.exec.process import _guard, _marks

mark = _marks.new_mark()
with _guard.starting(mark), _marks.limit(mark):
    deaf = subprocess.Popen(["sh", "-c", sys.argv[1]], start_new_session=True, stdout=subprocess.PIPE)
    deaf.stdout.readline()
    _guard._shell.stdin.close()  # as the guard sees it when this program is killed here
    print(deaf.wait(60), _guard._shell.wait(60))
"""


@linux_only
@pytest.mark.slow
def test_a_guard_is_none_of_those_it_ends(tmp_path: Path):
    """A program that is killed while it starts a command has the limit by which that is found, and is its parent."""
    program = subprocess.run(
        [sys.executable, "-c", _GONE_WHILE_IT_STARTS_ONE, f"trap '' TERM; {FOREVER}"],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=90,
        check=False,
    )
    assert (program.returncode, program.stdout) == (0, b"-9 0\n")


_KILLED_TOO_EARLY = """
import os, signal, sys, time
from pathlib import Path
from sightline.exec.process import _guard

def die(*_):
    while not Path("stray").exists() or not Path("stray").read_text().endswith("\\n"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGKILL)

_guard.watch = die
if sys.argv[1] == "process":
    from sightline.exec.process._process import Process
    Process(["sh", "-c", sys.argv[2]])
else:
    from sightline.exec.process._spawn import spawn
    spawn(["sh", "-c", sys.argv[2]], cwd="", env=os.environ)
"""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["process", "command"])
@pytest.mark.parametrize("way", ["daemon", "clean daemon"])
def test_a_program_that_dies_before_it_knows_its_command_takes_it_along(tmp_path: Path, kind: str, way: str):
    """Between starting a command and hearing which process it is, there is time to be killed."""
    program = subprocess.Popen(
        [sys.executable, "-c", _KILLED_TOO_EARLY, kind, f"echo $$ > root\n{WAYS[way]}{FOREVER}"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
        stdin=subprocess.DEVNULL,
    )
    root, stray = noted(tmp_path, "root"), noted(tmp_path, "stray")
    assert program.wait(90) == -signal.SIGKILL
    wait_for(lambda: is_gone(root) and is_gone(stray), "both ended")


_NAMED_AS_ANOTHER = """
import ctypes, sys, time
ctypes.CDLL(None).prctl(15, f"\\n{sys.argv[1]} (".encode(), 0, 0, 0)
open("stray", "w").write(str(__import__("os").getpid()))
time.sleep(60)
"""


@pytest.mark.slow
def test_a_command_with_a_line_break_in_its_name_ends_nobody_else(tmp_path: Path):
    """After it the number of another process: the guard must not take that for one of the run."""
    (tmp_path / "0").mkdir()
    other = subprocess.Popen(["sleep", "60"], start_new_session=True)
    script = f"exec {sys.executable} -c {shlex.quote(_NAMED_AS_ANOTHER)} {other.pid}"
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(tmp_path), script],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
    )
    try:
        pid = noted(tmp_path / "0", "stray")
        program.kill()
        program.wait(10)
        wait_for(lambda: is_gone(pid), "it ended itself")
        assert other.poll() is None
    finally:
        other.kill()
        other.wait()


async def test_without_a_free_descriptor_a_cancel_still_ends_the_command():
    """Nobody can be looked at then; who is not seen must not be taken for dead."""
    ran = sh("trap '' TERM; echo ready $$; while :; do sleep 0.1; done", grace=0.3)
    running = await ready(ran)
    pid = int(ran.text().split()[1])
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    taken = []
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")) + 20, before[1]))
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.open(os.devnull, os.O_RDONLY))
        ran.command.cancel()
        await running
    finally:
        for fd in taken:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert ran.result.details["ended"] == "cancelled"
    wait_for(lambda: is_gone(pid), "the command is gone")


async def test_whatever_keeps_a_command_from_starting_it_has_an_end():
    """A size no terminal can have."""
    ran = await sh("true", pty=True, columns=70_000).run()
    assert (ran.result.details["ended"], ran.result.exit_code) == ("spawn", 126)


async def test_a_very_long_command_line_is_told_by_its_beginning():
    """It must fit a record of the journal; all of it is run."""
    ran = await Ran("sh", "-c", "echo $#", "x", *["y" * 100_000] * 8).run()
    assert ran.text() == "8\n"
    assert len(ran.use.args["command"]) == 64 * 1024
    assert ran.use.args["argv"] == []


@linux_only
@pytest.mark.parametrize("kind", ["bubblewrap", "landlock"])
@ways
async def test_what_a_sandboxed_command_leaves_in_the_background_ends_with_it(tmp_path, monkeypatch, way, kind):
    """However it got away from its parent, its session or its environment, and while another command runs."""
    use_sandbox(monkeypatch, kind)
    (tmp_path / "w").mkdir()
    other = sh("echo ready; sleep 600", cwd=str(tmp_path))
    running = await ready(other)
    script = way + "\nwhile ! [ -s stray ]; do sleep 0.01; done; echo over"
    ran = sh(script, cwd=str(tmp_path / "w"), sandbox=SandboxSpec(workspace=str(tmp_path / "w")))
    result = await ran.start()
    assert (result.result.exit_code, ran.text()) == (0, "over\n")
    # Bubblewrap's namespace ends with it: the kernel takes a moment, in which the result may come first.
    wait_for(lambda: not in_folder(tmp_path / "w"), "none is left")
    other.command.cancel(force=True)
    await running
    assert other.result.exit_code == 130


@linux_only
async def test_a_sandboxed_command_cannot_lose_its_mark(tmp_path, monkeypatch):
    """Under Landlock, by which alone a process is found that lost its parent, its session and its environment."""
    use_sandbox(monkeypatch, "landlock")
    (tmp_path / "w").mkdir()
    code = (
        "import os, resource, sys\n"
        "for limit in ((5, 5), (resource.RLIM_INFINITY, resource.RLIM_INFINITY)):\n"
        "    try: resource.setrlimit(10, limit)\n"
        "    except (OSError, ValueError) as error: print(type(error).__name__, flush=True)\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0:\n"
        "        os.close(1), os.close(2)\n"
        "        os.execve('/bin/sleep', ['sleep', '600'], {})\n"
        "    os._exit(0)\n"
        "os.wait()\n"
    )
    other = sh("echo ready; sleep 600", cwd=str(tmp_path))
    running = await ready(other)
    ran = python(code, cwd=str(tmp_path / "w"), sandbox=SandboxSpec(workspace=str(tmp_path / "w")))
    await ran.start()
    assert ran.text().split() == ["ValueError"] * 2  # so Python names EPERM
    assert not in_folder(tmp_path / "w")
    other.command.cancel(force=True)
    await running


def use_sandbox(monkeypatch, kind: str) -> None:
    if kind == "landlock" and not _landlock.abi():
        pytest.skip("the kernel has no Landlock")
    if kind == "bubblewrap":
        needs.require(["bubblewrap"])
    monkeypatch.setattr(_sandbox, "_decided", SandboxStatus(kind=kind))


def in_folder(folder: Path) -> list[psutil.Process]:
    """Who runs there."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.status() != psutil.STATUS_ZOMBIE and process.cwd() == str(folder):
                found.append(process)
    return found
