"""Walking through the gallery, in a real emulator: found by name, tried, resized, left; and the terminal as before."""

import signal

import pytest

from tests.cli.support import until
from tests.tty.pty_child import on_pty
from tests.views.console.glass import OnGlass

HINTS = "ctrl+t theme"


@pytest.fixture
def opened(own_home):
    terminals = []

    def start(*words, **options):
        terminals.append(OnGlass(*words, **options))
        return terminals[-1]

    yield start
    for terminal in terminals:
        terminal.close()


@pytest.fixture
def gallery(opened):
    """The gallery with everything loaded: it has asked the terminal what it can do."""
    terminal = opened("gallery")
    terminal.until_shows("type a name", HINTS)
    until(lambda: (terminal.pump(), b"\x1b[c" in terminal.program.output)[1], "it to be loaded")
    return terminal


def once(rows, text):
    return sum(text in row for row in rows) == 1


def test_what_is_typed_before_everything_is_loaded_is_in_the_prompt(opened):
    """At once and still there after the hand-over; nothing is painted twice."""
    terminal = opened("gallery")
    terminal.press("tabl")
    terminal.until_shows("› tabl", "rows under a header")
    terminal.press("e\r")
    rows = terminal.until_shows("without rows", "type a name")
    assert once(terminal.tape, "Sightline gallery"), rows
    assert once(terminal.tape, HINTS)


def test_it_opens_on_a_scene(gallery):
    """Not on an empty list: the first one is shown before a key is pressed."""
    gallery.until(lambda rows: any(row.startswith("## text") for row in gallery.tape), "the first scene")
    gallery.until_shows("empty: no row at all")


def test_a_name_finds_a_scene_and_enter_shows_it(gallery):
    """Any of its letters; the prompt is empty again afterwards."""
    gallery.press("mkd")
    gallery.until_shows("› markdown")
    gallery.press("\r")
    gallery.until_shows("streamed: rows that are settled never change", "type a name")
    rows = gallery.until(lambda rows: any("### The end" in row for row in rows[-6:]), "the stream's end")
    assert rows[-1].startswith("tab next")
    tape = gallery.tape
    assert sum("### The end" in row for row in tape) == 2, "once whole, once streamed"
    assert once(tape, "type a name")


def test_tab_walks_through_the_scenes_and_what_was_shown_stays(gallery):
    """Each row once on the tape, in order, whatever scrolled away."""
    gallery.until_shows("empty: no row at all")
    gallery.press("\t")
    gallery.until_shows("in another")
    gallery.press("\x1b[Z")
    gallery.until(lambda rows: sum("could not read" in row for row in gallery.tape) == 2, "text again")
    headings = [row for row in gallery.tape if row.startswith("## ")]
    assert [heading.split(":")[0] for heading in headings] == ["## text", "## box", "## text"]
    assert once(gallery.tape, "╭─ outside")


def test_a_resize_loses_nothing_and_doubles_nothing(gallery):
    """History is laid out anew; the prompt is there once."""
    gallery.until_shows("type a name", "empty: no row")
    gallery.press("table\r")
    gallery.until_shows("type a name", "without rows")
    gallery.resize(60, 20)
    gallery.until(lambda rows: rows[-1].startswith("tab next") and "ctrl+t theme" not in rows[-1], "a narrower screen")
    gallery.resize(100, 30)
    gallery.until(lambda rows: any("ctrl+t theme" in row for row in rows), "a wider screen")
    tape = gallery.tape
    for text in ("Sightline gallery", "## text", "## table", "permission denied", "without rows", "type a name"):
        assert once(tape, text), (text, tape)


@pytest.mark.parametrize("size", [(50, 20), (100, 30)])
def test_a_resize_while_it_loads_is_survived(opened, size):
    """What was painted for another size is laid out anew; nothing of it stays behind."""
    terminal = opened("gallery")
    terminal.until_shows("type a name", HINTS)
    terminal.resize(*size)
    until(lambda: (terminal.pump(), b"\x1b[c" in terminal.program.output)[1], "it to be loaded")
    terminal.press("tabs\r")
    terminal.until_shows("[Read-2]", "type a name")
    for text in ("Sightline gallery", "type a name", "tab next", "[Read-2]"):
        assert once(terminal.tape, text), (text, terminal.tape)


