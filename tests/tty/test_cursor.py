"""The cursor: its mark is taken out of the rows, and one is drawn where the terminal's own is not to be used."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty._component import CURSOR
from sightline.tty.cells._link import link
from sightline.tty.cells._marks import strip_marks
from sightline.tty.cells._width import measure, pad, slice_columns
from sightline.tty.frame._cursor import drawn, take_mark
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display

FAMILY = "👨‍👩‍👧"
RED, REVERSE, RESET = "\x1b[31m", "\x1b[7m", "\x1b[0m"

_PIECES = st.sampled_from(["a", "b ", " ", "日", "é", "e\u0301", FAMILY, "🇨🇭", RED, "\x1b[1;44m", RESET])
_ROWS = st.lists(_PIECES, max_size=12).map("".join)


def drawn_in(row: str, column: int, width: int = 10) -> str:
    return drawn([row], (0, column), width)[0]


def test_the_mark_is_taken_out_and_its_place_told() -> None:
    """The column counts cells: wide characters are two, style none."""
    rows, place = take_mark(["above", f"{RED}日a{CURSOR}b{RESET}", "below"])
    assert rows == ["above", f"{RED}日ab{RESET}", "below"]
    assert place == (1, 3)


def test_rows_without_a_mark_have_no_cursor() -> None:
    """Nobody has the focus: the rows are as they were."""
    assert take_mark(["one", "two"]) == (["one", "two"], None)
    assert take_mark([]) == ([], None)


@pytest.mark.parametrize(
    ("row", "column", "wanted"),
    [
        ("abc", 1, f"a{REVERSE}b{RESET}c"),
        ("abc", 0, f"{REVERSE}a{RESET}bc"),
        ("", 0, f"{REVERSE} {RESET}"),
        ("日本語", 2, f"日{REVERSE}本{RESET}語"),
        ("日本語", 3, f"日{REVERSE}本{RESET}語"),
        (f"a{FAMILY}b", 1, f"a{REVERSE}{FAMILY}{RESET}b"),
        ("e\u0301x", 0, f"{REVERSE}e\u0301{RESET}x"),
    ],
    ids=["ascii", "first cell", "empty row", "wide", "second half of a wide one", "joined emoji", "combining"],
)
def test_the_character_under_the_cursor_is_reversed(row: str, column: int, wanted: str) -> None:
    """Whole characters only, however many cells and code points they have."""
    assert drawn_in(row, column) == wanted


def test_behind_the_text_the_cursor_is_a_blank() -> None:
    """The cells before it are filled up."""
    assert drawn_in("ab", 2) == f"ab{REVERSE} {RESET}"
    assert drawn_in("ab", 5) == f"ab   {REVERSE} {RESET}"


def test_at_the_right_edge_it_stays_in_the_row() -> None:
    """Behind a full row it is on the last character, as the terminal's own would be."""
    assert drawn_in("abcd", 4, 4) == f"abc{REVERSE}d{RESET}"
    assert drawn_in("ab日", 4, 4) == f"ab{REVERSE}日{RESET}"
    assert drawn_in("ab", 99, 4) == f"ab {REVERSE} {RESET}"


def test_a_row_that_is_too_wide_is_cut_before_it_is_drawn_into() -> None:
    """A character that the edge cuts in half is a blank, and the cursor on it is still seen."""
    assert drawn_in("abcdef", 9, 4) == f"abc{REVERSE}d{RESET}"
    assert drawn_in("abc日", 3, 4) == f"abc{REVERSE} {RESET}"


def test_inside_a_styled_run_the_style_goes_on_behind_it() -> None:
    """The cursor looks the same everywhere: neither style nor link is under it."""
    assert drawn_in(f"{RED}abc{RESET}", 1) == f"{RED}a{RESET}{REVERSE}b{RESET}{RED}c{RESET}"
    address = "https://example.org/"
    assert drawn_in(link(address, "abc"), 1) == f"{link(address, 'a')}{REVERSE}b{RESET}{link(address, 'c')}"


def test_only_its_row_is_drawn_anew() -> None:
    """Every other row stays as it is."""
    rows = ["one", "two", "three"]
    assert drawn(list(rows), (1, 0), 10) == ["one", f"{REVERSE}t{RESET}wo", "three"]


@given(_ROWS, st.integers(0, 20), st.integers(1, 16))
def test_drawing_changes_the_style_of_cells_and_nothing_else(row: str, column: int, width: int) -> None:
    """Without style the row reads as before, filled up to the cursor; it is never wider than the width."""
    shown = drawn_in(row, column, width)
    plain = strip_marks(slice_columns(row, 0, width))
    assert strip_marks(shown) == (plain if measure(plain) > min(column, width - 1) else pad(plain, measure(shown)))
    assert measure(shown) <= width
    assert measure(shown) >= min(column, width - 1) + 1
    assert shown.count(REVERSE) == 1


def test_s9_without_the_hardware_cursor_the_engine_draws_one() -> None:
    """§9: the terminal's stays hidden; the drawn one moves with the mark and leaves nothing behind."""
    paper, lines = Paper(), Lines(f"> a{CURSOR}b", "below")
    display = a_display(paper, cursor=False)
    display.add(lines)
    display.render_now()
    assert paper.modes["25"] is False
    assert paper.tape == ["> ab", "below"]
    assert f"> a{REVERSE}b{RESET}" in paper.written[-1]
    lines.set([f"> ab{CURSOR}", "below"])
    display.render_now()
    assert paper.modes["25"] is False
    assert paper.tape == ["> ab", "below"]
    assert f"b{REVERSE} " in paper.written[-1]
    lines.set(["> ab", "below"])
    display.render_now()
    assert paper.tape == ["> ab", "below"]
    assert REVERSE not in paper.written[-1]
