"""search.md, Inputs and Modes: every way to say where and what."""

import os
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.search import SearchTool
from tests.tools.search.conftest import Search
from tests.tools.support import make_context, run

ALL = [".hidden", "docs/guide.md", "src/app.py", "src/util.ts"]


@pytest.mark.parametrize(
    ("paths", "files"),
    [
        pytest.param("src/app.py", ["src/app.py"], id="search.md/Inputs/paths/file"),
        pytest.param("src", ["src/app.py", "src/util.ts"], id="search.md/Inputs/paths/directory"),
        pytest.param(".", ALL, id="search.md/Inputs/paths/workspace"),
        pytest.param("/", ALL, id="search.md/Inputs/paths/bare slash"),
        pytest.param("*.py", ["src/app.py"], id="search.md/Inputs/paths/glob in every folder"),
        pytest.param("src/*.ts", ["src/util.ts"], id="search.md/Inputs/paths/glob in a folder"),
        pytest.param("*/app.*", ["src/app.py"], id="search.md/Inputs/paths/glob in a path"),
        pytest.param("**/*.{py,ts}", ["src/app.py", "src/util.ts"], id="search.md/Inputs/paths/braces"),
        pytest.param("src/[a-t]*.py", ["src/app.py"], id="search.md/Inputs/paths/class"),
        pytest.param(["src", "docs"], ALL[1:], id="search.md/Modes/several directories"),
        pytest.param(["src/*.py", "docs/*.md"], ["docs/guide.md", "src/app.py"], id="search.md/Modes/several globs"),
        pytest.param(["src/app.py", "docs"], ["docs/guide.md", "src/app.py"], id="search.md/Modes/file and directory"),
        pytest.param(["src", "src/app.py"], ["src/app.py", "src/util.ts"], id="search.md/Modes/one in the other"),
        pytest.param("src/app.py,docs/guide.md", ["docs/guide.md", "src/app.py"], id="search.md/Inputs/comma"),
        pytest.param("src/app.py; docs", ["docs/guide.md", "src/app.py"], id="search.md/Inputs/semicolon"),
        pytest.param("src/app.py docs", ["docs/guide.md", "src/app.py"], id="search.md/Inputs/space"),
        pytest.param("src/*.py, docs/*.md", ["docs/guide.md", "src/app.py"], id="search.md/Inputs/comma between globs"),
        pytest.param('"src/app.py"', ["src/app.py"], id="search.md/Inputs/quotes"),
        pytest.param("src/app.py,nowhere.py", ["src/app.py"], id="search.md/Flow/comma: one part exists"),
        pytest.param("src/app.py:1-4", ["src/app.py"], id="search.md/Inputs/lines"),
    ],
)
async def test_where_to_search(search: Search, engine: str, paths: Any, files: list[str]) -> None:
    """Each form finds `login` in just these files, in the order of their paths."""
    assert (await search("login", paths)).details["files"] == files


@pytest.mark.parametrize(
    "name", ["a,b.py", "a b.py", "a;b.py", "a[1].py", "a{x}.py", "x.zip:y.py", "5:6-7", "-n", "*.z"]
)
async def test_existing_names_with_special_characters_stay_whole(
    search: Search, context: ToolContext, engine: str, name: str
) -> None:
    """search.md/Inputs: what exists as written is meant."""
    (context.cwd / "a").write_text("login")
    (context.cwd / name).write_text("login here\n")
    assert (await search("login", name)).details["files"] == [name]


async def test_spaces_split_only_when_every_part_exists(search: Search, context: ToolContext) -> None:
    """search.md/Flow/1: a part that is missing makes it one path, which is not found."""
    with pytest.raises(ToolError, match=r"Path not found: src/app\.py nowhere"):
        await search("login", "src/app.py nowhere")


@pytest.mark.parametrize(
    ("pattern", "line"),
    [
        pytest.param("${platform}", "*2:const x = `${platform}`", id="search.md/Notes/braces that repeat nothing"),
        pytest.param(r"login\(\) {}", "*1:function login() {}", id="search.md/Notes/empty braces"),
        pytest.param("interface\\{\\}|lo{0}gin", None, id="search.md/Inputs/pattern/escaped braces stay"),
        pytest.param("lo{1,2}gin", "*1:function login() {}", id="search.md/Notes/quantifier stays"),
        pytest.param("login(", "*1:function login() {}", id="search.md/Flow/unclosed group"),
        pytest.param("login()) {", None, id="search.md/Flow/unopened group"),
        pytest.param("  login  ", "*1:function login() {}", id="search.md/Inputs/pattern/trimmed"),
        pytest.param("^const", "*2:const x = `${platform}`", id="search.md/Inputs/pattern/anchors"),
        pytest.param("-x|login", "*1:function login() {}", id="search.md/Inputs/pattern/leading dash"),
    ],
)
async def test_patterns_as_models_write_them(search: Search, engine: str, pattern: str, line: str | None) -> None:
    """What cannot be meant as syntax is meant literally."""
    text = (await search(pattern, "src/util.ts")).text
    assert text == "No matches found" if line is None else line in text.splitlines()


