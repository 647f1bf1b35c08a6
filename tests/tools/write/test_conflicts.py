"""Conflicts resolved through the tool: needs, tags, what is told."""

from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.conflicts import Conflicts
from sightline.tools.hashline import Snapshots
from sightline.tools.write import WriteTool

from ..conflicts.test_regions import THREE, TWO
from ..support import make_context, run

RESOLVE = "write.md/Outputs/Conflict resolution"


def with_conflicts(folder: Path, **settings: dict[str, object]) -> ToolContext:
    """a.py has conflicts 1 and 2, d/b.py has 3."""
    context = make_context(folder, **settings)
    (context.cwd / "d").mkdir()
    for name, text in (("a.py", TWO + THREE), ("d/b.py", TWO)):
        (context.cwd / name).write_text(text)
        context.shared(Conflicts).register(context.cwd / name, text)
    return context


def needed(context: ToolContext, path: str) -> list[str]:
    tool = WriteTool()
    return [need.what for need in tool.needs(tool.params(path=path, content=""), context)]


async def test_one_conflict_is_resolved(tmp_path: Path) -> None:
    """With a fresh header first, and what is left."""
    context = with_conflicts(tmp_path)
    assert needed(context, "conflict://1") == [str(context.cwd / "a.py")]
    outcome = await run(WriteTool(), context, path="conflict://1", content="@both")
    text = "a\nours\ntheirs\nb\n" + THREE
    assert (context.cwd / "a.py").read_text() == text
    tag = context.shared(Snapshots).record(context.cwd / "a.py", text)
    assert outcome.text == f"¶a.py#{tag}\nResolved conflict 1 in a.py. Left: conflict://2"
    assert outcome.details["files"] == [{"path": "a.py", "resolved": [1], "problem": ""}]


async def test_the_last_conflict_of_a_file_is_said_to_be_the_last(tmp_path: Path) -> None:
    """Without hash lines there is no header."""
    context = with_conflicts(tmp_path, read={"hash_lines": False})
    outcome = await run(WriteTool(), context, path="conflict://3", content="x\n")
    assert outcome.text == "Resolved conflict 3 in d/b.py. No conflicts are left in it."


async def test_copied_line_numbers_are_removed_here_too(tmp_path: Path) -> None:
    """Content often comes from what `:conflicts` showed."""
    context = with_conflicts(tmp_path)
    outcome = await run(WriteTool(), context, path="conflict://3", content="¶d/b.py#0A3B\n3:ours\n4:more\n")
    assert (context.cwd / "d/b.py").read_text() == "a\nours\nmore\nb\n"
    assert "[Removed the headers" in outcome.text


async def test_all_conflicts_are_resolved(tmp_path: Path) -> None:
    """With a Snapshots: block, one header for each file."""
    context = with_conflicts(tmp_path)
    assert needed(context, "conflict://*") == [str(context.cwd / "a.py"), str(context.cwd / "d/b.py")]
    outcome = await run(WriteTool(), context, path="conflict://*", content="@ours")
    texts = {"a.py": "a\nours\nb\nours\n", "d/b.py": "a\nours\nb\n"}
    assert {name: (context.cwd / name).read_text() for name in texts} == texts
    tags = {name: context.shared(Snapshots).record(context.cwd / name, text) for name, text in texts.items()}
    assert outcome.text.splitlines() == [
        "Resolved 3 conflicts in 2 files",
        "a.py: 1, 2. No conflicts are left in it.",
        "d/b.py: 3. No conflicts are left in it.",
        "",
        "Snapshots:",
        *(f"¶{name}#{tag}" for name, tag in tags.items()),
    ]


async def test_a_file_that_fails_is_named(tmp_path: Path) -> None:
    """The others are resolved, and only they have a snapshot."""
    context = with_conflicts(tmp_path)
    (context.cwd / "a.py").unlink()
    outcome = await run(WriteTool(), context, path="conflict://*", content="@ours")
    assert "not found." in outcome.text.partition("Failed:\na.py: ")[2]
    assert [line[:8] for line in outcome.text.splitlines() if line.startswith("¶")] == ["¶d/b.py#"]


async def test_nothing_resolved_is_a_failure(tmp_path: Path) -> None:
    """Every file failed."""
    context = with_conflicts(tmp_path)
    for name in ("a.py", "d/b.py"):
        (context.cwd / name).write_text("clean\n")
    with pytest.raises(ToolError, match="No conflict was resolved"):
        await run(WriteTool(), context, path="conflict://*", content="@ours")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("conflict://1/ours", "read-only", id="write.md/Errors/conflict scope"),
        pytest.param("conflict://1/base", "read-only", id="write.md/Errors/conflict scope base"),
        pytest.param("conflict://9", "no conflict 9", id="write.md/Errors/conflict id not known"),
        pytest.param("conflict://x", "names no conflict", id="write.md/Errors/conflict id invalid"),
        pytest.param("conflict://*/ours", "names no side", id="write.md/Errors/conflict scope of all"),
    ],
)
async def test_what_is_no_conflict_is_refused_first(tmp_path: Path, path: str, said: str) -> None:
    """Before anyone is asked."""
    context = with_conflicts(tmp_path)
    with pytest.raises(ToolError, match=said):
        needed(context, path)
    with pytest.raises(ToolError, match=said):
        await run(WriteTool(), context, path=path, content="x")


async def test_without_history_there_is_nothing_to_resolve(tmp_path: Path) -> None:
    """write.md/Errors: missing conflict history."""
    context = make_context(tmp_path)
    for path in ("conflict://1", "conflict://*"):
        with pytest.raises(ToolError, match="Read FILE:conflicts"):
            needed(context, path)
