"""A diff is read back as it was made, and the lines around a place are those of the file."""

import re
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.text import unified_diff
from sightline.working_copies._patch import patch_of
from sightline.working_copies._states import MISSING, FileState
from sightline.working_copies.change._diff import FileDiff, files_of
from sightline.working_copies.change._lines_around import lines_around

LINES = st.lists(
    st.sampled_from(["a", "b", "", "--- x", "+++ y", "@@ -1 +1 @@", "diff --git a/x b/x", " ", "\\"]), max_size=30
)
_hunk = re.compile(r"@@ -(\d+),\d+ \+(\d+),\d+ @@").fullmatch


def state(lines: list[str]) -> FileState:
    return FileState("file", 0o644, "".join(f"{line}\n" for line in lines).encode())


def diff_of(old: list[str], new: list[str], name: str = "x") -> str:
    return b"".join(patch_of(name, state(old), state(new))).decode()


@given(
    LINES,
    LINES,
    st.text(st.characters(blacklist_categories=["Cs"], blacklist_characters="\0/"), min_size=1, max_size=8),
)
def test_files_are_found_whatever_stands_in_them(old: list[str], new: list[str], name: str) -> None:
    """One after the other, each with its name on both sides."""
    if old == new:
        new = [*new, "more"]
    pieces = [diff_of(old, new, name), b"".join(patch_of(f"{name}.new", MISSING, state(new))).decode()]
    pieces.append(b"".join(patch_of(f"{name}.gone", state(old), MISSING)).decode())
    found = files_of("".join(pieces))
    assert [each.text for each in found] == pieces
    assert [each.paths for each in found] == [(name, name), ("", f"{name}.new"), (f"{name}.gone", "")]
    assert not any(each.is_empty for each in found)


@given(LINES, LINES, st.integers(0, 40), st.integers(0, 40))
def test_lines_around_are_lines_of_the_file(old: list[str], new: list[str], first: int, last: int) -> None:
    """By their numbers, on both sides, whether they changed or not."""
    shown = lines_around(FileDiff(diff_of(old, new)), lambda: [*old, ""], first, last)
    before, after = 0, 0
    for line in shown.split("\n") if shown else []:
        if (found := _hunk(line)) is not None:
            before, after = int(found[1]), int(found[2])
            continue
        if line[0] in " -":
            assert old[before - 1] == line[1:]
            before += 1
        if line[0] in " +":
            assert new[after - 1] == line[1:]
            after += 1
    if 0 < first <= last <= len(new) and last - first < 10:
        assert all(f"{new[number - 1]}" in shown for number in range(first, last + 1))


@pytest.mark.parametrize(
    ("head", "paths"),
    [
        ("diff --git a/x b/x\nold mode 100644\nnew mode 100755", ("x", "x")),
        ("diff --git a/a b/c b/a b/c\nold mode 100644\nnew mode 100755", ("a b/c", "a b/c")),
        ('diff --git "a/q\\"\\303\\274" "b/q\\"\\303\\274"\nold mode 100644', ('q"ü', 'q"ü')),
        ("diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y", ("x", "y")),
        ("diff --git a/x b/y\ncopy from x\ncopy to y", ("x", "y")),
        ("diff --git a/e b/e\nnew file mode 100644\nindex 0000000..e69de29", ("", "e")),
        ("diff --git a/e b/e\ndeleted file mode 100644\nindex e69de29..0000000", ("e", "")),
        ("diff --git a/b b/b\nnew file mode 100644\nBinary files /dev/null and b/b differ", ("", "b")),
        ("diff --git a/  b/ ", (" ", " ")),
        ("diff --git garbage", None),
        ("diff --git ", None),
    ],
)
def test_names_before_the_hunks(head: str, paths: tuple[str, str] | None) -> None:
    """Of what has no hunks, too; what is no head raises nothing."""
    found = FileDiff(f"{head}\n").paths
    assert paths is None or found == paths


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    for file in [*files_of(f"diff --git {text}"), FileDiff(text)]:
        assert isinstance(file.path, str)
        lines_around(file, partial(list, ["a"]), 1, 2)


def test_a_diff_of_another_writer() -> None:
    """Without counts, without a line end, cut in the middle."""
    hunks = "@@ -1 +1 @@ def f():\n-a\n\\ No newline at end of file\n+b\n@@ -9,2 +9,5 @@\n c"
    text = f"diff --git a/x b/x\n--- a/x\n+++ b/x\n{hunks}"
    (file,) = files_of(text)
    assert [(hunk.old, hunk.new, len(hunk.lines)) for hunk in file.hunks] == [(1, 1, 3), (9, 9, 1)]
    assert lines_around(file, list, 1, 1) == "@@ -1,1 +1,1 @@\n-a\n+b"


def test_both_makers_of_diffs_agree() -> None:
    """Ours of new files has the form that git's has."""
    made = unified_diff("", "a\n", "/dev/null", "b/x")
    (file,) = files_of(f"diff --git a/x b/x\nnew file mode 100644\n{made.text}")
    assert lines_around(file, list, 1, 1) == "@@ -1,0 +1,1 @@\n+a"
