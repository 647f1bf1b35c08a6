"""Ending a run: cancelling it, giving it up, and dying with it. Nothing it started is left."""

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import psutil
import pytest

from sightline.events import Error, RunEnded, Text, ToolResult, ToolUse
from sightline.exec.process import _marks, _tree
from sightline.providers import Run

from .fake_cli import Cli, all_events, is_gone, wait_for

linux_only = pytest.mark.skipif(sys.platform != "linux", reason="only Linux gives orphans to whom it is told to")

STUBBORN = "signal.signal(signal.SIGTERM, signal.SIG_IGN);"
# Leaves the session, and in the second form also its parent, before it says that it is there.
SETSID = """
if os.fork() == 0:
    os.setsid()
    note_pid("stray")
    forever()
until_noted("stray")
"""
DAEMON = """
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        note_pid("stray")
        forever()
    os._exit(0)
os.wait()
until_noted("stray")
"""
# The same two without the mark in their environment. `sleep` notes nothing, so its parent does it.
CLEAN = """
stray = os.fork()
if stray == 0:
    os.setsid()
    os.execve(shutil.which("sleep"), ["sleep", "600"], {})
open("stray.new", "w").write(str(stray))
os.rename("stray.new", "stray")
"""
CLEAN_DAEMON = f"""
if os.fork() == 0:
{textwrap.indent(CLEAN, "    ")}
    os._exit(0)
os.wait()
"""


async def until_it_said(run: Run, text: str):
    """The run's events as an iterator, read up to this text."""
    batches = run.events()
    async for batch in batches:
        if any(isinstance(event, Text) and event.text == text for event in batch):
            return batches
    pytest.fail(f"it never said {text!r}")


async def rest(batches) -> list:
    async with asyncio.timeout(20):
        return [event async for batch in batches for event in batch]


async def test_cancelling_keeps_the_words_and_is_no_error(cli: Cli):
    """Partial words stay, an open call stays open, there is no error, the exit code is 130."""
    run = cli.run('out(perch="p"); out(crack="nut"); out(say="so far"); forever()')
    seen = []

    async def watch() -> None:
        async for batch in run.events():
            seen.extend(batch)
            if any(isinstance(event, Text) for event in batch):
                cancelling.append(asyncio.create_task(run.cancel()))

    cancelling: list[asyncio.Task] = []
    async with asyncio.timeout(30):
        await watch()
    await cancelling[0]
    kinds = [type(event) for event in seen]
    assert ToolUse in kinds
    assert ToolResult not in kinds
    assert Error not in kinds
    assert isinstance(seen[-1], RunEnded)
    assert (seen[-1].stop_reason, seen[-1].is_error) == ("cancelled", False)
    assert (run.outcome.exit_code, run.outcome.cancelled, run.outcome.text) == (130, True, "so far")
    assert run.outcome.session == "p"


async def test_what_it_says_on_its_way_out_is_shown(cli: Cli):
    """A CLI that handles the signal may still report what it interrupted."""
    run = cli.run(
        """
def leave(*_):
    os.write(1, b'{"say": "put down"}\\n')
    os._exit(0)
signal.signal(signal.SIGTERM, leave)
out(say="ready")
forever()
"""
    )
    batches = await until_it_said(run, "ready")
    await run.cancel()
    assert [event.text for event in await rest(batches) if isinstance(event, Text)] == ["put down"]
    assert (run.outcome.exit_code, run.outcome.native_exit_code) == (130, 0)


async def test_cancelling_twice_or_too_late_does_nothing_more(cli: Cli):
    """The second waits for the first; after the end there is nothing to cancel."""
    run = cli.run(STUBBORN + 'out(say="ready"); forever()', grace=0.2)
    batches = await until_it_said(run, "ready")
    await asyncio.gather(run.cancel(), run.cancel())
    await run.cancel()
    await rest(batches)
    assert run.outcome.exit_code == 130
    await run.cancel()
    finished = cli.run('out(say="done")')
    await all_events(finished)
    await finished.cancel()
    assert finished.outcome.exit_code == 0


async def test_cancelling_works_before_anybody_reads(cli: Cli):
    """The iteration that comes later finds a cancelled run."""
    run = cli.run("forever()")
    await run.cancel()
    assert (await all_events(run))[-1].stop_reason == "cancelled"
    assert run.outcome.exit_code == 130


async def test_cancelling_works_while_the_prompt_is_being_written(cli: Cli):
    """A CLI that never reads its input, and a prompt that does not fit into the pipe."""
    run = cli.run('out(say="deaf"); forever()', "x" * 1_000_000)
    batches = await until_it_said(run, "deaf")
    await run.cancel()
    await rest(batches)
    assert run.outcome.exit_code == 130