@pytest.mark.parametrize("pattern", [r"login\(\):\n    pass", "login\\(\\):\n    pass"])
async def test_a_newline_in_the_pattern_crosses_lines(search: Search, engine: str, pattern: str) -> None:
    """search.md/Inputs/pattern: multiline for a newline and for backslash n, and only then."""
    lines = (await search(pattern, "src/app.py")).text.splitlines()
    assert [line for line in lines if line.startswith("*")] == ["*3:def login():", "*4:    pass"]


async def test_no_match_crosses_lines_otherwise(search: Search, engine: str) -> None:
    """search.md/Inputs/pattern: `\\s` does not reach into the next line."""
    assert (await search(r"login\(\):\s+pass", "src/app.py")).text == "No matches found"


async def test_case_is_ignored_on_request(search: Search, engine: str) -> None:
    """search.md/Inputs/i."""
    assert (await search("LOGIN", "src/app.py")).text == "No matches found"
    assert (await search("LOGIN", "src/app.py", i=True)).details["match_count"] == 2


async def test_ignored_files_are_searched_on_request(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Inputs/gitignore: also in a folder that is no repository; named files always."""
    (context.cwd / ".gitignore").write_text("*.ts\n/docs/\n")
    assert (await search("login")).details["files"] == [".hidden", "src/app.py"]
    assert (await search("login", "*.ts")).text == "No matches found"
    assert (await search("login", gitignore=False)).details["files"] == ALL
    assert (await search("login", "src/util.ts")).details["files"] == ["src/util.ts"]


async def test_the_insides_of_repositories_are_not_searched(search: Search, context: ToolContext, engine: str) -> None:
    """Hidden files are, `.git` is not."""
    (context.cwd / ".git").mkdir()
    (context.cwd / ".git" / "config").write_text("login\n")
    assert (await search("login", gitignore=False)).details["files"] == ALL


async def test_lines_constrain_matches(search: Search, engine: str) -> None:
    """search.md/Inputs/paths: `:A-B` and several ranges; what surrounds a match may lie outside."""
    assert (await search("login", "src/app.py:4-7")).text.splitlines()[1:] == [" 5:", "*6:login()", " 7:end"]
    assert (await search("login", "src/app.py:1-2,4-5")).text == "No matches found"
    assert (await search("login", "src/app.py:1-3,6-6")).details["match_count"] == 2
    assert (await search("login", ["src/app.py:1-3", "src/app.py:6-"])).details["match_count"] == 2
    assert (await search("login", ["src/app.py:6", "docs/guide.md"])).details["match_count"] == 2


async def test_archive_members(search: Search, context: ToolContext, engine: str) -> None:
    """search.md/Modes/Archive member paths: shown as archive:member, with lines, without a tag."""
    with zipfile.ZipFile(context.cwd / "b.zip", "w") as archive:
        archive.writestr("src/foo.ts", "one\nlogin\nthree\n")
        archive.writestr("bin", b"login\0")
    found = await search("login", "b.zip:src/foo.ts")
    assert found.details["files"] == ["b.zip:src/foo.ts"]
    assert found.text == " 1|one\n*2|login\n 3|three"
    assert (await search("login", "b.zip:src/foo.ts:1-1")).text == "No matches found"
    several = await search("login", ["b.zip:src/foo.ts", "b.zip:bin", "src/app.py"])
    assert sorted(several.details["files"]) == ["b.zip:src/foo.ts", "src/app.py"]
    assert "Could not read: b.zip:bin (not UTF-8 text)" in several.text


async def test_no_scratch_file_is_left(search: Search, context: ToolContext, tmp_path: Path, monkeypatch: Any) -> None:
    """What is unpacked for a search is gone after it."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    with zipfile.ZipFile(context.cwd / "b.zip", "w") as archive:
        archive.writestr("a", "login\n")
    await search("login", "b.zip:a")
    assert os.listdir(scratch) == []


async def test_context_lines_come_from_settings(tmp_path: Path, engine: str) -> None:
    """search.md/Limits & Caps: 1 before, 3 after unless set otherwise."""
    for settings, numbers in (({}, [4, 5, 6, 7, 8]), ({"context_before": 0, "context_after": 1}, [5, 6])):
        context = make_context(tmp_path, search=settings)
        (context.cwd / "a").write_text("".join(f"{n}\n" for n in range(1, 20)))
        text = (await run(SearchTool(), context, pattern="^5$", paths="a")).text
        assert [int(line[1:].split(":")[0]) for line in text.splitlines()[1:]] == numbers
