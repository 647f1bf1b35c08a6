"""The gallery on lines: names are entered, scenes follow each other, dialogs are answered, and nothing wedges."""

import re

import pytest

from tests.tty.pty_child import on_pty

PROGRAM = """
import fcntl, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv = ["sightline", "gallery"]
from sightline.cli import main
sys.exit(main())
"""


@pytest.fixture
def gallery(own_home):
    with on_pty(PROGRAM, prologue="", environment={"SIGHTLINE_LINEAR": "1", "HOME": str(own_home)}) as child:
        child.until(b"every component in every state.\r\n> ")
        yield child


def enter(child, line, *shown):
    """Type a line and wait for what it brings, and for the prompt again."""
    start = len(child.written)
    child.type(line + b"\n")
    pattern = re.compile(b".*?".join(re.escape(text) for text in (*shown, b"\n> ")), re.DOTALL)
    child.until_true(lambda: pattern.search(child.written, start), shown)
    return child.written[start:]


def test_a_name_that_is_not_one_is_said_and_forgotten(gallery):
    """Names that are near are named; the next line stands for itself."""
    enter(gallery, b"nosuch", b"There is no scene 'nosuch'", b"text, box, markdown")
    assert b"Did you mean text" in enter(gallery, b"textt", b"no scene 'textt'")
    enter(gallery, b"text", b"## text:", b"wrapped at spaces")
    gallery.type(b"q\n")
    assert gallery.wait() == 0
    assert b"\x1b" not in gallery.written


def test_help_names_what_works_on_lines(gallery):
    """Also while something moves, which ends then."""
    gallery.type(b"loader\n")
    gallery.until(b"loader\r\n")
    said = enter(gallery, b"?", b"a name ", b"enter ", b"q, ctrl+d")
    assert b"shift+tab" not in said
    enter(gallery, b"", b"## progress:")


def test_what_moves_ends_by_itself(gallery):
    """It is written as it is after a moment, and the prompt comes."""
    enter(gallery, b"loader", b"## loader:", b"turning")


def test_a_dialog_is_answered_with_a_number(gallery):
    """Numbered choices, and what was chosen is said."""
    enter(gallery, b"overlay", b"## overlay:")
    enter(gallery, b"try", b"Run `make test`?", b"2. Yes, always", b"0 to cancel")
    enter(gallery, b"2", b"You chose: Yes, always")
    enter(gallery, b"text", b"## text:")
    enter(gallery, b"try", b"Nothing here asks anything")
