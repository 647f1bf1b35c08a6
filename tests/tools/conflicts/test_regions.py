"""Conflict regions are found as Git leaves them, and nothing else is."""

import pytest

from sightline.tools.conflicts._regions import find_regions

TWO = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\nb\n"
THREE = "<<<<<<< HEAD\nours\n||||||| 1234abc\nbase\n=======\ntheirs\n>>>>>>> branch\n"
READ = "read.md/Selector grammar/:conflicts"


def sides(text: str) -> list[tuple[int, int, str, str | None, str]]:
    return [
        (region.first, region.last, "".join(region.ours), region.base and "".join(region.base), "".join(region.theirs))
        for region in find_regions(text)
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(TWO, [(2, 6, "ours\n", None, "theirs\n")], id=f"{READ}/two sides"),
        pytest.param(THREE, [(1, 7, "ours\n", "base\n", "theirs\n")], id=f"{READ}/diff3"),
        pytest.param(
            TWO + TWO, [(2, 6, "ours\n", None, "theirs\n"), (9, 13, "ours\n", None, "theirs\n")], id=f"{READ}/two"
        ),
        pytest.param(TWO.replace("\n", "\r\n"), [(2, 6, "ours\r\n", None, "theirs\r\n")], id=f"{READ}/CRLF"),
        pytest.param("<<<<<<<\n=======\n>>>>>>>", [(1, 3, "", None, "")], id=f"{READ}/no names, empty, no last end"),
        pytest.param(
            "<<<<<<< a\nx\n=======\ny\n=======\nz\n>>>>>>> b\n", [(1, 7, "x\n", None, "y\n=======\nz\n")],
            id=f"{READ}/heading in theirs",
        ),
        pytest.param(
            "<<<<<<< a\nlost\n<<<<<<< a\nx\n=======\ny\n>>>>>>> b\n", [(3, 7, "x\n", None, "y\n")],
            id=f"{READ}/not closed",
        ),
        pytest.param(
            "<<<<<<< a\nx\n||||||| c\n<<<<<<<<< t\np\n=========\nq\n>>>>>>>>> t\n=======\ny\n>>>>>>> b\n",
            [(1, 11, "x\n", "<<<<<<<<< t\np\n=========\nq\n>>>>>>>>> t\n", "y\n")],
            id=f"{READ}/merge inside the base",
        ),
        pytest.param(
            "<<<<<<< a\n\x0c\u2028y\n=======\n>>>>>>> b\n", [(1, 4, "\x0c\u2028y\n", None, "")], id=f"{READ}/separators"
        ),
        pytest.param("Title\n=======\ntext\n", [], id=f"{READ}/heading"),
        pytest.param("<<<<<<< a\nx\n=======\ny\n", [], id=f"{READ}/never closed"),
        pytest.param(" <<<<<<< a\n=======\n>>>>>>> b\n", [], id=f"{READ}/indented"),
        pytest.param("<<<<<<<a\n=======\n>>>>>>> b\n", [], id=f"{READ}/no space after the marker"),
        pytest.param(">>>>>>> b\n=======\n<<<<<<< a\n", [], id=f"{READ}/wrong order"),
        pytest.param("<<<<<<< a\n>>>>>>> b\n", [], id=f"{READ}/nothing between"),
        pytest.param("", [], id=f"{READ}/empty"),
    ],
)  # fmt: skip
def test_regions_are_found(text: str, expected: list[tuple[int, int, str, str | None, str]]) -> None:
    """Where they are and what each side says."""
    assert sides(text) == expected


def test_the_sides_have_names() -> None:
    """As the merge wrote them."""
    (region,) = find_regions(THREE)
    assert (region.ours_name, region.base_name, region.theirs_name) == ("HEAD", "1234abc", "branch")
    assert region.text == THREE
