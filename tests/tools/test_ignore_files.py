"""Ignore files that are no files: find and search do not wait for them, and say which they are."""

import os
from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.find import FindTool
from sightline.tools.search import SearchTool, _engine
from tests.tools.support import make_context, run

NAMES = (".gitignore", ".ignore", ".rgignore", ".git/info/exclude")


@pytest.fixture(params=["rg", "no rg"])
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "no rg":
        monkeypatch.setattr(_ripgrep, "program", lambda: None)
    elif _ripgrep.program() is None:
        pytest.skip("needs ripgrep")
    return str(request.param)


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    context = make_context(tmp_path)
    (context.cwd / "sub").mkdir()
    for name in ("a.txt", "sub/b.txt"):
        (context.cwd / name).write_text("needle\n")
    return context


def _endless(path: Path, kind: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.symlink_to("/dev/zero")


async def _both(context: ToolContext, path: str = ".") -> tuple[str, list[str], str, list[str]]:
    """What find and search say, and the files they name."""
    found = await run(FindTool(), context, paths=[path], timeout=60)
    searched = await run(SearchTool(), context, pattern="needle", paths=path)
    files = [name for name in found.details["files"] if name.endswith(".txt")]
    return found.text, sorted(files), searched.text, sorted(searched.details["files"])


@pytest.mark.parametrize("kind", ["pipe", "link to a device"])
@pytest.mark.parametrize("name", NAMES)
async def test_one_in_the_folder_is_left_out_and_named(context: ToolContext, engine: str, name: str, kind: str) -> None:
    """ripgrep opened it: each search took 30 seconds, each find 5, and the advice was to search less."""
    _endless(context.cwd / name, kind)
    found, files, searched, matched = await _both(context)
    assert files == matched == ["a.txt", "sub/b.txt"]
    without = f"no {name} is used" if engine == "rg" else f"{name} is left out"
    said = f"Could not read: {name} (not a regular file; {without})"
    assert said in found
    assert said in searched
    assert "timed out" not in found


@pytest.mark.parametrize("name", NAMES)
async def test_one_above_the_folder_is_left_out_and_named(context: ToolContext, engine: str, name: str) -> None:
    _endless(context.cwd / name, "pipe")
    found, files, searched, matched = await _both(context, "sub")
    assert files == matched == ["sub/b.txt"]
    assert f"Could not read: {name} (" in found
    assert f"Could not read: {name} (" in searched


async def test_ignore_files_of_other_names_still_count(context: ToolContext, engine: str) -> None:
    (context.cwd / ".ignore").write_text("b.txt\n")
    _endless(context.cwd / ".gitignore", "pipe")
    _, files, _, matched = await _both(context)
    assert files == matched == ["a.txt"]


async def test_nothing_at_all_is_an_ignore_file(context: ToolContext, engine: str) -> None:
    """Many links lead to /dev/null; it is read to its end at once, and nothing is said. A folder is passed over."""
    (context.cwd / ".gitignore").symlink_to("/dev/null")
    (context.cwd / ".rgignore").mkdir()
    (context.cwd / ".ignore").write_text("b.txt\n")
    found, files, searched, matched = await _both(context)
    assert files == matched == ["a.txt"]
    assert "Could not read" not in found + searched


async def test_without_ignore_files_none_is_named(context: ToolContext, engine: str) -> None:
    _endless(context.cwd / ".gitignore", "pipe")
    found = await run(FindTool(), context, paths=["."], gitignore=False)
    searched = await run(SearchTool(), context, pattern="needle", paths=".", gitignore=False)
    assert "Could not read" not in found.text + searched.text


@pytest.mark.skipif(_ripgrep.program() is None, reason="needs ripgrep")
async def test_one_further_below_is_named_when_time_is_over(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_engine, "SECONDS", 0.5)
    _endless(context.cwd / "sub" / ".gitignore", "pipe")
    why = f"reading {context.cwd}/sub/.gitignore, which is not a regular file, does not end; set gitignore to false"
    found = await run(FindTool(), context, paths=["."], timeout=0.5)
    assert found.text.endswith(f"partial matches — {why}")
    try:
        said = (await run(SearchTool(), context, pattern="needle", paths=".")).text
    except ToolError as error:
        said = str(error)
    assert why in said
