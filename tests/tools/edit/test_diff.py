"""Diffs show changes of line ends and of the final newline, and count lines as files do."""

from pathlib import Path

import pytest

from sightline.text import clean_text, unified_diff
from sightline.tools import ToolContext, parameters
from sightline.tools.edit import EditTool
from sightline.tools.read import ReadTool
from sightline.tools.write import WriteTool
from sightline.tools.write._file import diff
from sightline.tty.components._diff_lines import read_diff
from tests.tools.support import make_context, run

NO_NEWLINE = "\\ No newline at end of file"


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def edited(context: ToolContext, before: str, patch: str) -> str:
    (context.cwd / "a.txt").write_text(before, newline="")
    tag = (await run(ReadTool(), context, path="a.txt")).text.split("\n")[0].rpartition("#")[2]
    outcome = await run(EditTool(), context, input=f"¶a.txt#{tag}\n{patch}")
    return outcome.details["diff"]


async def test_a_write_that_changes_line_ends_shows_it(context: ToolContext) -> None:
    """The two lines looked the same: what drives a terminal is removed from what is displayed."""
    (context.cwd / "a.txt").write_bytes(b"one\ntwo\n")
    tool, args = WriteTool(), {"path": "a.txt", "content": "one\r\ntwo\r\n"}
    proposal = await tool.changes(parameters(tool, args), context)
    assert proposal.about == "line ends change from LF to CRLF"
    shown = [line.text for line in read_diff(clean_text(proposal.diff)) if line.kind in ("added", "removed")]
    assert shown == ["one", "two", "one␍", "two␍"]


def test_lines_that_keep_their_ends_are_shown_without_them() -> None:
    assert "␍" not in diff("a.txt", "one\r\ntwo\r\n", "one\r\n2\r\n").text


@pytest.mark.parametrize(
    ("before", "patch", "rows"),
    [
        ("one\ntwo", "insert tail:\n+three", [" one", "-two", NO_NEWLINE, "+two", "+three", NO_NEWLINE]),
        ("one\n\ntwo", "delete 3..3", [" one", " ", "-two", NO_NEWLINE]),
        ("one\ntwo", "replace 1..1:\n+1", ["-one", "+1", " two", NO_NEWLINE]),
        ("one\ntwo\n", "replace 1..1:\n+1", ["-one", "+1", " two"]),
    ],
)
async def test_an_edit_shows_the_final_newline(context: ToolContext, before: str, patch: str, rows: list[str]) -> None:
    shown = await edited(context, before, patch)
    assert shown.rstrip("\n").split("\n")[3:] == rows


@pytest.mark.parametrize("strange", ["\f", "\u2028", "\u2029", "\x0b", "\x85", "\x1c"])
async def test_numbers_count_newlines_alone(context: ToolContext, strange: str) -> None:
    before = f"a{strange}b\n" * 5 + "old\n" + f"c{strange}\n" * 5
    for shown in (
        await edited(context, before, "replace 6..6:\n+new"),
        unified_diff(before, before.replace("old", "new"), "a", "b").text,
    ):
        assert "@@ -3,7 +3,7 @@" in shown
        numbers = [line.number for line in read_diff(clean_text(shown)) if line.text in ("old", "new")]
        assert numbers == [6, 6]
