"""Measuring and cutting: one model for every text."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty._component import CURSOR
from sightline.tty.cells._cells import LONGEST, NARROW, WIDE
from sightline.tty.cells._link import LINK_END, link
from sightline.tty.cells._width import expand_tabs, graphemes, measure, pad, slice_columns, truncate, wrap
from sightline.tty.frame._rows import is_safe
from tests.tty.width_corpus import GRAPHEMES
from tests.tty.width_text import any_texts, is_complete, plain_texts, seen, styled_texts, unhurried, visible, widths

RED, BOLD, RESET = "\x1b[31m", "\x1b[1m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "cells"),
    [
        ("", 0),
        ("plain", 5),
        ("漢字", 4),
        ("e\u0301", 1),
        ("👨‍👩‍👧‍👦", 2),
        ("🇩🇪🇫🇷", 4),
        ("1️⃣", 2),
        ("☀", 1),
        ("☀️", 2),
        ("⌚︎", 1),
        ("👍🏽", 2),
        ("🔥🏽", 4),
        ("क्ष", 2),
        ("नि", 1),
        ("กำ", 1),
        ("\u1112\u1161\u11ab", 2),
        ("a\u200bb", 2),
        ("\u0301", 0),
        ("e" + "\u0301" * 31, 1),
        ("e" + "\u0301" * 62, 1),
        ("e" + "\u0301" * 63, 2),
        ("\u200b" * 31, 0),
        ("\u200b" * 64, 2),
        ("a\tb\x00c\x7f", 3),
        (f"{RED}red{RESET}", 3),
        (link("https://example.org", "here"), 4),
        (f"a{CURSOR}b", 2),
        ("\x1b]0;title\x07x", 1),
        ("\x1b[2Jx\x1b[", 1),
        ("\ud800", 1),
        ("\u202eabc", 3),
    ],
)
def test_a_text_has_so_many_cells(text: str, cells: int) -> None:
    """Clusters count once; sequences, controls and marks without a base take nothing."""
    assert measure(text) == cells


@given(st.lists(st.sampled_from(GRAPHEMES), max_size=12))
@unhurried
def test_whole_clusters_add_up(parts: list[str]) -> None:
    """What stands between spaces is measured by itself: the width of a row is the sum of its words."""
    assert measure(" ".join(parts)) == sum(map(measure, parts)) + max(0, len(parts) - 1)


@given(plain_texts)
@unhurried
def test_graphemes_are_the_text_and_its_width(text: str) -> None:
    """Joined they give the text, and their cells its width."""
    parts = list(graphemes(text))
    assert "".join(cluster for cluster, _ in parts) == text
    assert sum(cells for _, cells in parts) == measure(text)


@given(plain_texts)
@unhurried
def test_no_cluster_is_wider_than_two_cells(text: str) -> None:
    """However many consonants form a conjunct: what is longer is taken apart, so that it can be wrapped."""
    assert max((cells for _, cells in graphemes(text + "क्" * 9 + "ष")), default=0) <= 2
    assert wrap("क्" * 9 + "ष", 4) == ["क्क्क्क्", "क्क्क्क्", "क्ष"]


@given(plain_texts)
@unhurried
def test_no_cluster_is_longer_than_the_limit_and_no_width_depends_on_what_was_before(text: str) -> None:
    """However much joins: cut before any cluster, what is left is as wide as it was."""
    parts = list(graphemes(text))
    assert max((len(cluster) for cluster, _ in parts), default=0) <= LONGEST
    for number in range(len(parts)):
        left = "".join(cluster for cluster, _ in parts[number:])
        assert measure(left) == sum(cells for _, cells in parts[number:])


@given(styled_texts)
@unhurried
def test_style_takes_no_cell(text: str) -> None:
    """A text is as wide as its characters."""
    assert measure(text) == measure(visible(text))


def test_undoubted_characters_stand_alone() -> None:
    """The sets that spare the search for clusters hold only characters of one width that never join a neighbour."""
    for characters, cells in ((NARROW, 1), (WIDE, 2)):
        for character in _members(characters):
            assert list(graphemes(f"\u0301{character}\u0301")) in (
                [("\u0301", 0), (f"{character}\u0301", cells)],
                [("\u0301", 0), (f"{character}", cells), ("\u0301", 0)],
            ), hex(ord(character))
            assert next(graphemes(f"a{character}\u200d"))[0] == "a", hex(ord(character))
            assert measure(character) == cells, hex(ord(character))


def _members(characters: str) -> list[str]:
    found: list[str] = []
    at = 0
    while at < len(characters):
        if characters[at + 1 : at + 2] == "-":
            found += map(chr, range(ord(characters[at]), ord(characters[at + 2]) + 1))
            at += 3
        else:
            found.append(characters[at])
            at += 1
    return found if len(found) < 5000 else found[:: len(found) // 5000]


@given(any_texts, widths, st.integers(-3, 40), st.integers(-3, 40))
@unhurried
def test_nothing_raises_whatever_the_text(text: str, width: int, start: int, end: int) -> None:
    """Surrogates, half sequences and no room at all are cut to something that may be written."""
    assert measure(text) >= 0
    cut = truncate(text, width)
    assert measure(cut) <= max(0, width)
    assert is_safe(cut) or cut == text
    assert measure(pad(text, width)) == max(0, width)
    piece = slice_columns(text, start, end)
    assert measure(piece) <= max(0, end - max(0, start))
    for row in wrap(text, width):
        assert measure(row) <= max(0, width)
        assert is_safe(row)
        assert is_complete(row)
    list(graphemes(text))
    expand_tabs(text, width)


@given(styled_texts, widths)
@unhurried
def test_what_fits_is_not_touched(text: str, width: int) -> None:
    """A complete text that fits comes back as the same object."""
    row = truncate(text, measure(text))
    assert is_complete(row)
    if measure(row) <= width:
        assert truncate(row, width) is row


@given(styled_texts, st.integers(1, 30))
@unhurried
def test_a_cut_text_is_the_beginning_of_the_text_and_an_ellipsis(text: str, width: int) -> None:
    """Style and characters up to the cut are those of the text; the row is complete; a second cut changes nothing."""
    row = truncate(text, width)
    assert is_complete(row)
    assert truncate(row, width) == row
    if measure(text) > width:
        shown = seen(row)[0]
        assert shown[-1][0] == "…"
        assert shown[:-1] == seen(text)[0][: len(shown) - 1]
        assert len(shown) == 1 or shown[-1][1:] == shown[-2][1:]


def test_the_ellipsis_has_the_style_at_the_cut() -> None:
    """It is drawn in the style, and opens the link, of what it stands for."""
    assert truncate(f"{RED}hello world{RESET}", 6) == f"{RED}hello…{RESET}"
    url = "https://example.org"
    assert truncate(link(url, "hello world"), 6) == link(url, "hello…")
    assert truncate("hello", 3, ellipsis="") == "hel"
    assert truncate("hello", 2, ellipsis="...") == ".."
    assert truncate("漢字", 3) == "漢…"


@given(styled_texts, st.lists(st.integers(0, 40), max_size=4))
@unhurried
def test_slices_join_to_the_whole(text: str, cuts: list[int]) -> None:
    """Consecutive slices hold every cell once, in its style; where a wide character is cut there are blanks instead."""
    edges = [0, *sorted(cuts), max([measure(text), *cuts])]
    pieces = [slice_columns(text, start, end) for start, end in pairwise(edges)]
    assert all(map(is_complete, pieces))
    assert sum(map(measure, pieces)) == measure(text)
    joined = [character for piece in pieces for character in seen(piece)[0]]
    if _edges_of_clusters(text).issuperset(edge for edge in edges if edge <= measure(text)):
        assert joined == seen(text)[0]
    else:
        assert {kept for kept in joined if kept[0] != " "} <= set(seen(text)[0])


def _edges_of_clusters(text: str) -> set[int]:
    column, edges = 0, {0}
    for _, cells in graphemes(text):
        column += cells
        edges.add(column)
    return edges


def test_half_a_wide_character_is_a_blank() -> None:
    """The cell is kept, in the style it had."""
    assert slice_columns("漢字", 1, 3) == "  "
    assert slice_columns(f"a{RED}漢{RESET}b", 0, 2) == f"a{RED} {RESET}"
    assert slice_columns(f"{BOLD}漢{RESET}b", 1, 3) == f"{BOLD} {RESET}b"
    assert slice_columns("👨‍👩‍👧x", 1, 3) == " x"


def test_the_cursor_mark_stays_with_its_column() -> None:
    """It survives cutting where its column does."""
    row = f"ab{CURSOR}{RED}cd{RESET}é"
    assert slice_columns(row, 1, 4) == f"b{CURSOR}{RED}cd{RESET}"
    assert CURSOR not in slice_columns(row, 0, 2)
    assert slice_columns(row, 2, 3) == f"{RED}{CURSOR}c{RESET}"
    for text in ("abc", "abé"):
        assert slice_columns(text + CURSOR, 0, 3) == text
        assert slice_columns(text + CURSOR, 0, 4) == text + CURSOR
    assert truncate(f"é{CURSOR}", 4) == f"é{CURSOR}"
    assert wrap(f"one two{CURSOR}", 3) == ["one", f"two{CURSOR}"]


def test_an_open_style_is_closed() -> None:
    """A row that would colour what follows it does not leave this room."""
    assert truncate(f"{RED}red", 9) == f"{RED}red{RESET}"
    assert pad(f"{RED}red", 5) == f"{RED}red{RESET}  "
    assert slice_columns(f"{link('https://a.example', 'xy')[: -len(LINK_END)]}", 0, 2).endswith(LINK_END)


@pytest.mark.parametrize(
    ("text", "expanded"),
    [
        ("a\tb", "a   b"),
        ("漢\tb", "漢  b"),
        (f"{RED}ab{RESET}\tc", f"{RED}ab{RESET}  c"),
        ("abcd\te\nf\tg", "abcd    e\nf   g"),
        ("none", "none"),
    ],
)
def test_a_tab_reaches_the_next_stop_on_the_screen(text: str, expanded: str) -> None:
    """Stops are counted in cells, each line anew, and style takes none."""
    assert expand_tabs(text) == expanded