async def test_a_cli_that_closes_its_input_early_is_no_failure(cli: Cli):
    """What is left of the prompt is not wanted, and that is all."""
    run = cli.run('os.close(0); out(say="enough")', "x" * 1_000_000)
    await all_events(run)
    assert (run.outcome.exit_code, run.outcome.text) == (0, "enough")


async def test_one_that_ignores_the_request_is_killed(cli: Cli):
    """After the grace, and not before."""
    run = cli.run(STUBBORN + 'out(say="ready"); forever()', grace=0.3)
    batches = await until_it_said(run, "ready")
    began = asyncio.get_running_loop().time()
    await run.cancel()
    assert asyncio.get_running_loop().time() - began >= 0.3
    await rest(batches)
    assert run.outcome.native_exit_code == -signal.SIGKILL


@pytest.mark.parametrize("escape", [SETSID, DAEMON], ids=["setsid", "daemon"])
@pytest.mark.parametrize("stubborn", ["", STUBBORN], ids=["obedient", "stubborn"])
async def test_a_descendant_that_left_the_session_ends_too(cli: Cli, escape: str, stubborn: str):
    """Also when its parent is long gone, and when it ignores the request."""
    run = cli.run(stubborn + escape + 'out(say="ready"); forever()', grace=0.3)
    batches = await until_it_said(run, "ready")
    stray = cli.pid("stray")
    await run.cancel()
    assert is_gone(stray)
    await rest(batches)


@linux_only
@pytest.mark.parametrize("escape", [CLEAN, CLEAN_DAEMON], ids=["setsid", "daemon"])
async def test_a_descendant_with_a_clean_environment_ends_too(cli: Cli, escape: str):
    """No session, no mark, and in the second form no parent: nothing connects it to the run but that it came to us."""
    run = cli.run("import shutil" + escape + 'out(say="ready"); forever()', grace=0.3)
    batches = await until_it_said(run, "ready")
    stray = cli.pid("stray")
    assert not is_gone(stray)
    await run.cancel()
    assert is_gone(stray)
    await rest(batches)
    assert not psutil.pid_exists(stray), "whoever is given an orphan collects it"


@linux_only
@pytest.mark.parametrize("first_to_end", [0, 1])
async def test_an_orphan_ends_with_its_own_run_while_another_is_at_work(cli: Cli, first_to_end: int):
    """Its limit says whose it is, whichever of the two is cancelled first."""
    runs = [cli.run("import shutil" + CLEAN_DAEMON + 'out(say="ready"); forever()', grace=0.3)]
    batches = [await until_it_said(runs[0], "ready")]
    runs.append(cli.run('out(say="ready"); forever()', grace=0.3))
    batches.append(await until_it_said(runs[1], "ready"))
    stray = cli.pid("stray")
    if first_to_end:
        await runs[1].cancel()
        assert not is_gone(stray)
    await runs[0].cancel()
    assert is_gone(stray)
    await runs[1].cancel()
    for each in batches:
        await rest(each)


@linux_only
@pytest.mark.parametrize("first_to_end", [0, 1])
async def test_an_orphan_that_may_be_another_runs_is_left_alone(
    cli: Cli, first_to_end: int, monkeypatch: pytest.MonkeyPatch
):
    """Without its limit, nobody can say whose it is while two are at work; it ends with the last of them."""
    monkeypatch.setattr(_marks, "_set_limit", lambda number: None)
    runs = [cli.run("import shutil" + CLEAN_DAEMON + 'out(say="ready"); forever()', grace=0.3)]
    batches = [await until_it_said(runs[0], "ready")]
    runs.append(cli.run('out(say="ready"); forever()', grace=0.3))
    batches.append(await until_it_said(runs[1], "ready"))
    stray = cli.pid("stray")
    if first_to_end:
        runs.reverse()
    await runs[0].cancel()
    assert not is_gone(stray)
    await runs[1].cancel()
    assert is_gone(stray)
    for each in batches:
        await rest(each)


@linux_only
async def test_orphans_of_runs_that_are_ended_at_once_end_with_them(cli: Cli):
    """No run counts as at work while it is being ended, whichever is looked at first."""
    runs = [cli.run("import shutil" + CLEAN_DAEMON + 'out(say="ready"); forever()', grace=0.3)]
    batches = [await until_it_said(runs[0], "ready")]
    runs.append(cli.run('out(say="ready"); forever()', grace=0.3))
    batches.append(await until_it_said(runs[1], "ready"))
    await asyncio.gather(*(run.cancel() for run in runs))
    assert is_gone(cli.pid("stray"))
    for each in batches:
        await rest(each)


