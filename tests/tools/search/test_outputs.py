"""search.md, Outputs, Limits & Caps, Errors."""

import json
import math
from pathlib import Path
from typing import Any

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.hashline import Snapshots
from sightline.tools.search import SearchTool, _query
from tests.tools.search.conftest import Search
from tests.tools.support import make_context, run


def make_files(folder: Path, count: int, lines: int = 1, text: str = "hit") -> None:
    folder.mkdir(exist_ok=True)
    for number in range(count):
        (folder / f"{number:04}.txt").write_text(f"{text}\n" * lines)


async def test_one_file_is_a_flat_list_under_its_tag(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Outputs: `¶PATH#TAG`, `*LINE:` for a match, ` LINE:` around it; the tag is of the whole file."""
    header, *lines = (await search("login\\(\\)$", "src/app.py")).text.splitlines()
    assert header.startswith("¶src/app.py#")
    assert lines == [" 5:", "*6:login()", " 7:end"]
    path = context.cwd / "src" / "app.py"
    assert header.partition("#")[2] == context.shared(Snapshots).record(path, path.read_text())


async def test_several_files_are_grouped_under_headings(search: Search, engine: str) -> None:
    """search.md/Outputs: `# path#TAG` per file, an empty line between files."""
    blocks = (await search("login", ["docs", "src/util.ts"])).text.split("\n\n")
    assert [block.partition("#")[2].partition("#")[0] for block in blocks] == [" docs/guide.md", " src/util.ts"]
    assert blocks[1].splitlines()[1:] == ["*1:function login() {}", " 2:const x = `${platform}`"]


async def test_plain_mode(tmp_path: Path, engine: str) -> None:
    """search.md/Outputs: without hash lines `*5|content`, and headings without tags."""
    context = make_context(tmp_path, read={"hash_lines": False})
    (context.cwd / "a").write_text("x\nhit\n")
    assert (await run(SearchTool(), context, pattern="hit", paths="a")).text == " 1|x\n*2|hit"
    assert (await run(SearchTool(), context, pattern="hit", paths=".")).text == "# a\n 1|x\n*2|hit"


async def test_a_file_that_is_not_utf8_has_no_tag(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Outputs: `# <path>` where lines cannot be edited by number."""
    (context.cwd / "latin").write_bytes(b"caf\xe9 hit\n")
    assert (await search("hit", ["latin"])).text == "*1|caf\ufffd hit"


async def test_details(search: Search, engine: str) -> None:
    """search.md/Outputs/details: counts of the page, and plain data that fits."""
    details = (await search("login", ["src", "gone"])).details
    assert details["ui"]["kind"] == "search"
    assert details["scope_path"] == "src, gone"
    assert (details["match_count"], details["file_count"]) == (3, 2)
    assert details["file_matches"] == [{"path": "src/app.py", "count": 2}, {"path": "src/util.ts", "count": 1}]
    assert details["missing_paths"] == ["gone"]
    assert "│" in details["display_content"]
    assert not {"file_limit_reached", "per_file_limit_reached", "lines_truncated", "truncated"} & set(details)
    assert len(json.dumps(details)) < 64 * 1024


async def test_missing_paths_among_others_are_said(search: Search, engine: str) -> None:
    """search.md/Modes/Multiple: skipped, also when nothing is found."""
    assert "Skipped missing paths: gone" in (await search("login", ["src", "gone"])).text
    assert (await search("nothing", ["src", "gone"])).text == "No matches found\n\nSkipped missing paths: gone"


async def test_twenty_files_are_a_page(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Limits & Caps/File page limit: `skip` leads through all files, each once, in one order."""
    make_files(context.cwd / "many", 45)
    seen: list[str] = []
    for skip, more in ((0, True), (20, True), (40.9, False)):
        found = await search("hit", "many", skip=skip)
        seen += found.details["files"]
        assert found.details.get("file_limit_reached", False) is more
        assert (f"Use skip={int(skip) + 20} for the next page" in found.text) is more
    assert seen == [f"many/{number:04}.txt" for number in range(45)]
    assert (await search("hit", "many", skip=60)).text.startswith("No matches found")


async def test_pages_of_dense_matches_are_in_the_same_order(
    search: Search, context: ToolContext, engine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """search.md/Limits & Caps/2000: beyond them ripgrep starts anew in order, and the pages are the same."""
    for folder in ("b", "a", "a.b", "c"):
        make_files(context.cwd / folder, 12, lines=3)
    before = [(await search("hit", ["a", "b", "a.b", "c"], skip=skip)).text for skip in (0, 20, 40)]
    for module in ("sightline.tools.search._query", "sightline.tools.search._engine"):
        monkeypatch.setattr(f"{module}.MATCHES_IN_ANY_ORDER", 5)
    assert [(await search("hit", ["a", "b", "a.b", "c"], skip=skip)).text for skip in (0, 20, 40)] == before


async def test_one_file_is_not_paged(search: Search, engine: str) -> None:
    """search.md/Inputs/skip: single-file searches ignore it."""
    assert (await search("login", "src/app.py", skip=5)).details["match_count"] == 2


@pytest.mark.parametrize(
    ("paths", "cap"),
    [
        pytest.param("many", _query.MATCHES_PER_FILE, id="search.md/Limits & Caps/20 per file of several"),
        pytest.param("many/0000.txt", _query.MATCHES_OF_ONE_FILE, id="search.md/Limits & Caps/200 of one file"),
    ],
)
async def test_matches_of_a_file_are_capped(
    search: Search, context: ToolContext, engine: str, paths: str, cap: int
) -> None:
    """One more than the cap is a cap reached; exactly the cap is not."""
    make_files(context.cwd / "many", 1, lines=cap + 1)
    found = await search("hit", paths)
    assert found.details["match_count"] == cap
    assert found.details["per_file_limit_reached"] is True
    assert f"Only the first {cap} matches" in found.text
    assert sum(line.startswith("*") for line in found.text.splitlines()) == cap
    make_files(context.cwd / "many", 1, lines=cap)
    assert "per_file_limit_reached" not in (await search("hit", paths)).details


async def test_long_lines_are_cut(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Limits & Caps/Line truncation: 512 characters and an ellipsis, whatever they take in bytes."""
    for text in ("x" * 513, "é" * 513, "😀" * 600, "x" * 3_000_000):
        (context.cwd / "long").write_text(f"{text} hit\n{'y' * 512}\n")
        found = await search("hit", "long")
        assert found.text.splitlines()[1:3] == [f"*1:{text[:512]}…", f" 2:{'y' * 512}"]
        assert found.details["lines_truncated"] is True
    (context.cwd / "long").write_text(f"{'é' * 508} hit\n")
    assert "lines_truncated" not in (await search("hit", "long")).details


async def test_output_is_cut_at_50_kilobytes_fairly(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Limits & Caps/Final text: and search.md/Flow/13: matches in turn, so every file is there."""
    make_files(context.cwd / "big", 18, lines=20, text="hit " + "x" * 400)
    found = await search("hit", "big")
    assert len(found.text.encode()) <= 50 * 1024
    assert found.details["truncated"] is True
    assert found.details["meta"]["truncation"]["max_bytes"] == 50 * 1024
    assert found.details["file_count"] == 18
    counts = {one["count"] for one in found.details["file_matches"]}
    assert max(counts) - min(counts) <= 4
    assert "fit into 50 KB" in found.text


@pytest.mark.parametrize(
    ("args", "message"),
    [
        pytest.param({"pattern": "  "}, "Pattern must not be empty", id="search.md/Errors/empty pattern"),
        pytest.param({"skip": -1}, "Skip must be a non-negative number", id="search.md/Errors/negative skip"),
        pytest.param({"skip": math.inf}, "Skip must be a non-negative number", id="search.md/Errors/infinite skip"),
        pytest.param({"skip": math.nan}, "Skip must be a non-negative number", id="search.md/Errors/skip is no number"),
        pytest.param({"paths": ""}, "`paths` must contain non-empty", id="search.md/Errors/empty path"),
        pytest.param(
            {"paths": ["src", ' "" ']}, "`paths` must contain non-empty", id="search.md/Errors/empty in quotes"
        ),
        pytest.param({"paths": []}, "`paths` must contain non-empty", id="search.md/Errors/no path"),
        pytest.param(
            {"paths": "*.py:1-5"}, "requires a single file, not a glob", id="search.md/Errors/lines of a glob"
        ),
        pytest.param({"paths": "src:1-5"}, "src is a directory", id="search.md/Errors/lines of a directory"),
        pytest.param(
            {"paths": "no.py:5"}, "Path not found for line-range selector", id="search.md/Errors/lines of none"
        ),
        pytest.param({"paths": "src/app.py:0"}, "1-indexed", id="search.md/Errors/line 0"),
        pytest.param({"paths": "gone"}, "Path not found: gone", id="search.md/Errors/missing"),
        pytest.param({"paths": ["gone", "lost/*.py"]}, "Path not found: gone, lost", id="search.md/Errors/all missing"),
        pytest.param({"paths": "[id]/gone.py"}, "Path not found: [id]", id="search.md/Errors/missing in an odd folder"),
        pytest.param({"paths": "src/app.py/x"}, "Path not found", id="search.md/Errors/below a file"),
        pytest.param({"pattern": "["}, "Invalid regex: ", id="search.md/Errors/invalid regex"),
        pytest.param({"pattern": "*x("}, "Invalid regex: ", id="search.md/Errors/invalid after the retry, too"),
        pytest.param({"pattern": "a\0b"}, "Invalid regex: ", id="search.md/Errors/NUL"),
        pytest.param({"pattern": "a" * 200_000}, "Invalid regex: ", id="search.md/Errors/too long"),
        pytest.param({"paths": "http://h/x"}, "Use read for a web page", id="search.md/Errors/web page"),
        pytest.param({"paths": "a\0b"}, "NUL", id="search.md/Errors/NUL in a path"),
        pytest.param({"paths": "/dev/null"}, "neither a file nor a folder", id="search.md/Errors/device"),
    ],
)
async def test_errors(search: Search, context: ToolContext, engine: str, args: dict[str, Any], message: str) -> None:
    """Each says what was wrong."""
    (context.cwd / "[id]").mkdir()
    with pytest.raises(ToolError) as raised:
        await search(**{"pattern": "login", "paths": "."} | args)
    assert message in str(raised.value)


async def test_archive_members_that_cannot_be_searched(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Errors/Cannot search archive member(s): when there is nothing else."""
    import zipfile

    with zipfile.ZipFile(context.cwd / "b.zip", "w") as archive:
        archive.writestr("bin", b"\0")
        archive.writestr("latin", b"caf\xe9")
    for paths in ("b.zip:bin", "b.zip:latin", "b.zip:gone", ["b.zip:bin", "b.zip:latin"]):
        with pytest.raises(ToolError, match=r"Cannot search archive member\(s\): b\.zip:"):
            await search("x", paths)


async def test_no_matches(search: Search, engine: str) -> None:
    """search.md/Outputs/No-match."""
    found = await search("nowhere to be found")
    assert found.text == "No matches found"
    assert (found.details["match_count"], found.details["files"]) == (0, [])


def test_what_leads_out_of_the_workspace_is_a_need(context: ToolContext, tmp_path: Path) -> None:
    """`..` and links are needs of where they lead, whatever form they take; addresses are none."""
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.zip").write_bytes(b"")
    (context.cwd / "link").symlink_to(outside)
    tool = SearchTool()

    def needs(paths: Any) -> list[str]:
        return [need.what for need in tool.needs(tool.params(pattern="x", paths=paths), context)]

    inside = str(context.cwd.resolve())
    assert needs([".", "src/*.py", "src/app.py:1-2", "local://x"]) == [inside, f"{inside}/src", f"{inside}/src/app.py"]
    real = str(outside.resolve())
    assert needs("../outside/*.py") == needs("link") == needs("docs link")[1:] == [real]
    assert needs("link/new.py:3") == [f"{real}/new.py"]
    assert needs("link/a.zip:x") == [f"{real}/a.zip"]
    assert needs(["link", "../outside"])[:1] == [real]
