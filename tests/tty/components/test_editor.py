"""Journeys through the editor: keys in, text and cursor out."""

import pytest

from sightline.tty._component import CURSOR
from sightline.tty.cells._width import measure
from sightline.tty.components.editor import Editor
from sightline.tty.input._keys import Key
from sightline.tty.theme._theme import Theme

from .editor_support import ACCENT, FAMILY, FLAG, body, editor, paste, press, shown, type_text


def with_bar(made: Editor) -> str:
    """The text with a bar where the cursor is."""
    line, column = made.cursor
    lines = made.text.split("\n")
    lines[line] = lines[line][:column] + "|" + lines[line][column:]
    return "\n".join(lines)


JOURNEYS = {
    "typing": ("", ["'hello"], "hello|"),
    "left over a family": (f"a{FAMILY}b", ["left", "left"], f"a|{FAMILY}b"),
    "left over a flag": (f"{FLAG}{FLAG}", ["left"], f"{FLAG}|{FLAG}"),
    "back over a combined letter": (f"x{ACCENT}", ["backspace"], "x|"),
    "delete a whole cluster forward": (f"{FAMILY}b", ["home", "delete"], "|b"),
    "a mark joins the letter before": ("e", ["'\u0301", "left"], f"|{ACCENT}"),
    "a letter takes a mark that stood alone": ("\u0301", ["home", "'e"], f"{ACCENT}|"),
    "joined lines join letter and mark": ("e\n\u0301x", ["up", "end", "delete"], f"{ACCENT}|x"),
    "half flags find each other": ("🇵", ["home", "'🇯"], "🇯🇵|"),
    "left wraps to the line before": ("ab\ncd", ["home", "left"], "ab|\ncd"),
    "right wraps to the line after": ("ab\ncd", ["up", "end", "right"], "ab\n|cd"),
    "word left": ("one two.three", ["ctrl+left"], "one two.|three"),
    "words left": ("one two.three", ["alt+b", "alt+left", "ctrl+left"], "|one two.three"),
    "word right": ("one two", ["home", "alt+f"], "one| two"),
    "word right over a line end": ("one\ntwo", ["up", "end", "ctrl+right"], "one\n|two"),
    "word left over combined letters": (f"r{ACCENT}sum{ACCENT} x", ["alt+b", "alt+b"], f"|r{ACCENT}sum{ACCENT} x"),
    "line start": ("one\ntwo", ["ctrl+a"], "one\n|two"),
    "line end": ("one\ntwo", ["up", "ctrl+a", "ctrl+e"], "one|\ntwo"),
    "text start": ("one\ntwo", ["ctrl+home"], "|one\ntwo"),
    "text end": ("one\ntwo", ["ctrl+home", "ctrl+end"], "one\ntwo|"),
    "delete word back": ("one two", ["ctrl+w"], "one |"),
    "delete word forward": ("one two", ["home", "alt+d"], "| two"),
    "kill to the end": ("one two", ["home", "alt+f", "ctrl+k"], "one|"),
    "kill at the end takes the line break": ("one\ntwo", ["up", "end", "ctrl+k"], "one|two"),
    "kill to the start": ("one two", ["left", "ctrl+u"], "|o"),
    "yank": ("one two", ["ctrl+w", "home", "ctrl+y"], "two|one "),
    "kills in a row join backwards": ("one two", ["ctrl+w", "ctrl+w", "ctrl+y"], "one two|"),
    "kills in a row join forwards": ("one two", ["home", "alt+d", "ctrl+k", "ctrl+y"], "one two|"),
    "a motion ends a run of kills": ("one two", ["ctrl+w", "left", "ctrl+u", "ctrl+y"], "one| "),
    "yank pop": ("one two", ["ctrl+w", "left", "right", "ctrl+w", "ctrl+y", "alt+y"], "two|"),
    "yank pop without yank": ("one two", ["ctrl+w", "alt+y"], "one |"),
    "yank pop after a motion": ("one two", ["ctrl+w", "ctrl+y", "left", "alt+y"], "one tw|o"),
    "yank pop after something else": ("one two", ["ctrl+w", "ctrl+y", "ctrl+j", "alt+y"], "one two\n|"),
    "transpose": ("abc", ["left", "ctrl+t"], "acb|"),
    "transpose at the end": ("abc", ["ctrl+t"], "acb|"),
    "transpose clusters": (f"{FAMILY}{FLAG}", ["ctrl+t"], f"{FLAG}{FAMILY}|"),
    "newlines": ("a", ["shift+enter", "alt+enter", "ctrl+j", "'b"], "a\n\n\nb|"),
    "backslash and enter": ("a", ["'\\", "enter", "'b"], "a\nb|"),
    "undo takes a word": ("", ["'one two three", "ctrl+_"], "one two |"),
    "undo twice": ("", ["'one two three", "ctrl+_", "ctrl+_"], "one |"),
    "redo": ("", ["'one two", "ctrl+_", "alt+_"], "one two|"),
    "typing after an undo ends redo": ("", ["'one two", "ctrl+_", "'x", "alt+_"], "one x|"),
    "a motion parts steps": ("", ["'ab", "left", "'x", "ctrl+_"], "a|b"),
    "deletions in a row are one step": ("abcd", ["backspace", "backspace", "ctrl+_"], "abcd|"),
    "up keeps the column": ("long line\nx\nlong line", ["up", "up"], "long line|\nx\nlong line"),
    "up keeps the column in cells": ("ab日本\n日本cd", ["left", "left", "up"], "ab日|本\n日本cd"),
    "a motion sets a new column": ("long line\nx\nlong line", ["up", "left", "up"], "|long line\nx\nlong line"),
    "page up": ("\n".join("abcdefgh"), ["pageup"], "\n".join(["a|", *"bcdefgh"])),
}


