"""Boxes: frame, title, padding, background, and what is inside them."""

import pytest

from sightline.tty._component import CURSOR, Component
from sightline.tty._images import ImageRow
from sightline.tty.cells._width import measure
from sightline.tty.components._box import Box
from sightline.tty.components._container import Container
from sightline.tty.components._input import Input
from sightline.tty.components._select import Item, SelectList
from sightline.tty.components._text import TextComponent
from sightline.tty.frame._overlays import Overlay
from sightline.tty.input._keys import Key
from sightline.tty.theme._theme import Theme
from tests.tty.paper import Paper
from tests.tty.support import a_display


class Fixed(Component):
    def __init__(self, *rows):
        self.rows = rows
        self.disposed = False

    def render(self, width):
        return self.rows

    def dispose(self):
        self.disposed = True


def test_a_rounded_frame_with_a_title():
    """The frame is as wide as it may be, what is inside is filled up to it."""
    assert list(Box(TextComponent("hello\nyou"), title="Note").render(14)) == [
        "╭─ Note ─────╮",
        "│ hello      │",
        "│ you        │",
        "╰────────────╯",
    ]


def test_other_borders():
    """Heavy lines; no lines at all leave only the padding."""
    assert list(Box(TextComponent("a"), border="heavy", padding_y=1).render(7)) == [
        "┏━━━━━┓",
        "┃     ┃",
        "┃ a   ┃",
        "┃     ┃",
        "┗━━━━━┛",
    ]
    assert list(Box(TextComponent("a"), border="none", padding_x=2).render(7)) == ["  a"]


def test_too_narrow_for_a_frame_there_is_none():
    """tui-core-renderer.md §3.8: clamp, never fail; what is inside is worth more than the frame."""
    assert list(Box(TextComponent("ab")).render(4)) == [" ab"]
    assert list(Box(TextComponent("ab")).render(1)) == ["a", "b"]


def test_a_long_title_is_cut():
    """The frame keeps its width."""
    rows = Box(TextComponent("a"), title="a title that is too long").render(12)
    assert {measure(row) for row in rows} == {12}
    assert "…" in rows[0]


def test_a_background_lies_under_everything_inside():
    """From border to border, under styled text too."""
    theme = Theme({"selection": "\x1b[44m", "error": "\x1b[31m"})
    box = Box(TextComponent("a", "error", theme=theme), background="selection", theme=theme)
    assert box.render(7)[1] == "│\x1b[44m \x1b[31ma\x1b[0m\x1b[44m   \x1b[0m│"


def test_unchanged_children_give_the_same_rows():
    """tui.md, core component contract: the frame is made anew only when a child, the title or the border changed."""
    text = TextComponent("a")
    box = Box(text)
    first = box.render(20)
    assert box.render(20) is first
    text.set_text("b")
    second = box.render(20)
    assert second is not first
    assert first[1] == "│ a                │"
    box.set_title("t")
    third = box.render(20)
    assert third is not second
    box.set_border("border_active")
    assert box.render(20) is not third


def test_a_child_too_wide_is_cut():
    """A component that breaks the contract does not break the frame."""
    assert {measure(row) for row in Box(Fixed("x" * 50)).render(20)} == {20}


def test_the_cursor_mark_stays_in_the_row():
    """The mark takes no cell: the frame closes where it would without it."""
    assert Box(Fixed(f"a{CURSOR}b")).render(8)[1] == f"│ a{CURSOR}b   │"


def test_a_graphic_is_moved_with_its_row():
    """tui-core-renderer.md §8: an image in a box is drawn behind the border, not over it."""
    row = Box(Fixed("", ImageRow("", "draw", 2))).render(8)[2]
    assert isinstance(row, ImageRow)
    assert (str(row), row.sequence, row.height) == ("│      │", "\r\x1b[2Cdraw", 2)


def test_it_knows_its_children():
    """For renders of one component, and to end what they own."""
    child, other = Fixed("a"), Fixed("b")
    box = Box(Box(child))
    assert box.contains(child)
    assert box.contains(box)
    assert not box.contains(other)
    box.dispose()
    assert child.disposed


@pytest.mark.parametrize("hold", [Box, lambda *children: Container(children)])
def test_keys_and_focus_go_to_the_child_that_takes_them(hold):
    """A list in a box in a box, below words, is chosen from; the cursor is in its query and in nothing else."""
    choices = SelectList([Item("a", "a"), Item("b", "b")], filter=True)
    field = Input()
    chosen = []
    choices.on_select = chosen.append
    outer = hold(TextComponent("which?"), Box(Box(choices)), field)
    outer.focused = True
    assert [choices.focused, field.focused] == [True, False]
    assert sum(CURSOR in row for row in outer.render(30)) == 1
    assert [outer.handle_input(Key(name)) for name in ("down", "enter")] == [True, True]
    assert [item.value for item in chosen] == ["b"]
    outer.focused = False
    assert not choices.focused
    assert not any(CURSOR in row for row in outer.render(30))


def test_the_focus_follows_the_children():
    """One that comes later gets it; with nobody who takes keys they mean nothing."""
    box = Box(TextComponent("words"))
    box.focused = True
    assert not box.handle_input(Key("enter"))
    first, second = Input(), Input()
    box.children.append(first)
    box.render(20)
    assert [first.focused, box.handle_input(Key("x", text="x")), box.wants_key_release] == [True, True, False]
    second.wants_key_release = True
    box.children[1] = second
    box.render(20)
    assert [first.focused, second.focused, box.wants_key_release] == [False, True, True]


def test_a_list_in_a_box_is_chosen_from_as_an_overlay():
    """The dialog has the keys; nothing else is needed to make it go away."""
    display = a_display(Paper())
    choices = SelectList([Item("yes", "Yes")])
    handle = display.show_overlay(Box(choices), Overlay())
    choices.on_select = lambda item: handle.hide()
    display.handle_input(Key("enter"))
    assert display.focus.component is None
