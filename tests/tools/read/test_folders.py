"""Folders as trees."""

import os
from pathlib import Path

import pytest

from sightline.tools import Outcome, ToolContext, ToolError
from sightline.tools.read import ReadTool, _folders
from sightline.tools.read._folders import age
from tests.tools.support import make_context, run

NOW = 1_700_000_000.0


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(clock=lambda: NOW), context, path=path)


def made(path: Path, seconds_ago: float, size: int = 0) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"x" * size)
    os.utime(path, (NOW - seconds_ago,) * 2)


async def test_siblings_stand_by_recency_with_sizes_and_ages(context: ToolContext) -> None:
    """read.md/Directory listings: two levels, what changed last first."""
    made(context.cwd / "old.txt", 3 * 86_400, 2048)
    made(context.cwd / "src/deep/hidden.py", 5)
    made(context.cwd / "src/a.py", 120, 10)
    made(context.cwd / "new.txt", 5, 1)
    for folder, ago in ((context.cwd / "src/deep", 4000), (context.cwd / "src", 7200)):
        os.utime(folder, (NOW - ago,) * 2)
    outcome = await read(context, ".")
    assert outcome.text.split("\n") == [
        "new.txt (1 B, just now)",
        "src/ (2h ago)",
        "  a.py (10 B, 2m ago)",
        "  deep/ (1h ago)",
        "old.txt (2.0 KB, 3d ago)",
    ]
    assert outcome.details["is_directory"] is True
    assert outcome.details["ui"]["kind"] == "listing"
    assert "limits" not in outcome.details["meta"]


@pytest.mark.parametrize("path", [pytest.param("/", id="read.md/Notes/a bare slash"), ".", "", "~"])
async def test_the_workspace_is_listed(context: ToolContext, path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bare / is the workspace, not the root of the machine."""
    monkeypatch.setenv("HOME", str(context.cwd))
    made(context.cwd / "only.txt", 5)
    if not path:
        with pytest.raises(ToolError, match="empty"):
            await read(context, path)
        return
    assert (await read(context, path)).text == "only.txt (0 B, just now)"


async def test_an_empty_folder_says_so(context: ToolContext) -> None:
    """read.md/Directory listings: in these words."""
    assert (await read(context, "/")).text == "(empty directory)"


async def test_below_the_top_twelve_children_are_shown(context: ToolContext) -> None:
    """read.md/Limits & Caps, Outputs: the top shows all it has; the limit is told."""
    for number in range(30):
        made(context.cwd / f"top{number:02}", number)
        made(context.cwd / f"folder/child{number:02}", number)
    outcome = await read(context, "/")
    lines = outcome.text.split("\n")
    assert sum(line.startswith("top") for line in lines) == 30
    assert [line.split(" (")[0].strip() for line in lines if line.startswith("  child")] == [
        f"child{number:02}" for number in range(12)
    ]
    assert "  … 18 more" in lines
    assert outcome.details["meta"]["limits"] == {"result_limit": len(lines)}


async def test_links_are_named_and_not_followed(context: ToolContext) -> None:
    """A loop ends where it begins."""
    (context.cwd / "a").mkdir()
    (context.cwd / "a" / "loop").symlink_to(context.cwd)
    (context.cwd / "gone").symlink_to("nowhere")
    text = (await read(context, "/")).text
    assert f"  loop (link to {context.cwd}," in text
    assert "gone (link to nowhere," in text


async def test_what_is_no_file_is_named_without_being_opened(context: ToolContext) -> None:
    """A pipe in a folder holds nobody up, and repositories' own folders stay closed."""
    os.mkfifo(context.cwd / "pipe")
    made(context.cwd / ".git/config", 5)
    text = (await read(context, "/")).text
    assert "pipe (not a regular file," in text
    assert ".git/" in text
    assert "config" not in text


@pytest.mark.parametrize(
    ("selector", "rows"),
    [
        pytest.param(":1-3", ["f0", "f1", "f2"], id="read.md/Directory listings/lines asked for"),
        pytest.param(":9", ["f8", "f9"], id="read.md/Directory listings/from a line on"),
    ],
)
async def test_rows_of_a_listing_can_be_asked_for(context: ToolContext, selector: str, rows: list[str]) -> None:
    """Exactly these rows."""
    for number in range(10):
        made(context.cwd / f"f{number}", number)
    text = (await read(context, f"{context.cwd}{selector}")).text
    assert [line.split(" ")[0] for line in text.split("\n")] == rows
    assert "has 10 rows" in (await read(context, f"{context.cwd}:99")).text


async def test_a_huge_folder_is_cut_and_said_so(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """In lines, and in entries that are looked at."""
    for number in range(3100):
        (context.cwd / f"f{number}").touch()
    text = (await read(context, "/")).text
    assert text.endswith("rows shown; use :A-B for others]")
    assert len(text) < 60_000
    monkeypatch.setattr(_folders, "LOOKED_AT", 50)
    assert (await read(context, "/")).text.endswith("… 3050 more not looked at")


async def test_a_folder_has_no_conflicts(context: ToolContext) -> None:
    """The selector is for files."""
    with pytest.raises(ToolError, match="is a directory"):
        await read(context, f"{context.cwd}:conflicts")


async def test_a_folder_that_cannot_be_listed_is_an_error(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One below says so in its place."""
    made(context.cwd / "sub/x", 5)
    scandir = os.scandir

    def refuse(folder: int) -> object:
        if os.readlink(f"/proc/self/fd/{folder}").endswith("sub"):
            raise PermissionError(13, "Permission denied")
        return scandir(folder)

    monkeypatch.setattr(os, "scandir", refuse)
    assert "\n  (permission denied)" in (await read(context, "/")).text
    with pytest.raises(ToolError, match="permission denied"):
        await read(context, "sub")


async def test_a_file_name_cannot_make_a_row_of_its_own(context: ToolContext) -> None:
    """Line ends in names are shown as letters."""
    made(context.cwd / "a\nb", 5)
    assert (await read(context, "/")).text == "a\ufffdb (0 B, just now)"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"), (59, "just now"), (60, "1m ago"), (3599, "59m ago"), (3600, "1h ago"), (86_399, "23h ago"),
        (86_400, "1d ago"), (13 * 86_400, "13d ago"), (14 * 86_400, "2w ago"), (364 * 86_400, "52w ago"),
        (366 * 86_400, "1y ago"),
    ],
)  # fmt: skip
def test_ages_are_short(seconds: float, words: str) -> None:
    """The largest unit that fits, rounded down."""
    assert age(seconds) == words
