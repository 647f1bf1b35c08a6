"""find.md: every way to say what is looked for, every limit, every error."""

import asyncio
import json
import math
import os
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from sightline.tools import Outcome, ToolContext, ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.find import FindTool, _listing
from tests.tools.support import make_context, run

Find = Callable[..., Awaitable[Outcome]]
NOTHING = "No files found matching pattern"


@pytest.fixture(params=["rg", "no rg"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "no rg":
        monkeypatch.setattr(_ripgrep, "program", lambda: None)
    return str(request.param)


def make(folder: Path, *names: str) -> None:
    """Each file older than the one before; folders older still."""
    for age, name in enumerate(names):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x")
        os.utime(folder / name, (2_000_000_000 - age, 2_000_000_000 - age))
    for path in folder.rglob("*"):
        if path.is_dir():
            os.utime(path, (1_000_000_000, 1_000_000_000))


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    context = make_context(tmp_path)
    make(
        context.cwd, "src/app.py", "top.py", "src/deep/util.py", "src/deep/util.ts", "docs/guide.md", ".env", "log.tmp"
    )
    (context.cwd / ".gitignore").write_text("*.tmp\n")
    os.utime(context.cwd / ".gitignore", (1, 1))
    return context


@pytest.fixture
def find(context: ToolContext) -> Find:
    async def find(*paths: str, **args: Any) -> Outcome:
        return await run(FindTool(), context, paths=list(paths), **args)

    return find


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        pytest.param(["top.py"], ["top.py"], id="find.md/Modes/Exact file path"),
        pytest.param(["log.tmp"], ["log.tmp"], id="find.md/Modes/Exact file path, ignored or not"),
        pytest.param(
            ["src"],
            ["src/app.py", "src/deep/util.py", "src/deep/util.ts", "src/deep/"],
            id="find.md/Modes/Directory path",
        ),
        pytest.param(["*.py"], ["src/app.py", "top.py", "src/deep/util.py"], id="find.md/Notes/bare glob is recursive"),
        pytest.param(["src/*.py"], ["src/app.py"], id="find.md/Notes/glob below a folder is not"),
        pytest.param(["src/**/*.py"], ["src/app.py", "src/deep/util.py"], id="find.md/Notes/explicit recursion"),
        pytest.param(["**/*.ts"], ["src/deep/util.ts"], id="find.md/Flow/already recursive"),
        pytest.param(["src/*"], ["src/app.py", "src/deep/"], id="find.md/Outputs/directories have a slash"),
        pytest.param(["de*"], ["src/deep/"], id="find.md/Notes/directories are found"),
        pytest.param(["src/deep/util.{py,ts}"], ["src/deep/util.py", "src/deep/util.ts"], id="find.md/Flow/braces"),
        pytest.param(["src/deep/util.[pt]?"], ["src/deep/util.py", "src/deep/util.ts"], id="find.md/Flow/class"),
        pytest.param(["docs", "src/*.py"], ["src/app.py", "docs/guide.md"], id="find.md/Modes/Merged"),
        pytest.param(["top.py", "docs/*.md"], ["top.py", "docs/guide.md"], id="find.md/Modes/Merged, file and glob"),
        pytest.param(
            ["*.py", "src/*.py"], ["src/app.py", "top.py", "src/deep/util.py"], id="find.md/Modes/overlapping"
        ),
        pytest.param(["top.py,docs/*.md"], ["top.py", "docs/guide.md"], id="find.md/Inputs/comma"),
        pytest.param(["top.py; docs"], ["top.py", "docs/guide.md"], id="find.md/Inputs/semicolon"),
        pytest.param(["top.py docs/*.md"], ["top.py", "docs/guide.md"], id="find.md/Inputs/space"),
        pytest.param(["src\\*.py"], ["src/app.py"], id="find.md/Flow/backslashes are slashes"),
        pytest.param(["'top.py'"], ["top.py"], id="find.md/Flow/quotes"),
        pytest.param([".env"], [".env"], id="find.md/Inputs/hidden file by name"),
    ],
)
async def test_what_is_found(find: Find, engine: str, paths: list[str], files: list[str]) -> None:
    """Just these, the most recently changed first."""
    assert (await find(*paths)).details["files"] == files


