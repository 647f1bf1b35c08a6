"""Terminals that are slow, silent, dumb, or none at all; and a disk that is full."""

import os
import select
from pathlib import Path

import pytest

from sightline.testing.monkey import Witness
from tests.cli.support import InTerminal, sightline, until
from tests.views.console.e2e.support import CTRL_D, CTRL_Z, ENTER, Person, bash, text
from tests.views.console.weather.support import IN_XTERM, watched

pytestmark = pytest.mark.slow


@IN_XTERM
def test_a_terminal_nobody_reads_loses_nothing(person: Person) -> None:
    """A command floods and the answer comes while nothing is taken; afterwards every row is there, once."""
    over = person.project / "over"
    rows = [f"row-{number:03d}." for number in range(1, 121)]
    model = person.script(
        [bash(f"for i in 1 2 3 4 5 6 7 8; do seq 1 30000; sleep 0.3; done; touch {over}")],
        [text("\n\n".join(rows), chunk=40, delay_ms=15), bash("touch said")],
        [text("The end.")],
    )
    screen = person.opens("--model", model)
    screen.press("flood\r")
    until(lambda: over.exists() and (person.project / "said").exists(), "the flood to be over, unread")
    screen.press("typed into silence")
    screen.sees("The end.", "typed into silence")
    screen.once("› flood", *rows, "The end.")
    watched(screen)


@IN_XTERM
def test_a_terminal_that_answers_nothing(person: Person, monkeypatch) -> None:
    """It is drawn on all the same, and given back in the end."""
    monkeypatch.setattr("sightline.testing.emulators.XtermEmulator.replies", lambda emulator: b"")
    screen = person.opens("--model", person.script([text("Said.")]))
    screen.says("hello")
    screen.sees("Said.")
    screen.press(CTRL_D)
    assert screen.ended() == 0
    assert watched(screen).left_on == []
    assert screen._glass.modes() == screen._glass.before


@IN_XTERM
def test_everything_is_off_when_it_is_left(person: Person) -> None:
    """Modes, keys, paste, cursor, title and style are as before."""
    screen = person.opens("--model", person.script([text("Said.")]))
    screen.says("hello")
    screen.sees("Said.")
    assert watched(screen).left_on
    screen.press(CTRL_D)
    assert screen.ended() == 0
    assert watched(screen).left_on == []
    assert screen._glass.modes() == screen._glass.before
    modes = screen._glass.emulator.modes()
    assert modes.cursor_visible
    assert modes.autowrap
    assert not modes.bracketed_paste


@pytest.mark.parametrize("person", ["tmux"], indirect=True)
def test_stopped_and_continued_by_the_shell(person: Person) -> None:
    """Ctrl+Z gives the shell its terminal; `fg` has everything again, and what came meanwhile, once."""
    go = person.project / "go"
    model = person.script(
        [bash(f"until [ -e {go} ]; do sleep 0.05; done; printf 'came-%02d\\n' 1")], [text("All said.")]
    )
    screen = person.opens("--model", model)
    screen.says("start")
    screen.sees("escape stop")
    screen.press("a draft", CTRL_Z)
    screen.ended()
    go.touch()
    screen.press("echo from-the-$((40 + 2))", ENTER)
    screen.sees("from-the-42")
    screen.press("fg", ENTER)
    screen.sees("All said.", "came-01", "a draft")
    screen.once("came-01", "All said.")


@IN_XTERM
def test_a_dumb_terminal_gets_lines(person: Person) -> None:
    """No sequence at all; what is said is a line, and so is the answer."""
    model = person.script([text("A plain answer.")], [bash("echo printed; exit 3")], [text("Over.")])
    screen = InTerminal("--model", model, through=("env", "TERM=dumb"))
    try:
        screen.press(b"hello\n")
        screen.wait_for("A plain answer.")
        screen.press(b"again\n")
        screen.wait_for("printed", "exit 3", "Over.")
        screen.press(b"/quit\n")
        assert screen.wait() == 0
        assert b"\x1b" not in screen.output
    finally:
        screen.end()


def test_without_a_terminal_it_says_what_to_do() -> None:
    """Pipes are for -p; nothing starts."""
    done = sightline("--model", "scripted:nowhere.json")
    assert done.returncode == 2
    assert b"needs a terminal" in done.stderr
    assert b"hint: run one prompt with -p" in done.stderr
    assert done.stdout == b""
    assert b"\x1b" not in done.stderr


@pytest.mark.needs("bubblewrap")
@IN_XTERM
def test_a_full_disk_is_said_and_the_work_goes_on(person: Person, tmp_path: Path, monkeypatch) -> None:
    """What cannot be kept is told once on the screen; the answer still comes."""
    home = tmp_path / "small"
    home.mkdir()
    monkeypatch.setenv("SIGHTLINE_HOME", str(home))
    model = person.script([bash("seq 1 600000 | sed 's/$/ some words to fill it/'")], [text("Still here.")])
    # With a world of processes of its own, so that the host ends with it: nobody outside sees its folder.
    small = ("bwrap", "--dev-bind", "/", "/", "--unshare-pid", "--proc", "/proc", "--die-with-parent")
    screen = InTerminal(
        "--model", model, columns=100, rows=30, through=(*small, "--size", "2000000", "--tmpfs", str(home))
    )
    try:
        screen.wait_for("ask anything")
        screen.press(b"fill it\r")
        screen.wait_for("No space left on device", "Still here.")
        screen.press(b"typed")
        screen.wait_for("typed")
        assert "Traceback" not in screen.text
        assert "this is a bug" not in screen.text
        witness = Witness()
        witness.feed(screen.output)
    finally:
        _hang_up(screen)


def _hang_up(screen: InTerminal) -> None:
    """Take what is still written, then end it."""
    while select.select([screen.master], [], [], 0)[0] and os.read(screen.master, 65536):
        pass
    screen.end()
