"""Large pastes are folded to a marker that is one character, and unfolded when the text leaves."""

import stat
from pathlib import Path

from .editor_support import body, editor, paste, press, shown

LONG = "\n".join(f"row {number}" for number in range(120))


def test_a_large_paste_is_one_character_on_the_screen_and_whole_when_submitted():
    """More than ten lines fold; submitting gives the text."""
    got = []
    made = editor("see ")
    made.on_submit = got.append
    paste(made, LONG)
    press(made, "'!")
    assert body(made) == ["see [pasted #1, 120 lines]!|"]
    assert made.cursor == (0, 6)
    press(made, "enter")
    assert got == [f"see {LONG}!"]


def test_small_pastes_stay_text():
    """Ten lines and a thousand characters are not much."""
    made = editor()
    paste(made, "\n".join("abcdefghij"))
    assert "pasted" not in "".join(shown(made))
    paste(made, "x" * 1000)
    assert "pasted" not in "".join(shown(made))
    paste(made, "x" * 1001)
    assert "[pasted #1, 1001 characters]" in "".join(shown(made))


def test_carriage_returns_are_line_breaks():
    """Terminals paste a carriage return where the text had a newline."""
    made = editor()
    paste(made, "a\rb\r\nc")
    assert made.text == "a\nb\nc"


def test_keys_see_a_marker_as_one_character():
    """The cursor goes over it, a deletion takes it, an undo brings it back."""
    made = editor("a")
    paste(made, LONG)
    press(made, "'b", "left", "left")
    assert body(made) == ["a|[pasted #1, 120 lines]b"]
    press(made, "delete")
    assert made.text == "ab"
    press(made, "ctrl+_")
    assert made.text == f"a{LONG}b"
    press(made, "right", "backspace")
    assert made.text == "ab"


def test_words_stop_at_a_marker_and_take_it_whole():
    """A marker is a word of its own; killed and yanked it is still the paste."""
    made = editor("one")
    paste(made, LONG)
    press(made, "'two", "ctrl+w", "ctrl+w")
    assert made.text == "one"
    press(made, "ctrl+y")
    assert made.text == f"one{LONG}two"


def test_a_killed_marker_outlives_a_submit():
    """What is in the kill ring can still be yanked into the next text."""
    made = editor()
    made.on_submit = lambda text: None
    paste(made, LONG)
    press(made, "ctrl+u", "'x", "enter")
    paste(made, "y" * 2000)
    assert "#2" in "".join(shown(made))
    press(made, "ctrl+y")
    assert made.text == "y" * 2000 + LONG


def test_numbers_begin_anew_with_a_new_text():
    """The first paste of a text is number one."""
    made = editor()
    made.on_submit = lambda text: None
    for _ in range(3):
        paste(made, LONG)
        assert "#1" in "".join(shown(made))
        press(made, "enter")


def test_a_folded_draft_survives_history():
    """Looking through history and coming back leaves the marker what it was."""
    made = editor(history=["old"])
    paste(made, LONG)
    press(made, "up", "down")
    assert body(made) == ["[pasted #1, 120 lines]|"]
    assert made.text == LONG


def test_nobody_can_type_a_marker():
    """A lone surrogate from outside is no marker, wherever it comes from."""
    made = editor("\udc00", history=["\udc01"])
    paste(made, "\udc00")
    assert made.text == "\ufffd\ufffd"
    press(made, "up", "'x")
    assert made.text == "\ufffdx"


def test_a_marker_wider_than_the_row_is_cut():
    """In a narrow terminal the label gives way, the marker stays one character."""
    made = editor()
    paste(made, LONG)
    rows = shown(made, 12)
    assert rows[1].strip().startswith("[pasted")
    press(made, "left")
    assert made.cursor == (0, 0)


def test_the_external_editor_gets_the_whole_text_and_gives_it_back():
    """A private file, pastes unfolded, the saved text as one step."""
    made = editor("see ")
    paste(made, LONG)
    seen = {}

    def run(command):
        path = Path(command[-1])
        seen.update(command=command[:-1], text=path.read_text(), mode=stat.S_IMODE(path.stat().st_mode), path=path)
        path.write_text("edited\nthere\n")
        return 0

    assert made.open_external("my-editor --wait", run)
    assert seen["command"] == ["my-editor", "--wait"]
    assert seen["text"] == f"see {LONG}"
    assert seen["mode"] == 0o600
    assert not seen["path"].exists()
    assert made.text == "edited\nthere"
    press(made, "ctrl+_")
    assert body(made) == ["see [pasted #1, 120 lines]|"]


def test_an_external_editor_that_fails_changes_nothing():
    """A non-zero exit means: as it was."""
    made = editor("text")

    def run(command):
        Path(command[-1]).write_text("half")
        return 1

    assert not made.open_external("vi", run)
    assert made.text == "text"


def test_a_line_break_at_the_end_is_no_line():
    """2000 lines are 2000, whether or not the last of them is ended; one line is counted in characters."""
    for text, label in (("x\n" * 2000, "2000 lines"), ("x" * 2000 + "\n", "2001 characters")):
        made = editor()
        paste(made, text)
        assert body(made) == [f"[pasted #1, {label}]|"]


def test_a_text_from_history_is_folded_as_it_was():
    """Not what was typed around the paste; submitted again it is whole again. Looking twice makes no new marker."""
    got = []
    made = editor()
    made.on_submit = got.append
    press(made, "'see ")
    paste(made, LONG)
    press(made, "'!", "enter", "'now ")
    press(made, "up", "down", "up")
    assert body(made) == ["see [pasted #1, 120 lines]!|"]
    press(made, "enter")
    assert got == [f"see {LONG}!"] * 2
    press(made, "ctrl+r", "'row 7", "enter")
    assert body(made) == ["see [pasted #1, 120 lines]!|"]