@pytest.mark.parametrize("name", ["a,b.py", "a b.py", "a[1].py", "-x"])
async def test_existing_names_with_special_characters_stay_whole(
    find: Find, context: ToolContext, engine: str, name: str
) -> None:
    """find.md/Inputs: what exists as written is meant."""
    make(context.cwd, "a", name)
    assert (await find(name)).details["files"] == [name]


async def test_hidden_files_can_be_left_out(find: Find, engine: str) -> None:
    """find.md/Inputs/hidden."""
    assert ".env" in (await find(".")).details["files"]
    assert not [name for name in (await find(".", hidden=False)).details["files"] if name.startswith(".")]


async def test_ignored_files_can_be_included(find: Find, context: ToolContext, engine: str) -> None:
    """find.md/Inputs/gitignore: never by a glob alone; `.git` never."""
    make(context.cwd, ".git/config", "x.tmp")
    assert (await find("*.tmp")).text == NOTHING
    assert (await find("*.tmp", gitignore=False)).details["files"] == ["x.tmp", "log.tmp"]
    assert not [name for name in (await find(".", gitignore=False)).details["files"] if name.startswith(".git/")]


async def test_paths_are_grouped_by_directory(find: Find, engine: str) -> None:
    """find.md/Outputs: the top without a heading, then `# dir/` and names."""
    assert (await find("*.py")).text == "top.py\n\n# src/\napp.py\n\n# src/deep/\nutil.py"
    assert (await find("src/app.py")).text == "# src/\napp.py"


async def test_details(find: Find, engine: str) -> None:
    """find.md/Outputs/details."""
    details = (await find("src/*.py", "gone")).details
    assert details == {
        "ui": {"kind": "files"},
        "scope_path": "src/*.py, gone",
        "file_count": 1,
        "files": ["src/app.py"],
        "missing_paths": ["gone"],
    }


async def test_missing_paths_among_others_are_said(find: Find, engine: str) -> None:
    """find.md/Outputs/Multi-path partial miss: after what was found, or after nothing."""
    assert (await find("top.py", "gone")).text == "top.py\n\nSkipped missing paths: gone"
    assert (await find("*.none", "gone/*.py")).text == f"{NOTHING}\n\nSkipped missing paths: gone/*.py"


async def test_nothing_found_is_no_error(find: Find, engine: str) -> None:
    """find.md/Errors: empty matches."""
    found = await find("*.none")
    assert (found.text, found.is_error, found.details["file_count"]) == (NOTHING, False, 0)


@pytest.mark.parametrize(
    ("limit", "shown"),
    [
        pytest.param(None, 200, id="find.md/Limits & Caps/default 200"),
        pytest.param(1000, 200, id="find.md/Limits & Caps/larger is clamped"),
        pytest.param(2.9, 2, id="find.md/Limits & Caps/floored"),
        pytest.param(0.5, 1, id="find.md/Limits & Caps/at least one"),
    ],
)
@pytest.mark.parametrize("paths", ["many", "many/*.txt", "many/f*"])
async def test_results_are_limited(
    find: Find, context: ToolContext, engine: str, paths: str, limit: float | None, shown: int
) -> None:
    """The most recent are kept, and it is said that there are more."""
    make(context.cwd, *(f"many/f{number:03}.txt" for number in range(250)))
    found = await find(paths, **({} if limit is None else {"limit": limit}))
    assert found.details["files"] == [f"many/f{number:03}.txt" for number in range(shown)]
    assert found.details["result_limit_reached"] == shown
    assert found.details["truncated"] is True
    assert found.details["meta"]["limits"]["result_limit"] == shown
    assert "there are more" in found.text


async def test_exactly_the_limit_is_not_limited(find: Find, context: ToolContext, engine: str) -> None:
    """find.md/Limits & Caps: nothing was left out."""
    make(context.cwd, *(f"many/{number}.txt" for number in range(5)))
    assert "truncated" not in (await find("many/*.txt", limit=5)).details


