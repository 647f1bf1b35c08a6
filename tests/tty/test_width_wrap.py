"""Breaking text into rows."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tty.cells import _wrap
from sightline.tty.cells._link import link
from sightline.tty.cells._width import measure, wrap
from tests.tty.width_text import ascii_texts, is_complete, plain_texts, seen, styled_texts, unhurried, visible

RED, BOLD, RESET = "\x1b[31m", "\x1b[1m", "\x1b[0m"


@pytest.mark.parametrize(
    ("text", "width", "rows"),
    [
        ("", 5, [""]),
        ("\n", 5, ["", ""]),
        ("one two three", 7, ["one two", "three"]),
        ("one   two", 4, ["one", "two"]),
        ("one two   ", 7, ["one two"]),
        ("fits  ", 7, ["fits  "]),
        ("extraordinary", 5, ["extra", "ordin", "ary"]),
        ("an extraordinary day", 5, ["an", "extra", "ordin", "ary", "day"]),
        ("  indented text", 10, ["  indented", "text"]),
        ("      indented text", 10, ["  indented", "text"]),
        ("        extraordinary", 6, ["   ext", "raordi", "nary"]),
        ("        ", 3, ["   "]),
        ("漢字かな", 5, ["漢字", "かな"]),
        ("漢字、かな。", 4, ["漢", "字、", "か", "な。"]),
        ("word漢字", 5, ["word", "漢字"]),
        ("a「漢字」", 4, ["a", "「漢", "字」"]),
        ("👨‍👩‍👧👨‍👩‍👧", 3, ["👨‍👩‍👧", "👨‍👩‍👧"]),
        ("漢x", 1, ["…", "x"]),
        ("one two", 0, [""]),
        ("one two", -5, [""]),
        ("a\tb\x07c", 9, ["abc"]),
    ],
)
def test_rows_of_a_text(text: str, width: int, rows: list[str]) -> None:
    """Spaces at a break go, indentation stays as far as there is room, long words are cut between clusters."""
    assert wrap(text, width) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (f"{RED}one two{RESET} six", [f"{RED}one{RESET}", f"{RED}two{RESET}", "six"]),
        (f"one {RED}two{RESET}", ["one", f"{RED}two{RESET}"]),
        (f"{BOLD}one {RED}two", [f"{BOLD}one{RESET}", f"\x1b[1;31mtwo{RESET}"]),
        (f"{RED}a\n\nb{RESET}", [f"{RED}a{RESET}", "", f"{RED}b{RESET}"]),
        ("\x1b[1;31mone\x1b[22m two", ["\x1b[1;31mone\x1b[0m", "\x1b[31mtwo\x1b[0m"]),
        ("\x1b[38;5;1;48;2;1;2;3mone\x1b[39m two", ["\x1b[38;5;1;48;2;1;2;3mone\x1b[0m", "\x1b[48;2;1;2;3mtwo\x1b[0m"]),
        (link("https://a.example", "one two"), [link("https://a.example", "one"), link("https://a.example", "two")]),
    ],
)
def test_style_and_links_go_on_in_the_next_row(text: str, rows: list[str]) -> None:
    """Every row opens what holds there, in as few codes as it takes, and closes it."""
    assert wrap(text, 4) == rows


@given(styled_texts, st.integers(2, 30))
@unhurried
def test_no_visible_character_is_lost_or_changes_its_style(text: str, width: int) -> None:
    """Rows hold every character once, in order, with its style and link; only spaces are dropped."""
    rows = wrap(text, width)
    assert all(measure(row) <= width for row in rows)
    assert all(map(is_complete, rows))
    kept = [character for row in rows for character in seen(row)[0] if character[0] != " "]
    assert kept == [character for character in seen(text)[0] if character[0] != " "]


@given(plain_texts, st.integers(2, 30))
@unhurried
def test_rows_wrap_to_themselves(text: str, width: int) -> None:
    """A row is not broken again."""
    assert [again for row in wrap(text, width) for again in wrap(row, width)] == wrap(text, width)


@given(styled_texts, st.integers(2, 30))
@unhurried
def test_style_does_not_move_a_break(text: str, width: int) -> None:
    """Rows of styled text hold what rows of the plain text hold."""
    assert [visible(row) for row in wrap(text, width)] == wrap(visible(text), width)


@given(ascii_texts, st.integers(1, 12))
@unhurried
def test_the_short_way_for_ascii_gives_the_same_rows(text: str, width: int) -> None:
    """Clusters, one by one, lead to the rows that the searches for spaces find."""
    rows = []
    for line in text.split("\n"):
        words = line.lstrip(" ")
        if len(line) <= width or not words:
            rows.append(line[:width])
            continue
        indentation = len(line) - len(words)
        kept = _wrap._shown_indentation(indentation, words, width) if indentation else 0
        firm = " " * (indentation - kept) + "\xa0" * kept + words.rstrip(" ")
        rows += [line[start:end] for start, end in _wrap._spans_of_clusters(firm, width)]
    assert wrap(text, width) == rows


@given(plain_texts, st.integers(4, 30))
@unhurried
def test_words_are_broken_only_when_they_must(text: str, width: int) -> None:
    """A word of narrow letters that fits into a row is in one row."""
    rows = wrap(text, width)
    for word in text.split(" "):
        if word.isascii() and word and measure(word) <= width:
            assert any(word in row for row in rows)
