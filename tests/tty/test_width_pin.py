"""Rows that keep their columns on terminals that count otherwise."""

import re

import pytest
from hypothesis import given

from sightline.tty.cells._width import doubtful, is_doubtful, measure, pin
from tests.tty.width_corpus import CORPUS
from tests.tty.width_text import styled_texts, unhurried, visible

_column = re.compile("\x1b\\[([0-9]+)G")


@pytest.mark.parametrize(
    "row",
    [
        "",
        "plain ASCII",
        "éßø Ωя │─┼ █ • → … ⠋ ✓",
        "漢字 かな 한글",
        "\x1b[31mré\x1b[0m",
        "\x1b]8;;https://a.example\x1b\\é",
    ],
)
def test_a_row_nobody_doubts_is_the_same_object(row: str) -> None:
    """Nothing is added, and nothing is copied."""
    assert not is_doubtful(row)
    assert pin(row) is row


@pytest.mark.parametrize(
    ("row", "pinned"),
    [
        ("a👍🏽b", "a👍🏽\x1b[4Gb"),
        ("👍🏽", "👍🏽"),
        ("a👍🏽👨‍👩‍👧b", "a👍🏽👨‍👩‍👧\x1b[6Gb"),
        ("👍🏽 ☀️ x", "👍🏽\x1b[3G ☀️\x1b[6G x"),
        ("e\u0301t", "e\u0301\x1b[2Gt"),
        ("\x1b[31m👍🏽\x1b[0mb", "\x1b[31m👍🏽\x1b[3G\x1b[0mb"),
        ("👍🏽\x1b[0m", "👍🏽\x1b[0m"),
    ],
)
def test_the_column_follows_each_run_in_doubt(row: str, pinned: str) -> None:
    """It is written once for a run, counts from 1, and only where something follows."""
    assert is_doubtful(row)
    assert pin(row) == pinned


def test_a_row_that_begins_elsewhere_is_counted_from_there() -> None:
    """The rest of a row is pinned to the columns it has in the whole."""
    assert pin("👍🏽b", 5) == "👍🏽\x1b[8Gb"


@given(styled_texts)
@unhurried
def test_pins_change_nothing_else(row: str) -> None:
    """Without the columns the row is what it was, and each column is the width of what is before it."""
    pinned = pin(row)
    assert _column.sub("", pinned) == row
    for match in _column.finditer(pinned):
        before = visible(_column.sub("", pinned[: match.start()]))
        assert int(match[1]) == measure(before) + 1
        assert doubtful(before[-1]) or is_doubtful(before[-12:])


@pytest.mark.parametrize(
    "group", ["ascii", "latin", "greek", "cyrillic", "box drawing", "blocks", "braille", "hangul syllables"]
)
def test_common_characters_are_not_in_doubt(group: str) -> None:
    """What a screen is mostly made of needs no pins."""
    assert not [grapheme for grapheme in CORPUS[group] if doubtful(grapheme)]