async def test_output_is_cut_at_50_kilobytes(find: Find, context: ToolContext, engine: str) -> None:
    """find.md/Limits & Caps/Output byte cap, and details that still fit."""
    make(context.cwd, *(f"{'d' * 200}{number}/{'e' * 200}/f.txt" for number in range(150)))
    found = await find("*.txt")
    assert len(found.text.encode()) <= 50 * 1024
    assert found.details["truncation"]["max_bytes"] == 50 * 1024
    assert found.details["file_count"] == 150
    assert len(json.dumps(found.details)) < 64 * 1024


@pytest.mark.parametrize(
    ("asked", "seconds"),
    [
        pytest.param(None, 5, id="find.md/Limits & Caps/default 5 s"),
        pytest.param(0, 0.5, id="find.md/Limits & Caps/at least 0.5 s"),
        pytest.param(1e9, 60, id="find.md/Limits & Caps/at most 60 s"),
        pytest.param(7, 7, id="find.md/Limits & Caps/as asked"),
    ],
)
async def test_timeouts_are_clamped(
    find: Find, monkeypatch: pytest.MonkeyPatch, asked: float | None, seconds: float
) -> None:
    """find.md/Inputs/timeout."""
    given: list[float] = []
    real = _listing.listing

    async def listing(query: Any, tell: Any) -> Any:
        given.append(query.seconds)
        return await real(query, tell)

    monkeypatch.setattr("sightline.tools.find._work.listing", listing)
    await find(".", **({} if asked is None else {"timeout": asked}))
    assert given == [seconds]


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that shows the first files and then nothing for long. The time runs from there on, however long the
    machine takes to get so far."""
    real, real_done, shown = _ripgrep.listing, _listing._done, asyncio.Event()

    async def listing(folder: Path, *, newest_first: bool = False, **how: Any) -> Any:
        if not newest_first:
            async for names in real(folder, **how):
                yield names
                await asyncio.sleep(0.01)
                yield names
            shown.set()
        await asyncio.sleep(60)

    async def done(task: "asyncio.Task[None]", seconds: float) -> bool:
        if seconds > _listing.UPDATE_SECONDS:
            async with asyncio.timeout(60):
                await shown.wait()
        return await real_done(task, seconds)

    monkeypatch.setattr(_ripgrep, "listing", listing)
    monkeypatch.setattr(_listing, "_done", done)
    monkeypatch.setattr(_listing, "UPDATE_SECONDS", 0.005)
    monkeypatch.setattr("sightline.tools.find._work.SHORTEST", 0.1)


@pytest.mark.parametrize("paths", ["*.py", "src*", "."])
async def test_what_was_found_before_the_time_ran_out_is_shown(find: Find, engine: str, slow: None, paths: str) -> None:
    """find.md/Inputs/timeout: partial matches, said so, and no error."""
    found = await find(paths, timeout=0.2)
    count = found.details["file_count"]
    assert count >= 1
    assert f"find timed out after 0.2s; returning {count} partial matches" in found.text
    assert found.details["truncated"] is True


async def test_what_is_found_is_told_meanwhile(context: ToolContext, engine: str, slow: None) -> None:
    """find.md/Outputs/Streaming: plain lines, not grouped."""
    told: list[dict[str, Any]] = []
    context.update = told.append
    await run(FindTool(), context, paths=["src/**/*.py"], timeout=0.2)
    assert told
    assert told[-1]["ui"] == {"kind": "files"}
    assert sorted(told[-1]["display_content"].splitlines()) == ["src/app.py", "src/deep/util.py"]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({"paths": [""]}, "`paths` must contain non-empty globs or paths", id="find.md/Errors/empty"),
        pytest.param({"paths": ["src", " "]}, "`paths` must contain non-empty", id="find.md/Errors/one empty"),
        pytest.param({"paths": []}, "`paths` must contain non-empty", id="find.md/Errors/none"),
        pytest.param({"paths": ["gone"]}, "Path not found: gone", id="find.md/Errors/missing"),
        pytest.param({"paths": ["gone/*.py"]}, "Path not found: gone/*.py", id="find.md/Errors/missing base"),
        pytest.param({"paths": ["gone", "lost"]}, "Path not found: gone, lost", id="find.md/Errors/all missing"),
        pytest.param({"paths": ["/*"]}, "root directory '/' is not allowed", id="find.md/Errors/root by a glob"),
        pytest.param({"paths": ["/usr/.."]}, "root directory '/' is not allowed", id="find.md/Errors/root by dots"),
        pytest.param({"paths": ["src", "/*"]}, "root directory '/' is not allowed", id="find.md/Errors/root, too"),
        pytest.param({"limit": 0}, "Limit must be a positive number", id="find.md/Errors/limit 0"),
        pytest.param({"limit": -3}, "Limit must be a positive number", id="find.md/Errors/limit negative"),
        pytest.param({"limit": math.inf}, "Limit must be a positive number", id="find.md/Errors/limit infinite"),
        pytest.param({"limit": math.nan}, "Limit must be a positive number", id="find.md/Errors/limit no number"),
        pytest.param({"paths": ["top.py/*"]}, "Path is not a directory", id="find.md/Errors/glob below a file"),
        pytest.param({"paths": ["https://h/x"]}, "Use read for a web page", id="find.md/Errors/web page"),
        pytest.param(
            {"paths": ["local://*.md"]}, "not supported for internal URLs", id="find.md/Modes/Internal URL glob"
        ),
    ],
)
async def test_errors(find: Find, engine: str, args: dict[str, Any], message: str) -> None:
    """Each says what was wrong."""
    args = {"paths": ["."]} | args
    with pytest.raises(ToolError) as raised:
        await find(*args.pop("paths"), **args)
    assert message in str(raised.value)


async def test_odd_names(find: Find, context: ToolContext, engine: str) -> None:
    """Not UTF-8, with newlines, links in circles, folders nobody may read, files that are none."""
    folder = os.fsencode(context.cwd / "odd")
    os.mkdir(folder)
    for name in (b"\xff.txt", b"a\nb.txt"):
        os.close(os.open(folder + b"/" + name, os.O_CREAT))
    os.symlink(folder, folder + b"/loop.txt")
    os.mkfifo(folder + b"/pipe.txt")
    os.mkdir(folder + b"/locked", 0)
    for paths in ("odd", "odd/*.txt", "odd/*"):
        found = await find(paths)
        found.text.encode()
        assert {name for name in found.details["files"] if "locked" not in name} == {
            "odd/\ufffd.txt",
            "odd/a\ufffdb.txt",
        }


async def test_a_file_that_is_gone_by_now_is_left_out(
    find: Find, context: ToolContext, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was listed and then removed."""
    real = _listing._newest

    def remove_then_look(*args: Any) -> Any:
        (context.cwd / "top.py").unlink(missing_ok=True)
        return real(*args)

    monkeypatch.setattr(_listing, "_newest", remove_then_look)
    assert (await find("*.py")).details["files"] == ["src/app.py", "src/deep/util.py"]


async def test_cancelling_leaves_no_process(context: ToolContext, slow: None) -> None:
    """find.md/Side Effects: cancellable at any time."""
    task = asyncio.create_task(run(FindTool(), context, paths=["."], timeout=60))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert [child for child in psutil.Process().children(recursive=True) if child.name() == "rg"] == []
    assert len(asyncio.all_tasks()) == 1


def test_what_leads_out_of_the_workspace_is_a_need(context: ToolContext, tmp_path: Path) -> None:
    """`..`, links and globs below them are needs of where they lead."""
    (tmp_path / "outside").mkdir()
    (context.cwd / "link").symlink_to(tmp_path / "outside")
    tool = FindTool()

    def needs(*paths: str) -> list[tuple[str, str]]:
        return [(need.access, need.what) for need in tool.needs(tool.params(paths=list(paths)), context)]

    inside = str(context.cwd.resolve())
    assert needs(".", "src/*.py", "/", "local://") == [("read", inside), ("read", f"{inside}/src")]
    real = ("read", str((tmp_path / "outside").resolve()))
    assert needs("../outside/**/*.py") == needs("link") == needs("src", "link/*")[1:] == [real]
