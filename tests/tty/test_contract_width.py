"""The width model: tui-core-renderer.md §5."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty.cells._width import graphemes, measure, pad, slice_columns, truncate, wrap
from sightline.tty.frame._rows import make_safe
from tests.tty.contract_support import Sink, drawn
from tests.tty.paper import Paper
from tests.tty.support import Lines
from tests.tty.width_corpus import CORPUS

CLUSTERS = [cluster for group in CORPUS.values() for cluster in group]
TEXT = st.lists(st.sampled_from([*CLUSTERS, "a", " ", "\x1b[1m", "\x1b[0m"]), max_size=30).map("".join)


@settings(max_examples=300, deadline=None)
@given(TEXT, st.integers(1, 40))
def test_s5_measuring_cutting_slicing_and_wrapping_agree(text: str, width: int) -> None:
    """§5: one model: nothing that was cut, padded, sliced or wrapped to a width measures more than it."""
    assert measure(truncate(text, width)) <= width
    assert measure(pad(text, width)) == width
    assert measure(slice_columns(text, 0, width)) == min(width, measure(text))
    assert all(measure(row) <= max(width, 2) for row in wrap(text, width))
    assert sum(cells for _, cells in graphemes(text)) == measure(text)


@given(st.text(st.characters(min_codepoint=0x20, max_codepoint=0x7E)))
def test_s5_printable_ascii_is_one_cell_for_each_character(text: str) -> None:
    """§5: the fast path is the model too."""
    assert measure(text) == len(text)


@pytest.mark.parametrize("emoji", ["👩‍👩‍👧", "👨‍👩‍👧‍👦", "🏳️‍🌈", "👩🏽‍🚀", "🐻‍❄️"])
def test_s5_a_joined_emoji_is_two_cells(emoji: str) -> None:
    """§5: ZWJ sequences are measured as the one picture they are."""
    assert measure(emoji) == 2
    assert truncate(emoji + emoji, 3, "") == emoji


def test_s5_sized_text_is_not_spoken() -> None:
    """§5, deviation no-sized-text: OSC 66 in a row is taken out whole; what it said is not kept."""
    assert make_safe("a\x1b]66;s=2;big\x07b") == "ab"
    assert measure("a\x1b]66;s=2;big\x07b") == 2


@pytest.mark.parametrize("text", ["\ud800", "\x1b[", "\x1b]8;;", "\x00\x9b", "\u0301" * 50, "", "क्" * 40])
@pytest.mark.parametrize("width", [-5, 0, 1, 2])
def test_s5_nothing_raises_where_there_is_no_room(text: str, width: int) -> None:
    """§5: the hot path clamps; it never throws."""
    for row in (truncate(text, width), pad(text, width), slice_columns(text, width, width + 1), *wrap(text, width)):
        assert measure(row) <= max(width, 2)


def test_s5_a_row_of_arabic_with_marks_is_painted_verbatim() -> None:
    """§5: combining-heavy scripts reach the terminal as they are."""
    sink, row = Sink(), "العَرَبِيَّة"
    drawn(sink, Lines(row))
    assert row in sink.written[0]


def test_s5_the_renderer_cuts_by_cells() -> None:
    """§5: the same model decides what fits when a row is written."""
    sink = Sink(columns=5)
    drawn(sink, Lines("漢字漢字"))
    assert "漢字" in sink.written[0]
    assert "漢字漢" not in sink.written[0]
    paper = Paper(columns=5)
    drawn(paper, Lines("abcdefgh"))
    assert paper.tape == ["abcde"]
