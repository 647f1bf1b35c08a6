"""Shortening text for a marker."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text import cut_graphemes, first_line

FAMILY = "👨‍👩‍👧‍👦"


@pytest.mark.parametrize(
    ("text", "limit", "shown"),
    [
        ("short", 40, "short"),
        ("x" * 40, 40, "x" * 40),
        ("x" * 41, 40, "x" * 39 + "…"),
        ("日" * 50, 40, "日" * 39 + "…"),
        (FAMILY * 10, 40, FAMILY * 5 + "…"),
        ("a" * 38 + "e\u0301" + "b" * 9, 40, "a" * 38 + "…"),
        ("a" * 37 + "e\u0301" + "b" * 9, 40, "a" * 37 + "e\u0301…"),
        ("🇯🇵" * 25, 40, "🇯🇵" * 19 + "…"),
        ("e" + "\u0301" * 100, 40, "…"),
    ],
)
def test_a_cut_counts_code_points_and_respects_clusters(text, limit, shown):
    """At most `limit` code points with the ellipsis, and never half a character."""
    assert cut_graphemes(text, limit) == shown


@given(st.text(max_size=200), st.integers(1, 60))
def test_a_cut_is_never_too_long_and_is_a_prefix(text, limit):
    """Whatever the text, the result fits and its beginning is the text's."""
    shown = cut_graphemes(text, limit)
    assert len(shown) <= limit
    assert shown == text or (shown.endswith("…") and text.startswith(shown[:-1]))


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("one\ntwo", "one"),
        ("\n\n  one  \ntwo", "one"),
        ("one\u2028two", "one"),
        ("one\rtwo", "one"),
        ("", ""),
        ("  \n ", ""),
    ],
)
def test_the_first_line_that_says_something(text, line):
    """Blank lines before it and blanks around it do not count."""
    assert first_line(text) == line
