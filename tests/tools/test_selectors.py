"""The end of a path that says which lines, and how."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tools import ToolError
from sightline.tools.files._selectors import LineRange, Selector, merge_ranges, parse_ranges, split_selector
from tests.tools.support import spelled

FORMS = [
    pytest.param(":raw", Selector(raw=True), id="read.md/Selector grammar/:raw"),
    pytest.param(":RAW", Selector(raw=True), id="read.md/Selector grammar/:raw in capitals"),
    pytest.param(":conflicts", Selector(conflicts=True), id="read.md/Selector grammar/:conflicts"),
    pytest.param(":50", Selector(ranges=(LineRange(50),)), id="read.md/Selector grammar/:N"),
    pytest.param(":L50", Selector(ranges=(LineRange(50),)), id="read.md/Selector grammar/:LN"),
    pytest.param(":50-", Selector(ranges=(LineRange(50),)), id="read.md/Selector grammar/:N-"),
    pytest.param(":5-10", Selector(ranges=(LineRange(5, 10),)), id="read.md/Selector grammar/:A-B"),
    pytest.param(":L5-L10", Selector(ranges=(LineRange(5, 10),)), id="read.md/Selector grammar/:LA-LB"),
    pytest.param(":l5-10", Selector(ranges=(LineRange(5, 10),)), id="read.md/Selector grammar/:lA-B"),
    pytest.param(":7-7", Selector(ranges=(LineRange(7, 7),)), id="read.md/Selector grammar/:A-A"),
    pytest.param(":5+10", Selector(ranges=(LineRange(5, 14),)), id="read.md/Selector grammar/:A+C"),
    pytest.param(":L5+L10", Selector(ranges=(LineRange(5, 14),)), id="read.md/Selector grammar/:LA+LC"),
    pytest.param(
        ":5-16,960-973",
        Selector(ranges=(LineRange(5, 16), LineRange(960, 973))),
        id="read.md/Selector grammar/:R1,R2",
    ),
    pytest.param(
        ":30-40,1+2,35-50,51-52,60",
        Selector(ranges=(LineRange(1, 2), LineRange(30, 52), LineRange(60))),
        id="read.md/Selector grammar/:R1,R2 sorted and merged",
    ),
    pytest.param(
        ":10-,20-30",
        Selector(ranges=(LineRange(10),)),
        id="read.md/Selector grammar/:R1,R2 with an open range",
    ),
    pytest.param(":5-9:raw", Selector(ranges=(LineRange(5, 9),), raw=True), id="read.md/Selector grammar/:range:raw"),
    pytest.param(":raw:5-9", Selector(ranges=(LineRange(5, 9),), raw=True), id="read.md/Selector grammar/:raw:range"),
]


@pytest.mark.parametrize(("suffix", "selector"), FORMS)
@pytest.mark.parametrize("path", ["a.py", "folder/with space/a:b.py", "https://example.com/", "x.zip:inner/a.py"])
def test_a_selector_is_split_from_its_path(path: str, suffix: str, selector: Selector) -> None:
    """Every documented form, after any path."""
    assert split_selector(path + suffix) == (path, selector)


@pytest.mark.parametrize(
    "path",
    [
        pytest.param("a.py", id="read.md/Selector grammar/none"),
        pytest.param("archive.zip:inner/file", id="read.md/Notes/archive syntax is left alone"),
        pytest.param("db.sqlite:table:key", id="read.md/Notes/database syntax is left alone"),
        pytest.param("a.py:abc", id="read.md/Selector grammar/unknown word"),
        pytest.param("a.py:", id="read.md/Selector grammar/nothing after the colon"),
        pytest.param("a.py:5-b", id="read.md/Selector grammar/no number"),
        pytest.param("a.py:-5", id="read.md/Selector grammar/no start"),
        pytest.param("a.py:5,", id="read.md/Selector grammar/empty chunk"),
        pytest.param("a.py:٥", id="read.md/Selector grammar/digits of another script"),
        pytest.param(":5", id="read.md/Selector grammar/no path"),
        pytest.param("a.py:" + "9" * 5000, id="read.md/Selector grammar/a number no file has"),
    ],
)
def test_anything_else_is_part_of_the_path(path: str) -> None:
    """What is not of a documented form falls through."""
    assert split_selector(path) == (path, None)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("a:0", "lines are 1-indexed", id="read.md/Errors/:0"),
        pytest.param("a:L0", "lines are 1-indexed", id="read.md/Errors/:L0"),
        pytest.param("a:0-5", "lines are 1-indexed", id="read.md/Errors/:0-5"),
        pytest.param("a:3-5,0+1", "lines are 1-indexed", id="read.md/Errors/0 in a list"),
        pytest.param("a:5+0", "at least 1", id="read.md/Errors/:A+0"),
        pytest.param("a:5+", "at least 1", id="read.md/Errors/:A+"),
        pytest.param("a:9-5", "ends before it starts", id="read.md/Errors/:B-A"),
        pytest.param("a:9-5:raw", "ends before it starts", id="read.md/Errors/:B-A:raw"),
        pytest.param("a:raw:9-5", "ends before it starts", id="read.md/Errors/:raw:B-A"),
    ],
)
def test_wrong_numbers_are_refused_with_what_to_use_instead(path: str, words: str) -> None:
    """A selector of the right form with impossible numbers is the model's mistake, not a path."""
    with pytest.raises(ToolError, match=words) as failure:
        split_selector(path)
    assert "Use :" in str(failure.value)


@given(st.lists(st.tuples(st.integers(1, 60), st.none() | st.integers(0, 9)), min_size=1))
def test_merging_keeps_exactly_the_lines_asked_for(wanted: list[tuple[int, int | None]]) -> None:
    """The merged ranges hold the same lines, in order, and no two of them touch."""
    ranges = [LineRange(first, None if more is None else first + more) for first, more in wanted]
    merged = merge_ranges(ranges)
    for line in range(1, 100):
        assert any(line in one for one in merged) == any(line in one for one in ranges)
    for before, after in pairwise(merged):
        assert before.last is not None
        assert after.first > before.last + 1


@given(st.text(alphabet="0123456789Ll-+,:raw"))
def test_no_text_raises_anything_but_a_tool_error(text: str) -> None:
    """Whatever a model writes is a selector, part of the path, or a mistake it is told of."""
    try:
        path, selector = split_selector("a" + text)
        parse_ranges(text)
    except ToolError:
        return
    if selector is not None and selector.ranges:
        assert split_selector(path + spelled(selector)) == (path, selector)
