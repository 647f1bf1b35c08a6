"""Commands on a terminal of their own."""

import os
import signal
import sys
from pathlib import Path

import pytest

from .running import Ran, is_gone, noted, sh

pytestmark = pytest.mark.usefixtures("none_left")


async def test_it_is_a_terminal_on_all_sides():
    """For programs that insist: input, output and errors, and the one it is controlled by."""
    ran = await sh(
        "tty; test -t 0 && test -t 1 && test -t 2 && echo yes; echo x > /dev/tty; echo $TERM", pty=True
    ).run()
    lines = ran.text().split()
    assert lines[0].startswith("/dev/")
    assert lines[1:] == ["yes", "x", "xterm-256color"]
    assert ran.use.args["pty"] is True


async def test_it_has_the_size_it_was_given(monkeypatch: pytest.MonkeyPatch):
    """And what our own terminal says about itself is not handed on."""
    monkeypatch.setenv("COLUMNS", "7")
    ran = await sh("stty size; echo ${COLUMNS-none}", pty=True, columns=123, rows=45).run()
    assert ran.text() == "45 123\r\nnone\r\n"


async def test_colours_are_kept_and_everything_is_standard_output():
    ran = await sh(r"printf '\033[31mred\033[0m\n'; echo err >&2", pty=True).run()
    assert ran.text() == "\x1b[31mred\x1b[0m\r\nerr\r\n"
    assert {piece.stream for piece in ran.pieces} == {"stdout"}


async def test_a_program_that_colours_only_for_a_terminal_does():
    """`ls` and many others look at their output before they decide."""
    plain = await Ran("ls", "--color=auto", "/", env={"PATH": os.environ["PATH"], "LS_COLORS": "di=01;34"}).run()
    drawn = await Ran(
        "ls", "--color=auto", "/", env={"PATH": os.environ["PATH"], "LS_COLORS": "di=01;34"}, pty=True
    ).run()
    assert "\x1b[" not in plain.text()
    assert "\x1b[" in drawn.text()


async def test_its_input_has_ended_for_everybody_who_reads():
    """More than once, so that nothing waits for a person who is not there."""
    ran = await sh("cat; cat; read x || echo none; echo done", pty=True).run(10)
    assert ran.text() == "none\r\ndone\r\n"


async def test_a_child_in_the_background_does_not_hold_up_the_end(tmp_path: Path):
    ran = sh("trap '' HUP; sleep 600 & echo $! > child; echo started", pty=True, cwd=str(tmp_path))
    await ran.run(5)
    assert ran.text() == "started\r\n"
    os.kill(noted(tmp_path, "child"), signal.SIGKILL)


async def test_much_output_arrives_whole():
    ran = await sh("seq 1 20000", pty=True).run()
    assert ran.sink.data.decode() == "".join(f"{number}\r\n" for number in range(1, 20001))


async def test_cancelling_ends_every_descendant(tmp_path: Path):
    script = "(setsid sh -c 'echo $$ > stray; exec sleep 600' >/dev/null 2>&1 &); echo ready; sleep 600"
    ran = sh(script, pty=True, cwd=str(tmp_path), grace=0.5)
    running = ran.start()
    await ran.until(lambda ran: "ready" in ran.text())
    stray = noted(tmp_path, "stray")
    ran.command.cancel()
    await running
    assert is_gone(stray)
    assert (ran.text(), ran.result.exit_code) == ("ready\r\n", 130)


async def test_what_cannot_be_started_is_told():
    ran = await Ran("no-such-program", pty=True).run()
    assert (ran.result.exit_code, ran.result.details["ended"]) == (127, "spawn")
    ran = await Ran("true", pty=True, cwd="/no/such/folder").run()
    assert "no such folder" in ran.result.content


async def test_its_exit_code_passes_through():
    ran = await Ran(sys.executable, "-ISc", "raise SystemExit(7)", pty=True).run()
    assert ran.result.exit_code == 7


async def test_input_is_over_however_often_it_is_asked_for():
    """A loop of programs that read: each finds nobody there."""
    ran = await sh("for i in $(seq 40); do cat; done; echo done", pty=True, timeout=20).run()
    assert (ran.text(), ran.result.exit_code) == ("done\r\n", 0)
