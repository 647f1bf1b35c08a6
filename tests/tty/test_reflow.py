"""What a multiplexer makes of the window when its size changes, and where text goes on after it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty import wrap
from sightline.tty.frame._continuation import HistoryMark, end_of_history, letters_of, rest_after
from sightline.tty.frame._reflow import reflowed
from tests.tty.support import Words


@pytest.mark.parametrize(
    ("used", "cursor", "width", "height", "wanted"),
    [
        pytest.param([10, 10, 10], (2, 0), 80, 24, (0, 2), id="nothing-changes"),
        pytest.param([10, 100, 10], (2, 0), 80, 24, (1, 2), id="a-wide-row-takes-two-and-pushes-one-out"),
        pytest.param([10] * 10, (9, 0), 80, 4, (6, 3), id="fewer-rows-push-the-first-out"),
        pytest.param([10] * 10, (4, 0), 80, 6, (0, 4), id="rows-below-the-cursor-go-first"),
        pytest.param([100] * 4, (3, 0), 50, 4, (2, 2), id="wrapped-rows-push-the-first-out"),
        pytest.param([], (0, 0), 80, 24, (0, 0), id="nothing-painted"),
    ],
)
def test_rows_that_left_the_screen(
    used: list[int], cursor: tuple[int, int], width: int, height: int, wanted: tuple[int, int]
) -> None:
    rows = ["x" * cells for cells in used]
    assert reflowed(rows, used, cursor, width, height) == wanted


def test_a_wide_character_that_does_not_fit_takes_its_row_one_further() -> None:
    assert reflowed(["漢" * 8, "x"], [16, 1], (1, 0), 5, 24) == (1, 0)
    assert reflowed(["漢" * 8, "x"], [16, 1], (1, 0), 16, 24) == (0, 1)


def test_a_cluster_in_doubt_counts_as_the_fewest_rows() -> None:
    """tmux breaks a flag in two at the end of a row, others do not: a row too many would cost a row of history."""
    flag = "x" * 9 + "🇩🇪" + "x" * 9
    assert reflowed([flag, "x"], [20, 1], (1, 0), 10, 24) == (1, 0)
    assert reflowed(["", "", flag, "x"], [0, 0, 20, 1], (3, 0), 10, 24) == (1, 3)


def test_a_cluster_in_doubt_at_the_end_of_a_row_may_have_taken_no_cell() -> None:
    """tmux takes a heart for one cell where it is two: the row then still fits."""
    heart = "x" * 9 + "❤\ufe0f"
    assert reflowed([heart, "x"], [11, 1], (1, 0), 10, 24) == (0, 1)
    assert reflowed(["", heart, "x"], [0, 20, 1], (2, 0), 10, 24) == (1, 2), "unless more was written once"


@given(st.lists(st.text("abc,.", min_size=1, max_size=9), min_size=1, max_size=60), st.data())
def test_text_goes_on_after_history_at_any_other_width(words: list[str], data: st.DataObject) -> None:
    """No letter is lost and none doubled, wherever the old width had broken the rows."""
    text = Words(*words)
    old = text.render(data.draw(st.integers(9, 40)))
    history = old[: data.draw(st.integers(0, len(old)))]
    mark = HistoryMark()
    mark.add(history)
    new = text.render(data.draw(st.integers(9, 40)))
    done, rest = rest_after(new, mark)
    after = new[done:] if rest is None else [rest, *new[done + 1 :]]
    assert _letters(history) + _letters(after) == _letters(new)


def test_punctuation_stays_with_its_word() -> None:
    mark = HistoryMark()
    mark.add(["one, two,"])
    assert rest_after(["one, two, three"], mark) == (0, "three")


def test_words_that_a_narrower_layout_cuts_off_do_not_count() -> None:
    """A caption that is cut at the new width must not cost the text after it its first letters."""
    mark = HistoryMark()
    mark.add(["a caption that is longer than the new row", 'rows = ["row 1", "row 2", "r'])
    rows = ["a caption tha…", 'rows = ["row 1",', '"row 2", "row 3"]']
    assert rest_after(rows, mark) == (2, 'ow 3"]')


def test_what_is_not_found_again_is_shown_again() -> None:
    """Doubled, never lost."""
    mark = HistoryMark()
    mark.add(["something else entirely"])
    assert rest_after(["new words", "and more"], mark) == (0, None)


def test_a_blank_row_that_is_history_is_not_shown_again() -> None:
    mark = HistoryMark()
    mark.add(["one", ""])
    assert rest_after(["one", "", "two"], mark) == (2, None)


def test_rows_at_risk_are_history_as_far_as_they_stand_as_they_stood() -> None:
    """The third row has grown at another width: what follows is the rest of it."""
    rows = ["one two", "three four", "five"]
    assert end_of_history(rows, ["one", "two three", "fo"], 1) == (0, 1, "ur")
    assert end_of_history(rows, ["one", "two three", "four five"], 1) == (0, 3, None)
    assert end_of_history([*rows, "", "six"], ["one two three", "four five", ""], 0) == (0, 4, None)


def test_a_row_at_risk_that_changed_is_shown_again_from_there() -> None:
    """Also when it is not a letter that changed."""
    assert end_of_history(["one two", "✓ three", "four"], ["one two", "⠋ three", "four"], 1) == (1, 1, None)
    assert end_of_history(["one two", "three"], ["one", "too"], 1) == (0, 0, "two")


def test_lines_around_rows_at_risk_do_not_count() -> None:
    assert end_of_history(["│ one", "│ two", "three"], ["│ one two", "────"], 0) == (0, 2, None)


def test_letters_are_what_no_layout_adds() -> None:
    assert letters_of("\x1b[1m│ a1 │ 漢 ─── •\x1b[0m") == "a1漢"


def _letters(rows: list[str]) -> str:
    return "".join(char for row in rows for char in row if char.isalnum())


@pytest.mark.parametrize("before", ["", "a heading\n"])
@pytest.mark.parametrize("width", [40, 80, 160])
def test_text_without_letters_goes_on_where_it_stopped(before: str, width: int) -> None:
    """A wider layout has fewer rows of the same signs: not as many rows are history, but as many signs."""
    text = before + "=-" * 4000
    told = wrap(text, 80)[:40]
    mark = HistoryMark()
    mark.add(told)
    rows = wrap(text, width)
    done, rest = rest_after(rows, mark)
    left = rows[done:] if rest is None else [rest, *rows[done + 1 :]]
    assert "".join([*told, *left]) == text.replace("\n", "")
