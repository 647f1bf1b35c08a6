"""Things that lie over the window."""

import pytest

from sightline.tty.cells._width import measure
from sightline.tty.frame._overlays import Anchor, Overlay
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display


@pytest.mark.parametrize(
    ("anchor", "row", "column"),
    [
        ("top-left", 0, 0),
        ("top-center", 0, 8),
        ("top-right", 0, 16),
        ("left", 2, 0),
        ("center", 2, 8),
        ("right", 2, 16),
        ("bottom-left", 5, 0),
        ("bottom-center", 5, 8),
        ("bottom-right", 5, 16),
    ],
)
def test_it_lies_where_it_is_anchored(anchor: Anchor, row: int, column: int) -> None:
    paper = Paper(columns=20, rows=6)
    display = a_display(paper)
    display.add(Lines(*["." * 20] * 6))
    display.show_overlay(Lines("####"), Overlay(anchor=anchor, width=4))
    display.render_now()
    assert paper.tape[row] == "." * column + "####" + "." * (16 - column)


def test_it_is_taken_off_again_without_a_trace() -> None:
    paper = Paper(columns=20, rows=6)
    display = a_display(paper)
    display.add(Lines("one", "two"))
    display.render_now()
    handle = display.show_overlay(Lines("over"), Overlay(anchor="bottom-center"))
    display.render_now()
    assert paper.tape[-1] == "over"
    handle.hide()
    display.render_now()
    assert paper.tape == ["one", "two"]


def test_a_share_of_the_screen_and_a_margin() -> None:
    paper = Paper(columns=20, rows=10)
    display, over = a_display(paper), Lines(*["#" * 20] * 10)
    display.add(Lines(*["." * 20] * 10))
    display.show_overlay(over, Overlay(anchor="center", width="50%", max_height="20%", margin=1))
    display.render_now()
    assert [row.count("#") for row in paper.tape] == [0, 0, 0, 0, 10, 10, 0, 0, 0, 0]


def test_render_safety_an_overwide_overlay_is_cut() -> None:
    paper = Paper(columns=10, rows=3)
    display = a_display(paper)
    display.add(Lines("1234567890"))
    display.show_overlay(Lines("x" * 50), Overlay(anchor="top-left"))
    display.render_now()
    assert paper.tape == ["x" * 10]


def test_wide_characters_under_its_edges_leave_no_half() -> None:
    paper = Paper(columns=10, rows=1)
    display = a_display(paper)
    display.add(Lines("漢字漢字漢"))
    display.show_overlay(Lines("##"), Overlay(anchor="top-left", width=3))
    display.render_now()
    assert all(measure(row) <= 10 for row in display._painter.painted)
    assert display._painter.painted[0].startswith("##")
