"""Texts cut to what a model is shown."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tools._truncation import MAX_BYTES, MAX_LINES, truncate_head, truncate_tail


def test_the_shared_limits_are_three_thousand_lines_and_fifty_kilobytes() -> None:
    """read.md/Limits & Caps: the defaults."""
    assert truncate_head("x\n" * 3001).shown_lines == MAX_LINES == 3000
    assert truncate_tail(("y" * 99 + "\n") * 600).shown_bytes <= MAX_BYTES == 51200


@pytest.mark.parametrize(
    ("text", "kept", "by"),
    [
        pytest.param("", "", None, id="empty"),
        pytest.param("a\nb\nc\n", "a\nb\nc\n", None, id="exactly the lines"),
        pytest.param("a\nb\nc\nd", "a\nb\nc\n", "lines", id="one line more, no newline at its end"),
        pytest.param("aaaa\nbbbb\ncc\n", "aaaa\nbbbb\n", "bytes", id="whole lines only"),
        pytest.param("a" * 12, "a" * 10, "bytes", id="one line that is too long"),
        pytest.param("aé" * 5, "aéaéaé" + "a", "bytes", id="never half a character"),
    ],
)
def test_the_head_of_a_text(text: str, kept: str, by: str | None) -> None:
    """The first 3 lines or 10 bytes."""
    cut = truncate_head(text, 3, 10)
    assert (cut.text, cut.by, cut.truncated) == (kept, by, by is not None)


@pytest.mark.parametrize(
    ("text", "kept", "by"),
    [
        pytest.param("", "", None, id="empty"),
        pytest.param("a\nb\nc\n", "a\nb\nc\n", None, id="exactly the lines"),
        pytest.param("a\nb\nc\nd\n", "b\nc\nd\n", "lines", id="one line more"),
        pytest.param("a\nb\nc\nd", "b\nc\nd", "lines", id="no newline at its end"),
        pytest.param("aa\nbbbb\ncccc\n", "bbbb\ncccc\n", "bytes", id="whole lines only"),
        pytest.param("aa\n" + "c" * 10, "c" * 10, "bytes", id="a line of just the size"),
        pytest.param("b" + "a" * 10, "a" * 10, "bytes", id="one line that is too long"),
        pytest.param("éa" * 5, "aéaéaé" + "a", "bytes", id="never half a character"),
    ],
)
def test_the_tail_of_a_text(text: str, kept: str, by: str | None) -> None:
    """The last 3 lines or 10 bytes."""
    cut = truncate_tail(text, 3, 10)
    assert (cut.text, cut.by, cut.truncated) == (kept, by, by is not None)


@given(st.text(alphabet="ab\né😀", max_size=60), st.integers(1, 5), st.integers(4, 30))
def test_what_is_kept_is_a_slice_within_both_limits(text: str, lines: int, size: int) -> None:
    """Head and tail hold the limits, tell the truth about both sides, and cut nothing that fits."""
    total = len(text.splitlines())
    for cut, is_end in [
        (truncate_head(text, lines, size), text.startswith),
        (truncate_tail(text, lines, size), text.endswith),
    ]:
        assert is_end(cut.text)
        assert cut.shown_bytes == len(cut.text.encode()) <= size
        assert cut.shown_lines == len(cut.text.splitlines()) <= lines
        assert (cut.total_lines, cut.total_bytes) == (total, len(text.encode()))
        assert cut.truncated == (cut.text != text)


def test_what_cannot_be_encoded_does_not_stop_it() -> None:
    """A lone surrogate becomes a question mark."""
    assert truncate_head("\ud800" * 20, 3, 10).text == "?" * 10
