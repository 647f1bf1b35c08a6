"""A list to choose from."""

import time

import pytest

from sightline.tty._component import CURSOR
from sightline.tty.cells._width import measure
from sightline.tty.components._select import Item, SelectList
from sightline.tty.input._keys import Key, Paste
from sightline.tty.theme._theme import Theme

from .editor_support import items, press, shown, type_text


def select(*labels: str, **options: object) -> SelectList:
    made = SelectList(items(*labels), **options)
    made.focused = True
    return made


def lines(made: SelectList, width: int = 40) -> list[str]:
    return [row.rstrip() for row in shown(made, width)]


@pytest.mark.parametrize(
    ("keys", "highlighted"),
    [
        (["down"], "b"),
        (["up"], "e"),
        (["down"] * 5, "a"),
        (["ctrl+n", "ctrl+n", "ctrl+p"], "b"),
        (["pagedown"], "d"),
        (["pagedown", "pagedown"], "e"),
        (["end"], "e"),
        (["end", "pageup"], "b"),
        (["end", "home"], "a"),
    ],
)
def test_keys_highlight(keys, highlighted):
    """Up and down go round, pages and ends stop."""
    made = select("a", "b", "c", "d", "e", max_rows=3)
    press(made, *keys)
    assert made.highlighted.value == highlighted


def test_the_window_moves_only_when_it_must():
    """As few rows as possible change, and one sees where one is."""
    made = select(*"abcdef", max_rows=3)
    assert lines(made) == ["› a", "  b", "  c", "  (1/6)"]
    press(made, "down", "down", "down")
    assert lines(made) == ["  b", "  c", "› d", "  (4/6)"]
    press(made, "up")
    assert lines(made) == ["  b", "› c", "  d", "  (3/6)"]


def test_callbacks():
    """Choosing, leaving and looking are told."""
    got = []
    made = select("a", "b")
    made.on_select = lambda item: got.append(("select", item.value))
    made.on_cancel = lambda: got.append("cancel")
    made.on_highlight = lambda item: got.append(("highlight", item.value))
    press(made, "down", "enter", "escape")
    assert got == [("highlight", "b"), ("select", "b"), "cancel"]


def test_typing_filters_and_the_best_is_highlighted():
    """The query has a row of its own, with the cursor."""
    made = select("commit", "checkout", "compare", filter=True)
    type_text(made, "com")
    assert lines(made) == ["› com|", "› commit", "  compare"]
    made.handle_input(Paste("p"))
    assert made.highlighted.value == "compare"
    press(made, "backspace", "backspace", "backspace", "backspace")
    assert lines(made) == ["› |", "› commit", "  checkout", "  compare"]
    type_text(made, "one two")
    press(made, "ctrl+w")
    assert made.query == "one "
    press(made, "ctrl+u")
    assert made.query == ""


def test_nothing_that_matches_says_so():
    """An empty list is a row too."""
    made = select("a", filter=True, empty="no such thing")
    type_text(made, "x")
    assert lines(made) == ["› x|", "no such thing"]
    press(made, "enter", "down", "end", "pagedown")
    assert made.highlighted is None


def test_without_a_filter_letters_are_left_to_others():
    """A list without a filter does not take what is typed."""
    assert not select("a").handle_input(Key("x", text="x"))


def test_matched_letters_are_marked():
    """One sees why an item is there."""
    made = SelectList(items("xx", "get_string"), filter=True, theme=Theme({"match": "\x1b[1m"}))
    type_text(made, "gs")
    assert made.render(40)[1].rstrip() == "› \x1b[1mg\x1b[0met_\x1b[1ms\x1b[0mtring"


def test_the_highlighted_row_keeps_its_background_over_marked_letters():
    """A style that ends inside the row does not end the row's."""
    made = SelectList(items("ab"), filter=True, theme=Theme({"match": "\x1b[1m", "selection": "\x1b[44m"}))
    type_text(made, "a")
    assert made.render(6)[1] == "\x1b[44m› \x1b[1ma\x1b[0m\x1b[44mb  \x1b[0m"


