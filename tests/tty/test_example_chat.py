"""examples/chat.py as a person uses it: asked, steered by its menu, resized and left, in real terminals."""

import os
from pathlib import Path

import pytest

from sightline.testing.emulators import open_emulator
from tests.tty.pty_child import PtyChild, is_raw, restored

CHAT = Path(__file__).parents[2] / "examples" / "chat.py"
PROGRAM = f"""
import fcntl, runpy, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
runpy.run_path({str(CHAT)!r}, run_name="__main__")
"""
HINTS = "ctrl+o menu"
CTRL_C, CTRL_D, CTRL_O = b"\x03", b"\x04", b"\x0f"


class ShownChild(PtyChild):
    """A program on a pty and the emulator that shows it and answers it."""

    def __init__(self, kind, **options):
        self.emulator = open_emulator(kind, 80, 24)
        super().__init__(PROGRAM, prologue="", **options)
        self._shown = 0

    def pump(self, seconds):
        super().pump(seconds)
        new, self._shown = self.written[self._shown :], len(self.written)
        self.emulator.write(new)
        if answers := self.emulator.replies():
            os.write(self.master, answers)

    def resize(self, columns, rows):
        if self.emulator.size != (columns, rows):
            self.emulator.resize(columns, rows)
        super().resize(columns, rows)

    @property
    def rows(self):
        return self.emulator.tape().text

    def until_shows(self, *texts):
        self.until_true(lambda: all(any(text in row for row in self.rows) for text in texts), texts)

    def until_gone(self, text):
        self.until_true(lambda: not any(text in row for row in self.rows), f"no {text}")

    def close(self):
        super().close()
        self.emulator.close()


@pytest.fixture(params=["xterm", "ghostty"])
def chat(request):
    child = ShownChild(request.param)
    try:
        child.until_shows("Say something", HINTS)
        yield child
    finally:
        child.close()


def times(rows, text):
    return sum(text in row for row in rows)


def assert_long_answer_once(rows):
    assert [times(rows, f" row {number} is written once") for number in range(1, 31)] == [1] * 30
    assert times(rows, "That was all.") == 1


def test_an_answer_streams_in_once_while_the_prompt_can_be_typed_into(chat):
    """Every row of it is on the tape exactly once, what was typed meanwhile is in the editor, the spinner is gone."""
    chat.type(b"tell me\r")
    chat.until_shows("› tell me", "answering")
    chat.type(b"and then?")
    chat.until_shows("That was all.", "and then?")
    chat.until_gone("answering")
    rows = chat.rows
    assert_long_answer_once(rows)
    assert times(rows, "› tell me") == times(rows, HINTS) == times(rows, "and then?") == 1


def test_a_prompt_typed_ahead_waits_for_its_turn(chat):
    """Answers come one after the other, in the order asked."""
    chat.type(b"first\r")
    chat.type(b"second\r")
    chat.until_true(lambda: times(chat.rows, "That was all.") == 2, "both answers")
    rows = [row for row in chat.rows if row.startswith("› ") or "That was all." in row]
    assert rows == ["› first", "That was all.", "› second", "That was all."]


def test_the_menu_takes_the_keys_and_gives_them_back(chat):
    """A choice counts from the next prompt on; escape chooses nothing; the editor has the keys again."""
    chat.type(CTRL_O)
    chat.until_shows("Which would you like?", "long answers")
    chat.type(b"\x1b[B\r")
    chat.until_gone("Which would you like?")
    chat.until_shows("short answers")
    chat.type(CTRL_O)
    chat.until_shows("Which would you like?")
    chat.type(b"\x1b")
    chat.until_gone("Which would you like?")
    chat.type(b"again?\r")
    chat.until_shows("› again?", "Yes: once.")
    assert times(chat.rows, HINTS) == 1


def test_a_resize_while_it_streams_loses_and_doubles_nothing(chat):
    """Narrower and wider again, in the middle of an answer."""
    chat.type(b"tell me\r")
    chat.until_shows("row 9 is")
    chat.resize(50, 16)
    chat.until_shows("row 15 is")
    chat.resize(90, 20)
    chat.until_shows("That was all.", HINTS)
    chat.until_gone("answering")
    assert_long_answer_once(chat.rows)
    assert times(chat.rows, HINTS) == 1


@pytest.mark.parametrize(("key", "code"), [(CTRL_C, 130), (CTRL_D, 0)], ids=["ctrl+c", "ctrl+d"])
def test_leaving_keeps_what_was_said_and_gives_the_terminal_back(chat, key, code):
    """Also while an answer streams; the prompt does not stay behind."""
    chat.type(b"tell me\r")
    chat.until_shows("row 12 is")
    assert is_raw(chat)
    chat.type(key)
    assert chat.wait() == code
    assert chat.attributes() == chat.before
    assert restored(chat.written)
    rows = chat.rows
    assert times(rows, "› tell me") == times(rows, " row 1 is written once") == 1
    assert times(rows, HINTS) == times(rows, "answering") == times(rows, "Error") == 0


def test_it_speaks_in_lines_where_nothing_can_be_moved():
    """The same program for a screen reader: no sequence at all, the menu by number."""
    child = ShownChild("xterm", environment={"SIGHTLINE_LINEAR": "1"})
    try:
        child.until(b"> ")
        child.type(b"/menu\n")
        child.until_shows("Which would you like?", "2. short answers", "Enter a number")
        child.type(b"2\n")
        child.type(b"well?\n")
        child.until_shows("› well?", "Yes: `once`.")
        child.type(CTRL_D)
        assert child.wait() == 0
        assert b"\x1b" not in child.written
    finally:
        child.close()