@pytest.mark.parametrize(("text", "keys", "expected"), JOURNEYS.values(), ids=JOURNEYS.keys())
def test_keys_lead_to_text_and_cursor(text, keys, expected):
    """Each key does what its name says, between whole clusters."""
    made = editor(text)
    press(made, *keys)
    assert with_bar(made) == expected


def test_up_and_down_go_over_wrapped_rows_in_their_column():
    """A soft-wrapped line is several rows to up and down."""
    made = editor("aaaa bbbb cccc dddd")
    made.render(11)
    assert body(made, 11) == ["aaaa bbbb", "cccc dddd|"]
    press(made, "left", "left", "up")
    assert body(made, 11)[0] == "aaaa bb|bb"
    press(made, "down")
    assert body(made, 11)[1] == "cccc dd|dd"


def test_up_into_a_full_row_that_goes_on_stays_in_it():
    """The end of such a row is the beginning of the next: the cursor stands on its last character instead."""
    made = editor("aaaaaaaaaa\nbbbbb")
    assert body(made, 7) == ["aaaaa", "aaaaa", "bbbbb|"]
    press(made, "up", "up")
    assert made.cursor == (0, 4)
    press(made, "down")
    assert made.cursor == (0, 10)


def test_a_shrinking_text_leaves_no_empty_rows():
    """When lines go at the end, the window moves back to be full."""
    made = editor("\n".join("abcdef"), max_rows=3)
    press(made, "backspace", "backspace")
    assert body(made) == ["c", "d", "e|"]


def test_enter_submits_and_empties():
    """The text goes out once, the editor is ready for the next."""
    got = []
    made = editor("hello")
    made.on_submit = got.append
    press(made, "enter")
    assert (got, made.text, made.history) == (["hello"], "", ["hello"])
    press(made, "ctrl+_")
    assert made.text == ""


def test_changes_are_told_and_motions_are_not():
    """`on_change` follows the text, not the cursor."""
    got = []
    made = editor()
    made.on_change = got.append
    press(made, "'ab", "left", "backspace", "ctrl+_")
    assert got == ["a", "ab", "b", "ab"]


def test_history_goes_back_and_returns_to_the_draft():
    """Up on the first row and down on the last walk through what was submitted; what was begun waits."""
    made = editor("draft", history=["first", "two\nlines"])
    press(made, "up")
    assert with_bar(made) == "two|\nlines"
    press(made, "up", "up")
    assert made.text == "first"
    press(made, "down")
    assert made.text == "two\nlines"
    press(made, "down")
    assert with_bar(made) == "draft|"
    press(made, "down")
    assert made.text == "draft"


def test_history_does_not_keep_blanks_and_repetitions():
    """What helps nobody is not kept."""
    made = editor(history=["a"])
    made.on_submit = lambda text: None
    for text in ("a", "  ", "b", "b"):
        made.set_text(text)
        press(made, "enter")
    assert made.history == ["a", "b"]


def test_a_recalled_text_that_was_changed_is_a_draft():
    """Changing an old text makes it the one that waits below the newest."""
    made = editor(history=["one", "two"])
    press(made, "up", "'!", "up")
    assert made.text == "two"
    press(made, "down")
    assert made.text == "two!"


def test_rows_scroll_inside_and_say_what_is_hidden():
    """A text taller than the editor shows the rows around the cursor."""
    made = editor("\n".join(f"line {number}" for number in range(20)), max_rows=4)
    rows = shown(made)
    assert [row.strip() for row in rows[1:-1]] == ["line 16", "line 17", "line 18", "line 19|"]
    assert "↑ 16 more" in rows[0]
    press(made, "ctrl+home")
    rows = shown(made)
    assert "↓ 16 more" in rows[-1]
    assert "more" not in rows[0]
    press(made, "down", "down", "down", "down")
    assert [row.strip() for row in shown(made)[1:-1]] == ["line 1", "line 2", "line 3", "|line 4"]