def test_what_can_be_tried_gets_the_keys_until_control_c(gallery):
    """A list is chosen from; back at the prompt letters are letters again."""
    gallery.press("select\r")
    gallery.until_shows("(1/30)")
    gallery.press("\r")
    gallery.until_shows("try: with descriptions", "back to the prompt")
    gallery.press("\x1b[B\r")
    gallery.until_shows("→ chosen: scripted")
    gallery.press("\x03")
    gallery.until_shows("tab next")
    gallery.press("box")
    gallery.until_shows("› box")


def test_a_dialog_lies_over_the_window_and_goes_away(gallery):
    """An overlay with a list; its answer is shown, what was below it is there again."""
    gallery.press("overlay\r")
    gallery.until_shows("Press enter to be asked.")
    gallery.press("\r")
    gallery.until(lambda rows: sum("› Yes, once" in row for row in rows) >= 1 and rows[-1] != "", "the dialog")
    gallery.press("\x1b[B\r")
    gallery.until_shows("You chose: Yes, always", "tab next")


def test_help_names_the_keys_and_any_key_closes_it(gallery):
    """Over the window, gone without a trace."""
    gallery.press("?")
    gallery.until_shows("╭─ Keys", "the next scene")
    gallery.press("x")
    gallery.until_gone("╭─ Keys")
    assert once(gallery.tape, "type a name")


def test_the_theme_key_turns_it_light(gallery):
    """The prompt is drawn in the other theme's colour."""
    rows = gallery.until_shows("type a name", "empty: no row")
    at = next(number for number, row in enumerate(rows) if "type a name" in row)
    before = gallery.emulator.cells(at)[0].fg
    gallery.press("\x14")
    gallery.until(lambda rows: gallery.emulator.cells(at)[0].fg != before, "another colour")


@pytest.mark.parametrize(
    ("keys", "code"), [(b"q", 0), (b"\x04", 0), (b"\x1b", 0), (b"\x03", 130), (b"ab\x03\x03", 130)]
)
def test_keys_that_leave(gallery, keys, code):
    """The window is gone then, and the terminal as before."""
    gallery.press(keys)
    assert gallery.ended() == code
    assert gallery.modes() == gallery.before
    assert gallery.tape[0] == "Sightline gallery: every component in every state."
    assert not any("type a name" in row or HINTS in row for row in gallery.tape)


def test_escape_clears_what_is_typed_before_it_leaves(gallery):
    """A q is a letter while something is typed."""
    gallery.press(b"box q")
    gallery.until_shows("› box q", "nothing matches")
    gallery.press(b"\x1b")
    gallery.until_shows("type a name")
    gallery.press(b"\x1b")
    assert gallery.ended() == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_leaves_the_terminal_as_it_was(opened, number):
    """While everything is still being imported, or at any other moment."""
    for loaded in (False, True):
        terminal = opened("gallery")
        terminal.until_shows("type a name", HINTS)
        if loaded:
            until(lambda terminal=terminal: (terminal.pump(), b"\x1b[c" in terminal.program.output)[1], "loading")
        terminal.program.process.send_signal(number)
        assert terminal.ended() == -number
        assert terminal.modes() == terminal.before
        assert not any("type a name" in row for row in terminal.tape)


def test_a_bug_is_said_in_a_line_with_the_terminal_given_back(own_home):
    """Whatever fails behind the first paint: no traceback on the screen, no raw mode left behind."""
    program = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from sightline.views.console.gallery import _browser
