"""What the model and views are told of an edit."""

import msgspec
import pytest

from sightline.tools.edit import EditTool

LINES = [f"line {number}" for number in range(1, 41)]
BEFORE = "".join(f"{line}\n" for line in LINES)


async def test_the_result_is_a_header_and_a_short_diff(desk):
    """edit.md/Outputs: new numbers for lines that are there, old ones for lines that are gone."""
    tag = desk.show("a.txt", BEFORE)
    outcome = await desk.edit(f"¶a.txt#{tag}\nreplace 5:\n+x\n+y\ndelete 20..21")
    head, *rows = outcome.text.split("\n")
    assert head.startswith("¶a.txt#")
    assert rows == [
        " 3:line 3", " 4:line 4", "-5:line 5", "+5:x", "+6:y", " 7:line 6", " 8:line 7", "...",
        " 19:line 18", " 20:line 19", "-20:line 20", "-21:line 21", " 21:line 22", " 22:line 23",
    ]  # fmt: skip


async def test_details_tell_what_changed(desk):
    """edit.md/Outputs: diff, first changed line, op; the shape is a diff."""
    tag = desk.show("a.txt", BEFORE)
    details = (await desk.edit(f"¶a.txt#{tag}\nreplace 5:\n+line 5\n+y")).details
    assert details["ui"] == {"kind": "diff"}
    assert details["op"] == "update"
    assert details["first_changed_line"] == 6
    assert (details["added"], details["removed"]) == (1, 0)
    assert details["diff"] == (
        "--- a/a.txt\n+++ b/a.txt\n@@ -3,6 +3,7 @@\n line 3\n line 4\n line 5\n+y\n line 6\n line 7\n line 8\n"
    )


async def test_long_runs_are_shortened(desk):
    """The model wrote them; it needs their ends to see where they are."""
    tag = desk.show("a.txt", BEFORE)
    body = "\n".join(f"+new {number}" for number in range(20))
    outcome = await desk.edit(f"¶a.txt#{tag}\ninsert after 10:\n{body}")
    rows = outcome.text.split("\n")
    assert "+... 14 more lines" in rows
    assert len(rows) < 15
    assert outcome.details["diff"].count("\n+new") == 20


async def test_an_edit_all_over_the_file_is_told_in_one_line(desk):
    """edit.md/Outputs: Updated <path> when there is no short diff."""
    tag = desk.show("a.txt", BEFORE * 10)
    ops = "\n".join(f"replace {number}:\n+x" for number in range(1, 400, 7))
    outcome = await desk.edit(f"¶a.txt#{tag}\n{ops}")
    assert outcome.text.split("\n")[1:] == ["Updated a.txt"]


@pytest.mark.parametrize("row", ["x" * 100_000, "\0" * 1000, "é" * 3000])
async def test_details_stay_small(desk, row):
    """Whatever is in the file."""
    tag = desk.show("a.txt", f"{row}\n" * 100)
    outcome = await desk.edit(f"¶a.txt#{tag}\ndelete 1..99\n¶b.txt\ninsert head:\n" + f"+{row}\n" * 100)
    assert len(msgspec.json.encode(outcome.details)) < 64 * 1024
    assert "more lines" in outcome.details["diff"]


async def test_block_lines_stand_between_header_and_diff(desk):
    """edit.md/Outputs: one line per block operation."""
    pytest.importorskip("tree_sitter_python")
    tag = desk.show("a.py", "def f():\n    return 1\n\n\ndef g():\n    return 2\n\n\nx = 1\n")
    outcome = await desk.edit(f"¶a.py#{tag}\ndelete block 1\nreplace block 5:\n+g = 1\ninsert after block 9:\n+y = 1")
    assert outcome.text.split("\n")[1:4] == [
        "delete block 1 → resolved lines 1-2 (2 lines)",
        "replace block 5 → resolved lines 5-6 (2 lines)",
        "insert after block 9 → resolved lines 9-9 (1 line)",
    ]


def test_the_tool_runs_alone():
    """Two edits at once could each overwrite the other's."""
    assert EditTool.exclusive
