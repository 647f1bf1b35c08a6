"""Ids of conflicts: given out once, kept while the conflict reads the same."""

from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.conflicts import Conflicts, _registry, parse_url, read_conflict, render

from .test_regions import THREE, TWO

OTHER = TWO.replace("ours", "other")
READ = "read.md/Selector grammar/:conflicts"


def ids(conflicts: Conflicts, path: Path, text: str) -> list[int]:
    return [conflict.id for conflict in conflicts.register(path, text)]


def test_the_same_conflict_has_the_same_id(tmp_path: Path) -> None:
    """Read again, moved down, or with another one before it."""
    conflicts = Conflicts()
    path = tmp_path / "a"
    assert ids(conflicts, path, TWO) == [1]
    assert ids(conflicts, path, TWO) == [1]
    assert ids(conflicts, path, "x\n" * 5 + TWO) == [1]
    assert ids(conflicts, path, OTHER + TWO) == [2, 1]
    assert conflicts.get(1).region.first == 9


def test_ids_are_of_the_session(tmp_path: Path) -> None:
    """Two files never share one; a file through a link is the same file."""
    conflicts = Conflicts()
    (tmp_path / "a").touch()
    (tmp_path / "link").symlink_to("a")
    assert ids(conflicts, tmp_path / "a", TWO) == [1]
    assert ids(conflicts, tmp_path / "b", TWO) == [2]
    assert ids(conflicts, tmp_path / "link", TWO) == [1]


def test_of_two_that_read_the_same_the_one_that_stayed_is_meant(tmp_path: Path) -> None:
    """The first of them was resolved by hand without changing the number of lines."""
    conflicts = Conflicts()
    assert ids(conflicts, tmp_path / "a", TWO + TWO) == [1, 2]
    assert ids(conflicts, tmp_path / "a", "-\n" * 7 + TWO) == [2]


def test_a_resolved_conflict_is_forgotten(tmp_path: Path) -> None:
    """Its id is not given out again."""
    conflicts = Conflicts()
    assert ids(conflicts, tmp_path / "a", TWO) == [1]
    assert ids(conflicts, tmp_path / "a", "clean\n") == []
    with pytest.raises(ToolError, match="no conflict 1 in this session"):
        conflicts.get(1)
    assert ids(conflicts, tmp_path / "a", TWO) == [2]


def test_the_oldest_are_forgotten_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is remembered is bounded."""
    monkeypatch.setattr(_registry, "MOST", 3)
    conflicts = Conflicts()
    for number in range(5):
        conflicts.register(tmp_path / str(number), TWO)
    assert [conflict.id for conflict in conflicts.all()] == [3, 4, 5]


def test_of_a_file_with_too_many_the_first_are_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are the ones that are shown; the others come when these are resolved."""
    monkeypatch.setattr(_registry, "MOST", 3)
    conflicts = Conflicts()
    assert ids(conflicts, tmp_path / "a", TWO * 5) == [1, 2, 3]
    assert ids(conflicts, tmp_path / "a", TWO * 4) == [1, 2, 3]


def test_conflicts_are_shown_with_ids_and_lines(tmp_path: Path) -> None:
    """What `FILE:conflicts` shows: ids, places, names of the sides, numbered lines, and how to resolve."""
    conflicts = Conflicts()
    text = render(conflicts.register(tmp_path / "a.py", TWO + THREE), "src/a.py")
    assert text.splitlines()[:9] == [
        "2 unresolved conflicts in src/a.py",
        "",
        "conflict://1 lines 2-6 (ours: HEAD, theirs: branch)",
        "2:<<<<<<< HEAD",
        "3:ours",
        "4:=======",
        "5:theirs",
        "6:>>>>>>> branch",
        "",
    ]
    assert "conflict://2 lines 8-14 (ours: HEAD, base: 1234abc, theirs: branch)" in text
    assert text.endswith("conflict://* resolves all.")


def test_a_file_without_conflicts_says_so(tmp_path: Path) -> None:
    """Which is the good case."""
    assert render([], "a.py") == "No unresolved conflicts in a.py."


def test_many_and_long_conflicts_are_cut(tmp_path: Path) -> None:
    """And it is said where the rest is."""
    long = "<<<<<<< a\n" + "x\n" * 500 + "=======\n>>>>>>> b\n"
    conflicts = Conflicts().register(tmp_path / "a", long + TWO * 150)
    text = render(conflicts, "a")
    assert "[303 more lines; read conflict://1 or one of its sides]" in text
    assert "[51 more; resolve some and read again]" in text
    assert len(text) < 20_000


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        pytest.param("conflict://1", THREE, id=f"{READ}/conflict://ID"),
        pytest.param("conflict://1/", THREE, id=f"{READ}/conflict://ID/"),
        pytest.param("conflict://1/ours", "ours\n", id=f"{READ}/ours"),
        pytest.param("conflict://1/theirs", "theirs\n", id=f"{READ}/theirs"),
        pytest.param("conflict://1/base", "base\n", id=f"{READ}/base"),
        pytest.param("conflict://*", "conflict://1 a:1-7\nconflict://2 b:2-6", id=f"{READ}/all"),
    ],
)
def test_a_conflict_is_read_by_its_url(tmp_path: Path, url: str, expected: str) -> None:
    """Whole, one side, or the list of all."""
    conflicts = Conflicts()
    conflicts.register(tmp_path / "a", THREE)
    conflicts.register(tmp_path / "b", TWO)
    assert read_conflict(url, conflicts, lambda path: path.name) == expected


@pytest.mark.parametrize(
    ("url", "said"),
    [
        pytest.param("conflict://9", "no conflict 9 in this session. Known: 1", id="write.md/Errors/id not known"),
        pytest.param("conflict://1/base", "has no base", id=f"{READ}/no base"),
        pytest.param("conflict://1/mine", "names no side", id=f"{READ}/no such side"),
        pytest.param("conflict://x", "names no conflict", id="write.md/Errors/invalid id"),
        pytest.param("conflict://", "names no conflict", id="write.md/Errors/no id"),
        pytest.param("conflict://-1", "names no conflict", id="write.md/Errors/negative id"),
        pytest.param("conflict://*/ours", "names no side", id=f"{READ}/a side of all"),
    ],
)
def test_what_names_no_conflict_is_said(tmp_path: Path, url: str, said: str) -> None:
    """With the ids there are."""
    conflicts = Conflicts()
    conflicts.register(tmp_path / "a", TWO)
    with pytest.raises(ToolError, match=said):
        read_conflict(url, conflicts, str)


def test_no_conflicts_are_known_at_first() -> None:
    """The message says how to find them."""
    assert "Read FILE:conflicts" in read_conflict("conflict://*", Conflicts(), str)
    with pytest.raises(ToolError, match="Read FILE:conflicts to find them"):
        Conflicts().get(1)
    assert parse_url("CONFLICT://3/ours").scope == "ours"
