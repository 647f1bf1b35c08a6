"""Trees: guides, keys, selection."""

import pytest

from sightline.tty.cells._width import measure
from sightline.tty.components._tree import Tree, TreeNode
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import Theme


@pytest.fixture
def roots():
    return [
        TreeNode("src", [TreeNode("tty", [TreeNode("a.py"), TreeNode("b.py")]), TreeNode("text")], expanded=True),
        TreeNode("docs"),
    ]


def press(tree, *names):
    return [tree.handle_input(Key(name)) for name in names]


def test_it_draws_guides_and_marks(roots):
    """What is open, what is closed and what has nothing below it differ by sign, not by colour."""
    roots[0].children[0].expanded = True
    assert list(Tree(roots).render(40)) == [
        "› ▾ src",
        "  ├─ ▾ tty",
        "  │  ├─ ◦ a.py",
        "  │  └─ ◦ b.py",
        "  └─ ◦ text",
        "  ◦ docs",
    ]


def test_up_and_down_move_and_stop_at_the_ends(roots):
    """The selection is always on a row that is there."""
    tree = Tree(roots)
    press(tree, "up")
    assert tree.selected is roots[0]
    press(tree, "down", "down", "down", "down", "down")
    assert tree.selected is roots[1]
    assert tree.render(40)[3] == "› ◦ docs"


def test_right_opens_then_goes_in_and_left_closes_then_goes_out(roots):
    """The way in and the way out are mirror images."""
    tree = Tree(roots)
    press(tree, "down", "right")
    assert len(tree.render(40)) == 6
    press(tree, "right")
    assert tree.selected.label == "a.py"
    press(tree, "left")
    assert tree.selected.label == "tty"
    press(tree, "left")
    assert len(tree.render(40)) == 4
    press(tree, "left", "left")
    assert len(tree.render(40)) == 2


def test_enter_chooses_or_opens(roots):
    """With someone to tell, the node is handed over; without, enter opens and closes like space."""
    chosen = []
    press(Tree(roots, on_select=chosen.append), "enter")
    assert chosen == [roots[0]]
    tree = Tree(roots)
    press(tree, "enter")
    assert len(tree.render(40)) == 2
    press(tree, "space")
    assert len(tree.render(40)) == 4


def test_keys_are_the_persons_own(roots):
    """tui.md, "Respect user-configured app keybindings"."""
    tree = Tree(roots, bindings=Bindings({"select_down": "j"}))
    assert press(tree, "j", "down", "x") == [True, False, False]
    assert tree.selected.label == "tty"
    assert not tree.handle_input(Paste("j"))


def test_rows_change_only_when_something_did(roots):
    """tui.md, core component contract."""
    tree = Tree(roots)
    first = tree.render(40)
    press(tree, "up")
    assert tree.render(40) is first
    press(tree, "down")
    assert tree.render(40) is not first


def test_a_long_tree_shows_a_window_and_where_it_is():
    """Bounded, and the bound is visible."""
    tree = Tree([TreeNode(f"n{index}") for index in range(100)], max_rows=5)
    press(tree, *["down"] * 49)
    assert list(tree.render(20)) == ["  ◦ n47", "  ◦ n48", "› ◦ n49", "  ◦ n50", "  (50/100)"]


def test_depth_does_not_matter():
    """Deeper than the interpreter's stack, and wider than the screen: the label still shows."""
    node = TreeNode("leaf")
    for _ in range(3000):
        node = TreeNode("up", [node], expanded=True)
    rows = Tree([node]).render(30)
    assert len(rows) == 3001
    assert "leaf" in rows[-1]
    assert max(map(measure, rows)) <= 30


def test_an_empty_tree_says_so_and_has_no_selection():
    """Nothing to choose, keys do no harm."""
    tree = Tree([])
    press(tree, "down", "enter", "left")
    assert list(tree.render(20)) == ["  nothing here"]
    assert tree.selected is None
    tree.set_roots([TreeNode("a")])
    assert list(tree.render(10)) == ["› ◦ a"]


def test_home_end_and_pages_move_far():
    """A page is what is shown but one; past the ends is the end."""
    tree = Tree([TreeNode(f"n{index}") for index in range(100)], max_rows=6)
    seen = []
    for name in ("pagedown", "pagedown", "pageup", "end", "pagedown", "home", "pageup"):
        press(tree, name)
        seen.append(tree.selected.label)
    assert seen == ["n5", "n10", "n5", "n99", "n99", "n0", "n0"]


def test_a_reversed_row_is_one_bar_without_patches(roots):
    """As wide as there is room; what is dim or coloured elsewhere is not in it. On a background colours stay."""
    styles = {"accent": "\x1b[36m", "border": "\x1b[2m", "muted": "\x1b[2m"}
    reversed_row = Tree(roots, theme=Theme({**styles, "selection": "\x1b[7m"})).render(12)[0]
    assert reversed_row == "\x1b[7m› ▾ src     \x1b[0m"
    row = Tree(roots, theme=Theme({**styles, "selection": "\x1b[44m"})).render(12)[0]
    assert row == "\x1b[44m\x1b[36m› \x1b[0m\x1b[44m\x1b[2m▾ \x1b[0m\x1b[44msrc     \x1b[0m"
