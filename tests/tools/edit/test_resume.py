"""Tags of files survive a resume of the session."""

from pathlib import Path
from typing import Any

import pytest

from sightline.events import ToolResult
from tests.agent.support import lab


def call(tool: str, **args: Any) -> dict[str, Any]:
    return {"tool": tool, "args": args}


def tag_of(result: ToolResult) -> str:
    return result.content.split("\n")[0].rpartition("#")[2]


async def read_then_edit(tmp_path: Path, path: str, *patches: str) -> list[ToolResult]:
    """Read in one session; edit with its tag (`TAG`) after a resume."""
    turns: list[Any] = [[call("read", path=path)], [{"text": "seen"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        tag, session = tag_of(here.of(ToolResult)[0]), here.session.id
    edits = [[call("edit", input=patch.replace("TAG", tag))] for patch in patches]
    async with lab(tmp_path, [*turns, *edits, [{"text": "done"}]], resume=session) as here:
        await here.run()
        return here.of(ToolResult)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


async def test_the_tag_of_a_file_is_known_after_a_resume(tmp_path: Path, work: Path) -> None:
    (work / "a.py").write_text("one\ntwo\n")
    (edited,) = await read_then_edit(tmp_path, "a.py", "¶a.py#TAG\nreplace 2..2:\n+2")
    assert not edited.is_error, edited.content
    assert (work / "a.py").read_text() == "one\n2\n"


async def test_the_tag_of_a_file_that_was_written_is_known_after_a_resume(tmp_path: Path, work: Path) -> None:
    """Of what was stored: with the line ends, the mark and the last newline that the file had before."""
    (work / "a.txt").write_bytes(b"\xef\xbb\xbfa\r\nb\r\n")
    turns: list[Any] = [[call("write", path="a.txt", content="one\ntwo")], [{"text": "written"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        tag, session = tag_of(here.of(ToolResult)[0]), here.session.id
    edit = call("edit", input=f"¶a.txt#{tag}\nreplace 2..2:\n+2")
    async with lab(tmp_path, [*turns, [edit], [{"text": "done"}]], resume=session) as here:
        await here.run()
        (edited,) = here.of(ToolResult)
    assert not edited.is_error, edited.content
    assert edited.details["warnings"] == []
    assert (work / "a.txt").read_bytes() == b"\xef\xbb\xbfone\r\n2\r\n"


async def test_a_file_shown_in_part_is_edited_after_a_resume_where_it_was_shown(tmp_path: Path, work: Path) -> None:
    rows = [f"row {number} {'x' * 80}" for number in range(1, 60_001)]
    (work / "big.txt").write_text("\n".join(rows) + "\n")
    unseen, seen = await read_then_edit(
        tmp_path, "big.txt:100-110", "¶big.txt#TAG\nreplace 5..5:\n+x", "¶big.txt#TAG\nreplace 105..105:\n+here"
    )
    assert unseen.is_error
    assert "Line 5 of big.txt was not shown" in unseen.content
    assert not seen.is_error, seen.content
    rows[104] = "here"
    assert (work / "big.txt").read_text() == "\n".join(rows) + "\n"


async def test_a_file_that_changed_meanwhile_is_told_from_one_never_shown(tmp_path: Path, work: Path) -> None:
    (work / "a.py").write_text("one\ntwo\n")
    bash = call("bash", command="echo other >a.py")
    turns: list[Any] = [[call("read", path="a.py")], [bash], [{"text": "seen"}]]
    async with lab(tmp_path, turns) as here:
        await here.run()
        tag, session = tag_of(here.of(ToolResult)[0]), here.session.id
    turns += [[call("edit", input=f"¶a.py#{one}\nreplace 1..1:\n+2")] for one in (tag, "0000")]
    async with lab(tmp_path, [*turns, [{"text": "done"}]], resume=session) as here:
        await here.run()
        changed, unknown = here.of(ToolResult)
    assert f"#{tag} is an earlier state of a.py" in changed.content
    assert "#0000 was never given for a.py" in unknown.content
    assert (work / "a.py").read_text() == "other\n"


async def test_what_is_stored_holds_no_line_of_a_file(tmp_path: Path, work: Path) -> None:
    """A digest is enough; a file may hold what the journal must not."""
    (work / "a.py").write_text("one\ntwo\n")
    async with lab(tmp_path, [[call("read", path="a.py")], [{"text": "seen"}]]) as here:
        await here.run()
        stored = [value for name, value in here.agent.workplace.stored.items() if name.startswith("snapshot:")]
    assert len(stored) == 1
    assert [one["text"] for one in stored] == [None]
    assert "two" not in repr(stored)
