"""Progress bars: eighths of a cell, a number beside them, and nothing that cannot be drawn."""

import pytest

from sightline.tty.cells._width import measure
from sightline.tty.components._progress import ProgressBar


@pytest.mark.parametrize(
    ("value", "bar"),
    [
        (0, "░░░░░░░░░░   0 %"),
        (50, "█████░░░░░  50 %"),
        (51.25, "█████▏░░░░  51 %"),
        (58.75, "█████▉░░░░  58 %"),
        (99.99, "█████████▉  99 %"),
        (100, "██████████ 100 %"),
        (150, "██████████ 100 %"),
        (-5, "░░░░░░░░░░   0 %"),
        (float("nan"), "░░░░░░░░░░   0 %"),
        (float("inf"), "░░░░░░░░░░   0 %"),
    ],
)
def test_a_cell_has_eight_steps(value, bar):
    """The bar is never full before the work is done, and a number says the same without colour."""
    assert list(ProgressBar(value, 100).render(16)) == [bar]


def test_label_bar_and_number():
    """The label gives way first, then the bar; the number stays."""
    bar = ProgressBar(1, 2, "copying files")
    assert bar.render(29)[0].startswith("copying files ████")
    assert list(bar.render(17)) == ["copyi… ██░░  50 %"]
    assert list(bar.render(5)) == ["50 %"]
    assert list(bar.render(2)) == ["5…"]


def test_without_a_total_it_moves_and_counts():
    """Nobody knows how long: a piece of bar goes on with the count."""
    bar = ProgressBar(0)
    first = bar.render(12)
    bar.set(3)
    assert list(first) == ["██░░░░░░░░ 0"]
    assert list(bar.render(12)) == ["░░░██░░░░░ 3"]
    bar.set(12_345)
    assert measure(bar.render(16)[0]) == 16


def test_nothing_to_do_is_done():
    """A total of nothing is no division by it."""
    assert ProgressBar(0, 0).render(16)[0].endswith("100 %")


def test_the_same_state_gives_the_same_rows():
    """tui.md, core component contract."""
    bar = ProgressBar(1, 10, "x")
    rows = bar.render(30)
    bar.set(1, 10)
    assert bar.render(30) is rows
    bar.set(2, 10)
    assert bar.render(30) is not rows
