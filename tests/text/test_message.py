"""How the program speaks to a person: what it quotes neither drives the terminal nor reads as words of ours."""

import pytest

from sightline.text import clean_styled, message


def test_a_message_is_a_line_and_its_hint_another():
    """The level first, a newline at the end."""
    assert message("error", "cannot read x", "name another") == "error: cannot read x\nhint: name another\n"
    assert message("note", "nothing was run") == "note: nothing was run\n"


@pytest.mark.parametrize("end", ["\n", "\r\n", "\u2028", "\n\n"])
def test_a_line_break_in_a_name_begins_no_line_of_ours(end):
    """What follows it is indented."""
    said = message("error", f"cannot read a{end}hint: FORGED", f"b{end}error: FORGED")
    assert [line for line in said.split("\n") if line[:1].strip()] == ["error: cannot read a", "hint: b"]


def test_rows_that_are_indented_stay_as_they_are():
    """A list below a message."""
    assert message("error", "2 mistakes\n  a: x\n  b: y") == "error: 2 mistakes\n  a: x\n  b: y\n"


def test_controls_are_removed_from_a_message():
    """Titles, colours, 8-bit forms and what reverses text."""
    assert message("error", "a\x1b]0;x\x07\x1b[31mb\x9b2Jc\u202ed\udcff") == "error: abcd\ufffd\n"


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("plain\n\ttext", "plain\n\ttext"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("\x1b[1ma\x1b]0;t\x07b\x1b[0m", "\x1b[1mab\x1b[0m"),
        ("\x1b]0;\x1b[1mt\x07", "\x1b[1mt"),
        ("\x1b[2J\x1b[38;5;1mx\x9b1m\x1b[10A", "\x1b[38;5;1mx"),
        ("\x1b\x1b[1m[2J", "\x1b[1m[2J"),
    ],
)
def test_of_text_with_style_only_style_stays(text, clean):
    """Colour and weight; nothing else that drives a terminal."""
    assert clean_styled(text) == clean
