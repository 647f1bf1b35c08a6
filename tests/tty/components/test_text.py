"""Text, spacer and key hints. tui.md, "Core component contract" and "Rendering constraints"."""

import pytest

from sightline.tty.cells._width import measure
from sightline.tty.components._key_hints import KeyHints
from sightline.tty.components._spacer import Spacer
from sightline.tty.components._text import TextComponent
from sightline.tty.theme._theme import PLAIN, Theme, theme_for
from tests.text.escape_attacks import ATTACKS

RED = Theme({"error": "\x1b[31m"}, depth="16")


def test_it_is_wrapped_at_spaces():
    """Rendering constraints 1 and 3: no row is wider than the width, words stay whole where they fit."""
    assert list(TextComponent("one two three\nfour").render(8)) == ["one two", "three", "four"]


def test_without_wrapping_it_is_cut_and_says_so():
    """One row for each line; what was cut off is marked."""
    assert list(TextComponent("one two three\nfour", wrap=False).render(8)) == ["one two…", "four"]


def test_wide_characters_count_two_cells():
    """Rendering constraint 2: cells are measured, not characters."""
    assert [measure(row) for row in TextComponent("宽宽宽宽").render(5)] == [4, 4]


def test_tabs_become_spaces():
    """Rendering constraint 4: a tab never reaches the terminal."""
    assert list(TextComponent("a\tb").render(20)) == ["a   b"]


def test_a_role_covers_every_row():
    """Each row opens and closes the role itself."""
    assert list(TextComponent("one two", "error", theme=RED).render(3)) == ["\x1b[31mone\x1b[0m", "\x1b[31mtwo\x1b[0m"]


def test_style_in_the_text_is_kept_and_goes_on_in_the_next_row():
    """SGR stays, each row complete in itself, and the role comes back after it."""
    rows = TextComponent("a \x1b[1mbold words\x1b[0m b", "error", theme=RED).render(6)
    assert rows[0] == "\x1b[31ma \x1b[1mbold\x1b[0m\x1b[31m\x1b[0m"
    assert rows[1] == "\x1b[31m\x1b[1mwords\x1b[0m\x1b[31m\x1b[0m"


def test_colours_in_the_text_follow_the_theme():
    """NO_COLOR holds for a command's own colours too; without any styles not even bold is left."""
    text = "\x1b[1;38;2;255;0;0mred\x1b[0m"
    assert list(TextComponent(text, theme=theme_for(dark=True, depth="true")).render(9)) == [
        "\x1b[1;38;2;255;0;0mred\x1b[0m"
    ]
    assert list(TextComponent(text, theme=theme_for(dark=True, depth="none")).render(9)) == ["\x1b[1mred\x1b[0m"]
    assert list(TextComponent(text, theme=PLAIN).render(9)) == ["red"]


def test_hidden_text_is_shown():
    """SGR 8 would conceal what follows: nothing hides from who watches."""
    assert list(TextComponent("\x1b[8msecret\x1b[0m", theme=RED).render(9)) == ["secret"]


@pytest.mark.parametrize(("name", "data"), ATTACKS, ids=[name for name, _ in ATTACKS])
def test_an_attack_hides_nothing_that_follows(name, data):
    """The line after an attack is there, and no payload was obeyed: no title or link is left as a sequence."""
    text = data[-30_000:].decode("utf-8", "replace")
    rows = TextComponent(text, theme=RED, wrap=False).render(80)
    assert any("SAFE" in row for row in rows)
    assert not any("\x1b]" in row for row in rows)


def test_unchanged_text_gives_the_same_rows():
    """Core component contract: the same object while nothing changed, a new one when something did."""
    text = TextComponent("words")
    first = text.render(10)
    assert text.render(10) is first
    text.set_text("words")
    assert text.render(10) is first
    text.set_text("other")
    second = text.render(10)
    assert list(second) == ["other"]
    assert list(first) == ["words"]
    text.invalidate()
    assert text.render(10) is not second


def test_a_theme_that_changed_shows_after_invalidate():
    """The theme is held, not copied."""
    theme = Theme({"error": "\x1b[31m"})
    text = TextComponent("words", "error", theme=theme)
    text.render(10)
    theme.become(Theme({"error": "\x1b[35m"}, name="light", dark=False))
    text.invalidate()
    assert list(text.render(10)) == ["\x1b[35mwords\x1b[0m"]


def test_padding_gives_way_before_the_text_does():
    """Where there is no room for both, text it is."""
    assert list(TextComponent("ab", padding_x=2).render(6)) == ["  ab"]
    assert list(TextComponent("ab", padding_x=2).render(2)) == ["ab"]


def test_no_text_is_no_rows():
    """An empty text takes no room; a blank line does."""
    assert list(TextComponent("").render(10)) == []
    assert list(TextComponent("a\n\nb").render(10)) == ["a", "", "b"]


def test_a_spacer_is_blank_rows():
    """As many as asked for, always the same object."""
    spacer = Spacer(3)
    assert list(spacer.render(10)) == ["", "", ""]
    assert spacer.render(10) is spacer.render(99)
    assert list(Spacer(-1).render(10)) == []


def test_key_hints_show_whole_pairs():
    """The last pair, which leaves, stays; those before it go from their end on. A key alone is better than nothing."""
    hints = KeyHints([("enter", "send"), ("tab", "x"), ("escape", "close")])
    assert list(hints.render(80)) == ["enter send · tab x · escape close"]
    assert list(hints.render(32)) == ["enter send · escape close"]
    assert list(hints.render(24)) == ["escape close"]
    assert list(hints.render(11)) == ["escape"]
    assert list(hints.render(3)) == ["es…"]
    hints.set_hints([])
    assert list(hints.render(80)) == []