def test_the_placeholder_shows_while_there_is_no_text():
    """An empty editor says what it is for."""
    made = editor(placeholder="ask anything")
    assert body(made) == ["|ask anything"]
    type_text(made, "x")
    assert body(made) == ["x|"]


def test_the_border_shows_title_and_role():
    """An application shows its modes on the rules."""
    theme = Theme({"warning": "\x1b[33m", "title": "\x1b[1m"})
    made = Editor(theme=theme)
    made.border_role, made.title = "warning", "shell\x1b]0;x\x07"
    top, _, bottom = made.render(20)
    assert "\x1b[1m shell \x1b[0m" in top
    assert bottom == "\x1b[33m" + "─" * 20 + "\x1b[0m"


def test_the_cursor_is_marked_while_the_editor_has_the_focus():
    """Nobody else's rows hold the mark."""
    made = Editor()
    made.focused = True
    made.set_text("日x")
    assert made.render(20)[1] == f" 日x{CURSOR}"
    press(made, "ctrl+home")
    assert made.render(20)[1] == f" {CURSOR}日x"
    made.focused = False
    assert made.render(20)[1] == " 日x"


def test_an_unchanged_editor_returns_the_same_rows():
    """Identity is how the engine knows that nothing changed."""
    made = editor("text")
    rows = made.render(40)
    assert made.render(40) is rows
    press(made, "left")
    moved = made.render(40)
    assert moved is not rows
    made.title = "t"
    assert made.render(40) is not moved
    rows = made.render(40)
    made.invalidate()
    assert made.render(40) is not rows


def test_keys_without_a_meaning_are_left_to_others():
    """ctrl+d on an empty text, ctrl+c, escape without a listener and releases are not taken."""
    made = editor()
    assert not made.handle_input(Key("d", ctrl=True))
    assert not made.handle_input(Key("c", ctrl=True))
    assert not made.handle_input(Key("escape"))
    assert not made.handle_input(Key("a", text="a", kind="release"))
    assert made.text == ""


def test_escape_is_told():
    """Escape with nothing to close is the application's."""
    got = []
    made = editor()
    made.on_escape = lambda: got.append(True)
    assert made.handle_input(Key("escape"))
    assert got == [True]


def test_tabs_are_kept_in_the_text_and_shown_as_blanks():
    """A pasted tab is submitted as a tab."""
    made = editor()
    paste(made, "a\tb")
    assert made.text == "a\tb"
    assert body(made) == ["a    b|"]


def test_a_wide_character_in_a_row_of_one_cell_is_a_sign_for_one():
    """No row is ever wider than asked for."""
    made = editor("日")
    assert all(measure(row) <= 1 for row in made.render(1))


def test_a_megabyte_costs_only_the_rows_around_the_cursor(monkeypatch):
    """Of a text of 20,000 lines a key wraps a handful."""
    made = editor("\n".join(f"line {number} " + "words " * 8 for number in range(20_000)), max_rows=10)
    made.render(40)
    from sightline.tty.components.editor import _layout

    wrapped = []
    original = _layout.WrappedLine

    def counted(line, *rest):
        wrapped.append(line)
        return original(line, *rest)

    monkeypatch.setattr(_layout, "WrappedLine", counted)
    press(made, "'x", "up", "ctrl+home", "'y")
    made.render(40)
    assert len(wrapped) < 40


def test_history_is_searched_by_typing_a_part():
    """Newest first, each once, capitals or not; the key again goes on to an older one, enter takes it to edit."""
    made = editor("draft", history=["Fix the ledger", "other", "fix the painter", "other"])
    press(made, "ctrl+r")
    assert "search: type a part" in shown(made)[0]
    press(made, "'FIX t")
    assert "search: FIX t (1/2) › fix the painter" in shown(made, 60)[0]
    press(made, "ctrl+r", "ctrl+r")
    assert "(2/2) › Fix the ledger" in shown(made, 60)[0]
    press(made, "enter", "'!")
    assert body(made) == ["Fix the ledger!|"]
    press(made, "ctrl+_", "ctrl+_")
    assert made.text == "draft"


def test_a_search_that_is_left_changes_nothing():
    """Escape, and enter on nothing; what is deleted of the query widens it again, and other keys do not edit."""
    changes = []
    made = editor("draft", history=["one"])
    made.on_change = changes.append
    press(made, "ctrl+r", "'onex")
    assert "onex (nothing found)" in shown(made)[0]
    press(made, "backspace", "left", "ctrl+k")
    assert "(1/1) › one" in shown(made)[0]
    press(made, "escape")
    assert "search" not in shown(made)[0]
    press(made, "ctrl+r", "'zzz", "enter")
    assert (made.text, changes) == ("draft", [])
