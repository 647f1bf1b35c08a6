"""One line of text to type."""

import pytest

from sightline.tty._component import CURSOR
from sightline.tty.components._input import Input
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import Theme

from .editor_support import FAMILY, press, shown, type_text


def line(**options: object) -> Input:
    made = Input(**options)
    made.focused = True
    return made


def test_text_is_typed_and_submitted():
    """Enter hands it over and keeps it: whoever asked decides what comes next."""
    got = []
    made = line(prompt="name: ")
    made.on_submit, made.on_change = got.append, got.append
    press(made, "'ab", "enter")
    assert got == ["a", "ab", "ab"]
    assert shown(made) == ["name: ab|"]


@pytest.mark.parametrize("key", ["escape", "ctrl+c"])
def test_leaving_is_told(key):
    """With a listener the key is taken, without one it is left to others."""
    got = []
    made = line()
    assert not made.handle_input(Key("escape"))
    made.on_cancel = lambda: got.append(True)
    press(made, key)
    assert got == [True]


def test_editing_keys_work_as_in_the_editor():
    """The same hands, the same line."""
    made = line()
    press(made, "'one two", "ctrl+w", "home", "ctrl+y", "left", "delete", "ctrl+_")
    assert (made.text, made.cursor) == ("twoone ", 2)


def test_the_window_follows_the_cursor_sideways():
    """A line longer than the row shows the part around the cursor."""
    made = line()
    type_text(made, "abcdefghij")
    assert shown(made, 7) == ["› ghij|"]
    press(made, "left", "left", "left", "left")
    assert shown(made, 7) == ["› |ghij"]
    press(made, "left")
    assert shown(made, 7) == ["› |fghij"]
    press(made, "home")
    assert shown(made, 7) == ["› |abcde"]
    press(made, "end")
    assert shown(made, 7) == ["› ghij|"]


def test_wide_clusters_are_never_cut_by_the_window():
    """What does not fit whole is not shown."""
    made = line()
    type_text(made, "日本語")
    made.handle_input(Paste(FAMILY))
    assert shown(made, 7) == [f"› 語{FAMILY}|"]
    press(made, "home")
    assert shown(made, 7) == ["› |日本"]


def test_a_mask_hides_every_character():
    """Neither the text nor its width in cells is shown."""
    made = line(mask="•")
    type_text(made, "s日")
    assert shown(made) == ["› ••|"]
    press(made, "left")
    assert shown(made) == ["› •|•"]
    assert made.text == "s日"


def test_pasted_lines_become_one():
    """There is only one line here."""
    made = line()
    made.handle_input(Paste("one\r\ntwo\tthree\x1b[31m"))
    assert made.text == "one two three"


def test_the_placeholder_shows_while_there_is_no_text():
    """And the cursor stands on its first cell."""
    made = Input(placeholder="who", theme=Theme({"hint": "\x1b[2m"}))
    assert made.render(20) == ("› \x1b[2mwho\x1b[0m",)
    made.focused = True
    assert made.render(20) == (f"› {CURSOR}\x1b[2mwho\x1b[0m",)


def test_an_unchanged_input_returns_the_same_rows():
    """Identity is how the engine knows."""
    made = line()
    rows = made.render(20)
    assert made.render(20) is rows
    type_text(made, "x")
    assert made.render(20) is not rows


def test_a_line_of_a_megabyte_is_drawn_from_its_window_only():
    """Only what is in the row is looked at."""
    made = line()
    made.set_text("word " * 200_000)
    press(made, "end", "'x", "home", "'y", "ctrl+right")
    assert shown(made, 20) == ["› yword| word word wo"]


def test_the_key_that_deletes_is_not_taken_while_there_is_nothing_to_delete():
    """Ctrl+D leaves a program whose prompt is empty."""
    made = line()
    assert made.handle_input(Key("d", ctrl=True)) is False
    made.set_text("x")
    assert made.handle_input(Key("d", ctrl=True)) is True
