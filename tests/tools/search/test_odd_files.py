"""Names nobody expects, files that are no text, and files that change while they are searched."""

import asyncio
import os
import time

import psutil
import pytest

from sightline.tools import ToolContext
from sightline.tools.files import _ripgrep
from sightline.tools.hashline import Snapshots
from sightline.tools.search import SearchTool, _query, _render
from tests.tools.search.conftest import Search
from tests.tools.support import run


async def test_names_that_are_not_utf8_or_hold_newlines(search: Search, context: ToolContext, engine: str) -> None:
    """They are found, told apart and shown as text that can be encoded."""
    odd = context.cwd / "odd"
    odd.mkdir()
    for name in (b"a\nb.txt", b"\xff.txt", b"c\n\n1:x.txt"):
        (odd / os.fsdecode(name)).write_text("one\nhit\n")
    found = await search("hit", "odd")
    found.text.encode()
    assert found.details["files"] == ["odd/a\ufffdb.txt", "odd/c\ufffd\ufffd1:x.txt", "odd/\ufffd.txt"]
    assert found.details["match_count"] == 3
    assert (await search("hit", "odd/*.txt")).details["files"] == found.details["files"]
    assert (await search("hit", "odd/\ufffd.txt")).details["match_count"] == 1


async def test_globs_below_folders_with_odd_names(search: Search, context: ToolContext, engine: str) -> None:
    """A folder's name is never read as a glob or as a rule."""
    for name in ("a b", "[x]", "#c", "!d", "e\nf", "{g}", "h*"):
        folder = context.cwd / "odd" / name
        folder.mkdir(parents=True)
        (folder / "in.txt").write_text("hit\n")
        (folder / "out.md").write_text("hit\n")
        assert (await search("hit", f"odd/{name}/*.txt")).details["files"] == [
            f"odd/{name}/in.txt".replace("\n", "\ufffd")
        ], name


async def test_loops_of_links_are_not_followed(search: Search, context: ToolContext, engine: str) -> None:
    """A link to a folder above; a link to itself."""
    (context.cwd / "src" / "up").symlink_to(context.cwd)
    (context.cwd / "src" / "self").symlink_to("self")
    assert (await search("login", "src")).details["files"] == ["src/app.py", "src/util.ts"]


async def test_binary_files_are_left_out(search: Search, context: ToolContext, engine: str) -> None:
    """In a folder without a word; when named it is said."""
    (context.cwd / "bin").mkdir()
    (context.cwd / "bin" / "data").write_bytes(b"\0\1hit\n" * 100)
    (context.cwd / "bin" / "text").write_text("hit\n")
    assert (await search("hit", "bin")).details["files"] == ["bin/text"]
    found = await search("hit", ["bin/data", "bin/text"])
    assert found.details["files"] == ["bin/text"]
    assert "Skipped binary files: data" in found.text
    assert (await search("hit", "bin/data")).text == "No matches found\n\nSkipped binary files: data"


async def test_a_file_that_turns_out_to_be_binary_spoils_no_other(
    search: Search, context: ToolContext, engine: str
) -> None:
    """What ripgrep says of it stands between the lines of other files."""
    (context.cwd / "late").mkdir()
    for name in "abc":
        (context.cwd / "late" / name).write_bytes(b"hit\n" + b"x\n" * 100_000 + b"\0hit\n")
        (context.cwd / "late" / f"{name}.txt").write_text("hit\n")
    files = (await search("hit", "late")).details["files"]
    assert [file for file in files if file.endswith(".txt")] == ["late/a.txt", "late/b.txt", "late/c.txt"]
    assert set(files) <= {f"late/{name}" for name in ("a", "b", "c", "a.txt", "b.txt", "c.txt")}


async def test_utf16_is_read_and_not_offered_for_edits(search: Search, context: ToolContext, engine: str) -> None:
    """A byte order mark says what it is."""
    (context.cwd / "wide").write_bytes("one\nhit\n".encode("utf-16"))
    assert (await search("hit", "wide")).text == " 1|one\n*2|hit"


