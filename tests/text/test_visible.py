"""What a person approves: nothing in it that cannot be seen."""

import time
from unicodedata import bidirectional

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text import clean_text, mark_blanks, visible, visible_value


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("git push origin main", "git push origin main"),
        ("a\tb\nc", "a\tb\nc"),
        ("naïve 日本語 ünïcode", "naïve 日本語 ünïcode"),
        ("echo ok\rrm -rf ~", "echo ok␍rm -rf ~"),
        ("one\r\ntwo", "one␍\ntwo"),
        ("\x1b[2Jgone\x07\x7f\x9b", "␛[2Jgone␇␡⟨U+009B⟩"),
        ("a\u202egnp.exe", "a⟨U+202E⟩gnp.exe"),
        ("rm\u00a0-rf", "rm⟨U+00A0⟩-rf"),
        ("pay\u200bpal \ufeffx\u2028y", "pay⟨U+200B⟩pal ⟨U+FEFF⟩x⟨U+2028⟩y"),
        ("a\u3164b\u2800c\u115fd", "a⟨U+3164⟩b⟨U+2800⟩c⟨U+115F⟩d"),
        ("x\ufe0f \U000e0101 \U000e0041", "x⟨U+FE0F⟩ ⟨U+E0101⟩ ⟨U+E0041⟩"),
        ("half \ud800 a pair", "half ⟨U+D800⟩ a pair"),
        ("👩‍👩‍👧 ✔️", "👩‍👩‍👧 ✔️"),
        ("a\u200db", "a⟨U+200D⟩b"),
        ("a\U0001d159b\U00016fe4c\U0001107fd", "a⟨U+1D159⟩b⟨U+16FE4⟩c⟨U+1107F⟩d"),
        ("a\U00013441b\U00013442c\ufffcd", "a⟨U+13441⟩b⟨U+13442⟩c⟨U+FFFC⟩d"),
        ("cafe\u0301 u\u0308\u0301", "cafe\u0301 u\u0308\u0301"),
        ("a" + "\u0301" * 6, "a" + "\u0301" * 4 + "⟨U+0301⟩" * 2),
        ("rm\u17d2 -rf; \u0915\u094d\u0937", "rm⟨U+17D2⟩ -rf; \u0915\u094d\u0937"),
        ("\u17d2\n\u0301", "⟨U+17D2⟩\n\u0301"),
    ],
)
def test_what_cannot_be_seen_becomes_a_sign(text: str, shown: str) -> None:
    """Controls, bidirectional marks, blanks of other scripts and what is drawn as nothing; ordinary text stays."""
    assert visible(text) == shown


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("echo \u05d0; rm -rf \u05d1", "echo ⟨U+05D0⟩; rm -rf ⟨U+05D1⟩"),
        ("\u0627 1 2", "⟨U+0627⟩ 1 2"),
        ("+\u05e9\u05dc\u05d5\u05dd, \u05e2\u05d5!", "+\u05e9\u05dc\u05d5\u05dd, \u05e2\u05d5!"),
        ("echo\n\u05d0 \u05d1\nls \u05d0", "echo\n\u05d0 \u05d1\nls ⟨U+05D0⟩"),
        ("\u05d0\u200b\u05d1", "⟨U+05D0⟩⟨U+200B⟩⟨U+05D1⟩"),
    ],
)
def test_words_of_both_directions_stay_in_the_order_they_run_in(text: str, shown: str) -> None:
    """Letters from right to left have signs where there are others; a line of them alone can be read."""
    assert visible(text) == shown


def test_every_letter_from_right_to_left_is_known() -> None:
    """By the ranges that are set aside for them."""
    leftward = [chr(point) for point in range(0x110000) if bidirectional(chr(point)) in ("R", "AL", "AN")]
    assert len(leftward) > 2000
    assert [each for each in leftward if visible(f"a{each}") == f"a{each}"] == []


def test_nothing_of_a_long_text_takes_long() -> None:
    """Marks and letters of both directions, a quarter of a million of them."""
    began = time.process_time()
    visible("a" + "\u0301" * 250_000)
    visible("\u05d0 a\n" * 60_000)
    visible("\u3042" * 250_000)
    assert time.process_time() - began < 10


@given(st.text())
def test_it_needs_no_other_filter(text: str) -> None:
    """Nothing in it drives a terminal, and no line of it is lost or added."""
    shown = visible(text)
    assert clean_text(shown) == shown
    assert shown.count("\n") == text.count("\n")
    assert shown.replace("\n", "").replace("\t", "").isprintable() or any(joiner in shown for joiner in "\u200d\ufe0f")


def test_every_string_of_a_value_is_made_visible() -> None:
    """Keys too."""
    assert visible_value({"a\u200b": ["x\r", {"b": 1}]}) == {"a⟨U+200B⟩": ["x␍", {"b": 1}]}


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("git push", "git push"),
        ("    return 2", "    return 2"),
        ("trailing ", "trailing·"),
        ("   ", "···"),
        ("a  b", "a··b"),
        ("a\tb", "a→   b"),
        (f"echo ok{' ' * 200}; rm -rf ~", "echo ok⟨200 spaces⟩; rm -rf ~"),
        (f"{' ' * 200}rm -rf ~", "⟨200 spaces⟩rm -rf ~"),
        (f"x{' ' * 30}", "x⟨30 spaces⟩"),
    ],
)
def test_blanks_are_marked(line: str, shown: str) -> None:
    """Those at the end, tabs, and runs; indentation is seen by where the text stands."""
    assert mark_blanks(line) == shown


@given(st.text(alphabet=" \tab;", max_size=300))
def test_what_is_no_blank_stays_in_its_order(line: str) -> None:
    """And no two blanks next to each other are left between words."""
    shown = mark_blanks(line)
    assert [c for c in shown if c in "ab;"] == [c for c in line if c in "ab;"] or "spaces⟩" in shown
    assert "  " not in shown.lstrip(" ").replace("→   ", "→")
