"""A unified diff: all that differs, whatever it holds, in bounded time."""

import shutil
import subprocess
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.text import changed_spans, unified_diff
from tests import needs

TEXT = st.lists(st.sampled_from(["a", "b", "c", "", "d\r", "-- x", "++ y"]), max_size=30).map("\n".join)


def applied(before: str, diff: str) -> str:
    """What a reader makes of the diff: the old text with its hunks in place."""
    old, new, at = before.split("\n"), [], 0
    rows = diff.split("\n")[2:-1]
    for index, row in enumerate(rows):
        if row.startswith("@@"):
            start, size = (int(n) for n in row.split()[1][1:].split(","))
            first = start - 1 if size else start
            new += old[at:first]
            at = first
        elif row.startswith("\\"):
            continue
        else:
            ends = "" if rows[index + 1 : index + 2] == ["\\ No newline at end of file"] else "\n"
            if row[0] != "+":
                at += 1
            if row[0] != "-":
                new.append(row[1:] + ("" if ends else "\0"))
    text = "\n".join([*new, *old[at:]])
    return text.replace("\0\n", "").replace("\0", "")


@given(TEXT, TEXT)
@settings(max_examples=300)
def test_applied_it_gives_the_new_text(before: str, after: str) -> None:
    """So nothing that changes is left out."""
    made = unified_diff(before, after, "a/x", "b/x")
    if before == after:
        assert made.text == ""
    else:
        assert applied(before, made.text).rstrip("\n") == after.rstrip("\n")
        assert made.added == sum(row.startswith("+") for row in made.text.split("\n")[2:])
        assert made.removed == sum(row.startswith("-") for row in made.text.split("\n")[2:])


def test_patch_understands_it(tmp_path: Path) -> None:
    """The program that everybody has."""
    before = "".join(f"line {n}\n" for n in range(60))
    after = before.replace("line 7\n", "line seven\nand more\n").replace("line 40\n", "")
    (tmp_path / "x").write_text(before)
    made = unified_diff(before, after, "x", "x")
    if shutil.which("patch") is None:
        needs.require(["git"])
    try:
        subprocess.run(["patch", "-s", "x"], input=made.text.encode(), cwd=tmp_path, check=True)
    except FileNotFoundError:
        subprocess.run(["git", "apply", "-p0", "-"], input=made.text.encode(), cwd=tmp_path, check=True)
    assert (tmp_path / "x").read_text() == after


def test_a_new_file_is_all_of_its_lines() -> None:
    """However many there are; an empty one is named."""
    content = "".join(f"line {n}\n" for n in range(5001))
    made = unified_diff(None, content, "a/x", "b/x")
    assert (made.added, made.removed) == (5001, 0)
    assert made.text.startswith("--- /dev/null\n+++ b/x\n@@ -0,0 +1,5001 @@\n+line 0\n")
    assert made.text.endswith("\n+line 5000\n")
    assert unified_diff(None, "", "a/x", "b/x").text == "--- /dev/null\n+++ b/x\n"


@pytest.mark.parametrize("end", ["\r", "\x0b", "\x0c", "\x1c", "\x85", "\u2028"])
def test_only_a_newline_ends_a_line(end: str) -> None:
    """Whatever else some programs take for an end is part of the line."""
    made = unified_diff("", f"one{end}two\n", "a/x", "b/x")
    assert f"\n+one{end}two\n" in made.text
    assert made.added == 1


def test_that_the_last_line_does_not_end_is_said() -> None:
    """It is a change like any other."""
    made = unified_diff("x\n", "x", "a/x", "b/x")
    assert made.text.endswith("-x\n+x\n\\ No newline at end of file\n")


def test_texts_with_nothing_in_common_take_bounded_time() -> None:
    """They are shown as removed and added altogether."""
    before = "".join(f"{n % 97} {n}\n" for n in range(60_000))
    after = "".join(f"{n % 89} {n * 7}\n" for n in range(60_000))
    began = time.monotonic()
    made = unified_diff(before, after, "a/x", "b/x")
    assert time.monotonic() - began < 3
    assert made.added >= 50_000


@given(TEXT, TEXT)
def test_spans_lead_from_one_list_of_lines_to_the_other(before: str, after: str) -> None:
    """In order, and each with something that differs."""
    old, new = before.split("\n"), after.split("\n")
    made = list(old)
    for start, end, new_start, new_end in reversed(changed_spans(old, new)):
        assert old[start:end] != new[new_start:new_end]
        made[start:end] = new[new_start:new_end]
    assert made == new