def test_a_label_may_have_a_role_of_its_own():
    """While letters are marked it has none: one style at a time."""
    made = SelectList([Item("a", "ab", role="x"), Item("c", "cd")], filter=True, theme=Theme({"x": "\x1b[35m"}))
    assert lines(made)[1:] == ["› \x1b[35mab\x1b[0m", "  cd"]
    type_text(made, "a")
    assert lines(made)[1:] == ["› ab"]


def test_a_reversed_row_is_one_bar_without_patches():
    """Colours and dim inside it would become patches of background."""
    made = SelectList([Item("a", "a", "first")], theme=Theme({"muted": "\x1b[2m", "selection": "\x1b[7m"}))
    assert made.render(20)[0] == "\x1b[7m› a  first          \x1b[0m"


def test_descriptions_stand_in_a_column_of_their_own():
    """Labels are padded to the longest."""
    made = SelectList([Item("a", "a", "first"), Item("bbb", "bbb", "second")])
    assert lines(made) == ["› a    first", "  bbb  second"]


def test_groups_have_headings_while_nothing_is_typed():
    """And the window still holds no more rows than allowed."""
    grouped = [Item(name, name, group="one" if name in "ab" else "two") for name in "abcd"]
    made = SelectList(grouped, 4, filter=True)
    assert lines(made)[1:] == ["one", "› a", "  b", "two", "  (1/4)"]
    press(made, "down", "down", "down")
    assert lines(made)[1:] == ["two", "  c", "› d", "  (4/4)"]
    type_text(made, "c")
    assert lines(made)[1:] == ["› c"]


def test_an_unchanged_list_returns_the_same_rows():
    """Identity is how the engine knows."""
    made = select("a", "b")
    rows = made.render(20)
    assert made.render(20) is rows
    press(made, "down")
    assert made.render(20) is not rows


@pytest.mark.parametrize("width", [0, 1, 2, 3, 19, 20, 25])
def test_rows_fit_any_width(width):
    """However narrow, with everything that can be on a row."""
    made = SelectList([Item("x", "日本語" * 9, "説明" * 20, "組" * 30)] * 30, 5, filter=True)
    made.focused = True
    for _ in range(2):
        rows = made.render(width)
        assert all(measure(row) <= width for row in rows)
        assert "".join(rows).count(CURSOR) == 1
        type_text(made, "日" * 8)


def test_ten_thousand_items_are_filtered_between_two_keys():
    """Every key of a growing query is answered in five milliseconds of work (measured; the bound leaves room)."""
    labels = [f"src/{'abcdefgh'[number % 8]}/module_{number}/render_{number % 97}.py" for number in range(10_000)]
    made = select(*labels, filter=True)
    slowest = 0.0
    for letter in "render42":
        begun = time.process_time()
        type_text(made, letter)
        made.render(80)
        slowest = max(slowest, time.process_time() - begun)
    assert len(made) > 0
    assert slowest < 0.05


def test_a_novel_pasted_as_a_query_does_not_hold_up_the_keys():
    """Found by a monkey: every key after it searched for hundreds of thousands of letters."""
    made = select(*(f"item {number}" for number in range(100)), filter=True)
    began = time.perf_counter()
    made.handle_input(Paste("ab cd 漢字 " * 20_000))
    made.handle_input(Key("x", "x"))
    assert len(made.query) <= 256
    assert time.perf_counter() - began < 0.5


def test_a_long_label_takes_the_room_descriptions_leave():
    """On a wide terminal it is cut only where it must be."""
    label = "python -m pytest -q tests/views/console/selectors tests/tty"
    items = [Item("1", label, "◌ running · 12 s"), Item("2", "short", "✓ ok")]
    assert label in SelectList(items).render(100)[0]
    described = [Item("1", label, "x" * 200)]
    assert label not in SelectList(described).render(100)[0]