@linux_only
async def test_a_process_of_our_own_is_no_orphan(cli: Cli):
    """Whatever else this program has started lives on."""
    own = await asyncio.to_thread(subprocess.Popen, ["sleep", "600"])
    run = cli.run('out(say="ready"); forever()', grace=0.3)
    own_later = await asyncio.to_thread(subprocess.Popen, ["sleep", "600"])
    batches = await until_it_said(run, "ready")
    await run.cancel()
    await rest(batches)
    alive = [process.poll() is None for process in (own, own_later)]
    for process in (own, own_later):
        process.kill()
        process.wait()
    assert alive == [True, True]


async def test_the_end_is_waited_for_after_the_kill(cli: Cli, monkeypatch: pytest.MonkeyPatch):
    """A killed process takes a moment to die; cancelling returns after it, not before."""
    run = cli.run(STUBBORN + 'out(say="ready"); forever()', grace=0.05)
    batches = await until_it_said(run, "ready")
    looks = []

    def late(process: psutil.Process) -> bool:
        looks.append(process)
        return len(looks) < 30

    monkeypatch.setattr(_tree, "_is_alive", late)
    monkeypatch.setattr(_tree, "_SECONDS_TO_DIE", 60.0)  # a busy machine looks rarely
    await run.cancel()
    assert len(looks) >= 30
    await rest(batches)


async def test_a_timeout_ends_the_descendants_too(cli: Cli):
    """The same end as a cancellation."""
    run = cli.run(DAEMON + 'out(say="ready"); forever()', timeout=1.5)
    await all_events(run)
    assert run.outcome.exit_code == 124
    assert is_gone(cli.pid("stray"))


async def test_closing_the_iteration_ends_the_run(cli: Cli):
    """Whoever stops looking takes the run down."""
    run = cli.run(SETSID + 'out(say="ready"); forever()')
    batches = await until_it_said(run, "ready")
    stray = cli.pid("stray")
    await batches.aclose()
    assert is_gone(stray)
    assert run.outcome.exit_code == 130


@pytest.mark.parametrize("way", ["events", "raw"])
async def test_cancelling_the_task_that_reads_ends_the_run(cli: Cli, way: str):
    """Also from outside, by asyncio's own means."""
    run = cli.run(SETSID + 'out(say="ready"); forever()')

    async def read() -> None:
        async for _ in getattr(run, way)():
            pass

    task = asyncio.create_task(read())
    stray = await asyncio.to_thread(cli.pid, "stray")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert is_gone(stray)
    assert (run.outcome.exit_code, run.outcome.cancelled) == (130, True)


def test_an_interrupted_program_takes_its_run_along(cli: Cli):
    """Ctrl+C in asyncio.run, the ordinary way to stop."""
    run = cli.run(DAEMON + 'out(say="ready"); forever()')

    async def main() -> None:
        await until_it_said(run, "ready")
        os.kill(os.getpid(), signal.SIGINT)
        await all_events(run)

    with pytest.raises(KeyboardInterrupt):
        asyncio.run(main())
    assert is_gone(cli.pid("stray"))


@pytest.mark.parametrize("escape", [DAEMON, CLEAN], ids=["daemon", "clean"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_a_program_that_dies_takes_its_run_along(cli: Cli, number: signal.Signals, escape: str):
    """Even when it gets no chance to do anything about it: the guard ends what it left."""
    cli.write('import shutil; note_pid("root")\n' + escape + "forever()")
    program = subprocess.Popen(
        [sys.executable, "-c", _PROGRAM, str(cli.folder), str(cli.programs)],
        cwd=Path(__file__).parents[2],
        stdin=subprocess.DEVNULL,
    )
    root, stray = cli.pid("root"), cli.pid("stray")
    program.send_signal(number)
    assert program.wait(10) == -number
    wait_for(lambda: is_gone(root) and is_gone(stray), "the run ended")


_PROGRAM = """
import asyncio, os, sys
from sightline.providers import ProviderPrompt
from sightline.providers.running._runner import start_run
from tests.providers.parrot import PROVIDER

async def main():
    path = sys.argv[2] + os.pathsep + os.environ["PATH"]
    async for _ in start_run(PROVIDER, ProviderPrompt(prompt="hello", cwd=sys.argv[1], env={"PATH": path})).events():
        pass

asyncio.run(main())
"""