def fail(*_): raise RuntimeError("cannot be shown")
_browser.Browser.show = fail
sys.argv = ["sightline", "gallery"]
from sightline.cli import main
sys.exit(main())
"""
    with on_pty(program, prologue="") as child:
        child.until(b"q quit")
        child.type(b"\t")
        assert child.wait() == 1
        assert child.attributes() == child.before
        assert b"error: unexpected RuntimeError: cannot be shown (this is a bug in sightline)" in child.written
        assert b"Traceback" not in child.written


def test_garbage_does_not_harm(gallery):
    """Bytes that mean nothing are nothing."""
    gallery.press(bytes(byte for byte in range(0x80, 0x100)) + b"\x1b[999;999;999z\x1b]0;x\x07\x00\x01\x02")
    gallery.press(b"\x1b" + b"[1;" * 400)
    gallery.press(b"\x18")
    gallery.press(b"\x15box")
    gallery.until_shows("› box")


def test_a_narrow_and_a_tiny_terminal_work(opened):
    """Nothing is wider than the screen."""
    for columns, rows in ((20, 6), (5, 3), (2, 2)):
        terminal = opened("gallery", columns=columns, rows=rows)
        until(lambda terminal=terminal: (terminal.pump(), b"\x1b[c" in terminal.program.output)[1], "loading")
        terminal.press(b"\t\t\t")
        terminal.until(lambda rows: any(rows), "something")
        terminal.press(b"q")
        assert terminal.ended() == 0


def test_ghostty_shows_the_same(opened):
    """Another emulator, which answers no questions."""
    terminal = opened("gallery", kind="ghostty", columns=80, rows=24)
    terminal.until_shows("type a name", HINTS)
    terminal.until_shows("empty: no row at all")
    assert once(terminal.tape, "Sightline gallery")


def test_the_editor_opens_somebodys_own_editor(opened, tmp_path, monkeypatch):
    """What is saved there is in the editor afterwards."""
    program = tmp_path / "ed"
    program.write_text("#!/bin/sh\necho written elsewhere > $1\n")
    program.chmod(0o755)
    monkeypatch.setenv("VISUAL", str(program))
    gallery = opened("gallery")
    gallery.until_shows("tab next")
    gallery.press("editor\r")
    gallery.until_shows("vim keys: visual")
    gallery.press("\r")
    gallery.until_shows("back to the prompt")
    gallery.press("\x07")
    gallery.until_shows("written elsewhere")


def test_while_something_is_tried_its_keys_come_first_and_are_named(gallery):
    """The prompt does not ask for a name then; ctrl+t transposes in the editor, and turns the theme nowhere."""
    gallery.press("editor\r")
    gallery.until_shows("vim keys: visual")
    gallery.press("\r")
    rows = gallery.until_shows("enter submit", "alt+enter new line", "back to the prompt")
    assert not any("type a name" in row for row in rows)
    before = gallery.emulator.cells(len(rows) - 2)[0].fg
    gallery.press("ab\x14")
    rows = gallery.until(lambda rows: any(row.strip() == "ba" for row in rows), "letters transposed")
    assert gallery.emulator.cells(len(rows) - 2)[0].fg == before
    gallery.press("\x03")
    gallery.until_shows("type a name")


def test_the_look_can_be_chosen_from_the_start(opened):
    """As for printing: the light theme's own blue, in sixteen colours."""
    gallery = opened("gallery", "tabs", "--theme", "light", "--colours", "16")
    gallery.until_shows("[Read-2]", "type a name")
    assert b"\x1b[1;34m[Read-2]" in gallery.program.output


@pytest.mark.parametrize("leave", ["\t", "q"])
def test_the_answer_to_a_dialog_stays_when_the_scene_is_left(gallery, leave):
    """It is history like everything else that was shown, for the next scene and for the shell."""
    gallery.press("overlay\r")
    gallery.until_shows("Press enter to be asked.")
    gallery.press("\r")
    gallery.until_shows("› Yes, once")
    gallery.press("\r")
    gallery.until_shows("You chose: Yes, once")
    gallery.press(leave)
    if leave == "q":
        assert gallery.ended() == 0
    else:
        gallery.until_shows("## transcript")
    assert once(gallery.tape, "You chose: Yes, once"), gallery.tape