async def test_carriage_returns_are_not_shown(search: Search, context: ToolContext, engine: str) -> None:
    """And the tag still is that of the whole file."""
    path = context.cwd / "dos"
    path.write_bytes(b"one\r\nhit\r\n")
    header, *lines = (await search("hit", "dos")).text.splitlines()
    assert lines == [" 1:one", "*2:hit"]
    assert header.partition("#")[2] == context.shared(Snapshots).record(path, "one\nhit\n")


async def test_a_file_that_changed_since_has_the_tag_of_what_was_found(
    search: Search, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines shown and the snapshot must be of one state."""
    path = context.cwd / "moving"
    path.write_text("one\nhit\n")
    render = _render.render

    def change_then_render(*args: object) -> object:
        path.write_text("new\none\nhit\n")
        return render(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(_render, "render", change_then_render)
    header, *lines = (await search("hit", "moving")).text.splitlines()
    assert lines == [" 1:one", "*2:hit"]
    snapshots = context.shared(Snapshots)
    assert header.partition("#")[2] == snapshots.record_lines(path, {1: "one", 2: "hit"})
    assert header.partition("#")[2] != snapshots.record(path, path.read_text())


async def test_a_file_that_is_gone_by_now_is_still_shown(
    search: Search, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a tag, for there is nothing to edit."""
    render = _render.render

    def remove_then_render(*args: object) -> object:
        (context.cwd / "docs" / "guide.md").unlink()
        return render(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(_render, "render", remove_then_render)
    assert (await search("login", "docs")).text == "# docs/guide.md\n*1|How to login"


async def test_a_file_too_big_to_keep_has_a_tag_of_its_lines(
    search: Search, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """search.md/Notes: whole-file snapshots when possible."""
    monkeypatch.setattr(_render, "_SNAPSHOT", 4)
    header = (await search("login", "docs/guide.md")).text.splitlines()[0]
    path = context.cwd / "docs" / "guide.md"
    assert header.partition("#")[2] == context.shared(Snapshots).record_lines(path, {1: "How to login"})


async def test_unreadable_files_are_passed_over(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Errors: the scan goes on with what can be read; a file may vanish or be a dead link."""
    (context.cwd / "src" / "dead").symlink_to("nowhere")
    os.mkfifo(context.cwd / "src" / "pipe")
    locked = context.cwd / "src" / "locked"
    locked.mkdir()
    (locked / "x").write_text("nothing of it")
    locked.chmod(0)
    try:
        assert (await search("login", "src")).details["files"] == ["src/app.py", "src/util.ts"]
    finally:
        locked.chmod(0o700)


async def test_lines_far_down_a_file_are_searched_beyond_other_matches(search: Search, context: ToolContext) -> None:
    """A range is not cut short by matches above it, and nothing after it is read."""
    (context.cwd / "long").write_text("hit\n" * 100_000)
    found = await search("hit", "long:90000-90002")
    assert found.details["match_count"] == 3
    assert found.text.splitlines()[1:] == [
        " 89999:hit", "*90000:hit", "*90001:hit", "*90002:hit", " 90003:hit", " 90004:hit", " 90005:hit",
    ]  # fmt: skip


async def test_ripgrep_is_stopped_once_the_page_is_certain(search: Search, context: ToolContext) -> None:
    """Of a file that never ends only the first matches are waited for."""
    assert _query.MATCHES_OF_ONE_FILE == 200
    (context.cwd / "huge").write_bytes(b"hit\n" * 20_000_000)
    found = await search("hit", "huge:1-")
    assert found.details["match_count"] == 200
    assert children() == []


async def test_cancelling_kills_ripgrep(context: ToolContext) -> None:
    """search.md/Side Effects: at once, threads and all, and nothing is left behind."""
    (context.cwd / "huge").write_bytes(b"".join(b"%d\n" % number for number in range(3_000_000)))
    task = asyncio.create_task(run(SearchTool(), context, pattern="(1.*){9}x|nothing$", paths=["huge", "src"]))
    deadline = time.monotonic() + 10
    while not children() and not task.done() and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0)
    assert not task.done()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert children() == []


def children() -> list[str]:
    """The ripgreps this process runs."""
    mine = psutil.Process().children(recursive=True)
    return [child.name() for child in mine if child.name() == "rg" and child.status() != psutil.STATUS_ZOMBIE]


def test_ripgrep_is_there() -> None:
    """It comes with the program; else half of these tests would say nothing."""
    assert _ripgrep.program() is not None
