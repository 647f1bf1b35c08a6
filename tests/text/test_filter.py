"""The filter for untrusted text: what it removes, what it keeps, and that cutting a text never changes the result."""

import itertools
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.text import StreamFilter, clean_line, clean_text, clean_value, escape_controls

FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")

# Texts that are mostly made of what the filter must deal with.
hostile = st.text(
    st.one_of(
        st.sampled_from("\x1b\x1b\x1b[]()P_^X\\;m0123456789 \x07\x9b\x9c\x9d\x90\r\n\t\u202e\u2066\ud83d\ude00é\x85"),
        st.characters(codec=None),  # type: ignore[arg-type]
    ),
    max_size=60,
)


@pytest.mark.parametrize(
    ("given_text", "kept"),
    [
        ("plain", "plain"),
        ("tab\tand\nnewline", "tab\tand\nnewline"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b[1;38;5;200mx\x1b[K", "x"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPq#0\x1b\\after", "after"),
        ("\x1b_payload\x1b\\after", "after"),
        ("\x9b31mred", "red"),
        ("\x9d0;title\x9cafter", "after"),
        ("a\r\nb", "a\nb"),
        ("over\rwritten", "overwritten"),
        ("nul\x00bell\x07back\x08del\x7f", "nulbellbackdel"),
        ("c1\x85\x90", "c1"),
        ("rtl \u202eoverride\u202c", "rtl override"),
        ("isolate \u2066x\u2069", "isolate x"),
        ("marks \u200f stay \u200e", "marks \u200f stay \u200e"),
        ("separators \u2028 stay \u2029", "separators \u2028 stay \u2029"),
        ("\x1b]0;never closed\nnext line", "\nnext line"),
        ("\x1b(B charset", " charset"),
        ("cut short \x1b[3", "cut short "),
        ("lone \ud83d surrogate", "lone \ufffd surrogate"),
        ("split \ud83d\ude00 pair", "split 😀 pair"),
        ("👨‍👩‍👧‍👦 日本語 שלום", "👨‍👩‍👧‍👦 日本語 שלום"),
    ],
)
def test_removes_what_could_drive_a_terminal_and_keeps_the_rest(given_text, kept):
    """Sequences go whole, other controls one by one; tab, newline and every ordinary character stay."""
    assert clean_text(given_text) == kept


@given(hostile)
def test_nothing_forbidden_survives(text):
    """Whatever goes in, no control but tab and newline comes out, and the result can be encoded."""
    cleaned = clean_text(text)
    assert not FORBIDDEN.search(cleaned)
    cleaned.encode()


@given(hostile, st.lists(st.integers(0, 60), max_size=8))
@example("\x1b]0;title\x1b\\after", [11])
@example("\ud83d\ude00", [1])
@example("\x1b]" + "x" * 9000 + "\x1b\\after", [5000, 9002])
@settings(max_examples=400)
def test_cutting_a_text_never_changes_what_is_kept(text, cuts):
    """The stream filter's pieces, joined, equal the filtered whole."""
    stream = StreamFilter()
    bounds = [0, *sorted(min(cut, len(text)) for cut in cuts), len(text)]
    pieces = [stream.feed(text[a:b]) for a, b in itertools.pairwise(bounds)]
    assert "".join([*pieces, stream.end()]) == clean_text(text)


def test_many_openings_of_a_string_take_time_in_proportion():
    """A line of nothing but unclosed strings, whole and cut, gives nothing, and is read once."""
    for hostile_line in ("\x9d" * 200_000 + "\n", "\x9d" * 200_000 + "\x1b[m", "\x1b]" * 100_000):
        stream = StreamFilter()
        assert (stream.feed(hostile_line) + stream.end()).strip() == ""


def test_an_endless_string_sequence_is_not_kept_in_memory():
    """A title that never ends is dropped piece by piece, and its line's end ends it."""
    stream = StreamFilter()
    assert stream.feed("before\x1b]0;") == "before"
    for _ in range(100):
        assert stream.feed("x" * 10_000) == ""
        assert len(stream._held) <= 4096
    assert stream.feed("\nafter") == "\nafter"


@given(hostile)
def test_one_line_fields_have_no_line_break_and_no_tab(text):
    """What is meant for one line stays on one line, in every notion of a line break."""
    line = clean_line(text)
    assert not FORBIDDEN.search(line)
    assert not set(line) & set("\n\t\r\x0b\x0c\x85\u2028\u2029")


json_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), hostile),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(hostile, inner, max_size=3)),
    max_leaves=10,
)


@given(json_values)
def test_values_are_cleaned_all_the_way_down_keys_included(value):
    """No string anywhere inside a decoded JSON value keeps a control character, and the value given is not changed."""
    before = repr(value)
    cleaned = clean_value(value)
    assert repr(value) == before
    pending = [cleaned]
    while pending:
        item = pending.pop()
        if isinstance(item, str):
            assert not FORBIDDEN.search(item)
        elif isinstance(item, dict):
            pending += [*item.keys(), *item.values()]
        elif isinstance(item, list):
            pending += item


def test_deep_nesting_is_no_trap():
    """Cleaning does not use the call stack."""
    value: list = []
    for _ in range(50_000):
        value = [value]
    assert clean_value(value) is not None


def test_escaping_shows_what_the_filter_would_remove():
    """Raw evidence stays readable: a control character becomes its escape."""
    assert escape_controls("a\x1b[31m\x00\u202e\ud800") == "a\\x1b[31m\\x00\\u202e\\ud800"
