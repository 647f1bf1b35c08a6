"""Somebody else is there at the same time."""

import asyncio
import os
from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError, parameters
from sightline.tools.edit import EditTool, _work
from sightline.tools.hashline import Snapshots
from sightline.tools.read import ReadTool
from sightline.tools.search import SearchTool
from sightline.tools.write import WriteTool
from tests.tools.support import run


async def test_of_two_edits_at_once_none_is_lost(context: ToolContext) -> None:
    """Both are in the file, or the one that was too late was refused; never half of both."""
    path = context.cwd / "a.txt"
    before = "".join(f"line {number}\n" for number in range(1, 41))
    path.write_text(before)
    tag = (await run(ReadTool(), context, path="a.txt")).text.splitlines()[0]
    patches = {f"mine {n}": f"{tag}\nreplace {n}..{n}:\n+mine {n}\n" for n in (1, 10, 20, 30, 40)}
    done = await asyncio.gather(
        *(run(EditTool(), context, input=patch) for patch in patches.values()), return_exceptions=True
    )
    assert all(isinstance(one, ToolError) for one in done if isinstance(one, BaseException))
    now = path.read_text().splitlines()
    for row, one in zip(patches, done, strict=True):
        assert (row in now) == (not isinstance(one, BaseException))
    assert len(now) == 40


async def test_a_change_at_the_last_moment_is_not_overwritten(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the check of an edit and its write, of the same length and with a new file in the old one's place."""
    path = context.cwd / "a.txt"
    path.write_text("one\ntwo\n")
    tag = (await run(ReadTool(), context, path="a.txt")).text.splitlines()[0]
    real = _work.commit

    def late(plans: list, snapshots: Snapshots) -> None:
        (context.cwd / "new").write_text("ONE\nTWO\n")
        os.replace(context.cwd / "new", path)
        real(plans, snapshots)

    monkeypatch.setattr("sightline.tools.edit._work.commit", late)
    with pytest.raises(ToolError, match="changed at this moment by something other"):
        await run(EditTool(), context, input=f"{tag}\nreplace 1..1:\n+mine\n")
    assert path.read_text() == "ONE\nTWO\n"


async def test_a_link_put_in_place_of_a_file_is_seen_by_the_needs(context: ToolContext, tmp_path: Path) -> None:
    """What is asked for is always where it leads now: asked again after the swap, it is another need."""
    outside = tmp_path / "outside.txt"
    outside.write_text("theirs\n")
    path = context.cwd / "a.txt"
    path.write_text("mine\n")
    calls = (
        (WriteTool(), {"path": "a.txt", "content": "x"}),
        (EditTool(), {"input": "¶a.txt#0A1B\ndelete 1\n"}),
        (ReadTool(), {"path": "a.txt"}),
        (SearchTool(), {"pattern": "x", "paths": "a.txt"}),
    )
    before = [tool.needs(parameters(tool, arguments), context) for tool, arguments in calls]
    path.unlink()
    path.symlink_to(outside)
    after = [tool.needs(parameters(tool, arguments), context) for tool, arguments in calls]
    assert [need.what for needs in before for need in needs] == [str(path)] * 4
    assert [need.what for needs in after for need in needs] == [str(outside)] * 4


async def test_files_that_come_and_go_do_not_stop_a_search(context: ToolContext) -> None:
    """While it runs; what is there all the time is found."""
    (context.cwd / "stays.txt").write_text("needle\n")

    def churn() -> None:
        for number in range(300):
            name = context.cwd / f"{number % 7}.txt"
            name.unlink() if name.exists() else name.write_text("needle\n" * 50)

    churning = asyncio.create_task(asyncio.to_thread(churn))
    while True:
        found = await run(SearchTool(), context, pattern="needle", paths=".")
        assert "stays.txt" in found.details["files"]
        if churning.done():
            break
    await churning
