"""ripgrep found, run and ended; and the walk that stands in for it."""

import asyncio
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing
from pathlib import Path

import psutil
import pytest

from sightline.tools import ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.files._globs import Globs, expression
from sightline.tools.files._walk import walk


@pytest.fixture
def fresh_search() -> Iterator[None]:
    """ripgrep is looked for again, before and after."""
    _ripgrep.program.cache_clear()
    yield
    _ripgrep.program.cache_clear()


def test_the_one_beside_this_python_comes_first(fresh_search: None) -> None:
    """Not whatever PATH happens to have."""
    assert _ripgrep.program() == str(Path(sys.executable).parent / "rg")


def test_else_the_one_on_path(fresh_search: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And none when there is none."""
    found = _ripgrep.program()
    assert found is not None
    (tmp_path / "bin").mkdir()
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python"))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    _ripgrep.program.cache_clear()
    assert _ripgrep.program() is None
    shutil.copy(found, tmp_path / "bin" / "rg")
    _ripgrep.program.cache_clear()
    assert _ripgrep.program() == str(tmp_path / "bin" / "rg")


async def listed(folder: Path, **how: object) -> list[str]:
    async with aclosing(_ripgrep.listing(folder, **how)) as batches:  # type: ignore[arg-type]
        return sorted([name async for names in batches for name in names])


def tree(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("x\n")


async def test_ripgrep_and_the_walk_list_the_same_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hidden files, ignore files of every level, links, `.git`: with and without each of them."""
    tree(
        tmp_path,
        "a.py", "b.log", ".hid/x.py", "src/a.py", "src/b.log", "src/keep.log", "src/deep/c.tmp", "build/out.js",
        "src/build/in.js", "anchored.txt", "src/anchored.txt", "with space .txt", "[odd].txt", "other/d/e/f.py",
        ".git/config", "src/sub/.git/x", "doc/a/x/b.md", "doc/b.md",
    )  # fmt: skip
    (tmp_path / ".gitignore").write_text("*.log\n/anchored.txt\nbuild/\n# comment\n\n\\[odd\\].txt\ndoc/**/b.md\n")
    (tmp_path / "src" / ".gitignore").write_text("!keep.log\n*.tmp\n")
    (tmp_path / "other" / ".ignore").write_text("d/*/f.py\n")
    (tmp_path / "link").symlink_to("src")
    (tmp_path / "loop").symlink_to("loop")
    hows: list[tuple[Path, dict[str, object]]] = [
        (tmp_path, {}), (tmp_path, {"hidden": False}), (tmp_path, {"gitignore": False}),
        (tmp_path / "src", {}), (tmp_path / "other", {}), (tmp_path / "build", {}),
    ]  # fmt: skip
    with_ripgrep = [await listed(folder, **how) for folder, how in hows]
    assert "src/keep.log" in with_ripgrep[0]
    assert "b.log" not in with_ripgrep[0]
    monkeypatch.setattr(_ripgrep, "program", lambda: None)
    assert [await listed(folder, **how) for folder, how in hows] == with_ripgrep


def test_the_walk_goes_in_the_order_of_paths(tmp_path: Path) -> None:
    """As `rg --sort path` does: folder by folder, by the bytes of names."""
    tree(tmp_path, "b/x", "a/x", "a.b/x", "a-b", "Z")
    program = _ripgrep.program()
    assert program is not None
    said = subprocess.run([program, "--files", "--sort", "path"], cwd=tmp_path, capture_output=True, text=True)
    assert list(walk(str(tmp_path))) == said.stdout.splitlines()


async def test_rules_of_a_parent_count_up_to_the_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `.gitignore` above the repository is nobody's business, nor one above a repository inside it."""
    tree(tmp_path, "above/repo/sub/a.py", "above/repo/sub/b.log", "above/repo/sub/c.tmp", "above/repo/sub/own/.git/x")
    tree(tmp_path, "above/repo/sub/own/d.log")
    (tmp_path / "above" / ".gitignore").write_text("*.py\n")
    (tmp_path / "above" / "repo" / ".gitignore").write_text("*.log\n")
    (tmp_path / "above" / "repo" / ".git").mkdir()
    folder = tmp_path / "above" / "repo" / "sub"
    assert await listed(folder) == ["a.py", "c.tmp", "own/d.log"]
    monkeypatch.setattr(_ripgrep, "program", lambda: None)
    assert await listed(folder) == ["a.py", "c.tmp", "own/d.log"]


async def test_a_configuration_file_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a person set for their own searches is not ours."""
    (tmp_path / "config").write_text("--invert-match\n--glob=!*\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))
    assert await listed(tmp_path) == ["config"]


async def test_leaving_early_kills_the_process(tmp_path: Path) -> None:
    """Whoever has read enough does not wait for the rest."""
    (tmp_path / "big").write_bytes(b"x\n" * 5_000_000)
    async with _ripgrep.running(["x", "big"], tmp_path) as process:
        async for _ in process.chunks():
            break
        running = _children()
        assert len(running) == 1
    assert not running[0].is_running()


def _children() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.name() == "rg"]


async def test_cancelling_kills_the_process(tmp_path: Path) -> None:
    """Also one that is silent for long: nothing is ever written to what it reads."""
    os.mkfifo(tmp_path / "endless")
    writer = os.open(tmp_path / "endless", os.O_RDWR)

    async def read() -> None:
        async with _ripgrep.running(["x", "endless"], tmp_path) as process:
            async for _ in process.chunks():
                pass

    task = asyncio.create_task(read())
    deadline = time.monotonic() + 90
    while not (running := _children()) and time.monotonic() < deadline:  # noqa: ASYNC110
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    os.close(writer)
    assert running
    assert not any(child.is_running() for child in running)


async def test_no_file_descriptor_is_left(tmp_path: Path) -> None:
    """Of runs that end, that are left early, and that never start."""
    tree(tmp_path, "a")
    await listed(tmp_path)
    before = psutil.Process().num_fds()
    for _ in range(5):
        await listed(tmp_path)
        with pytest.raises(ToolError, match="nowhere"):
            await listed(tmp_path / "nowhere")
    assert psutil.Process().num_fds() == before


async def test_a_complaint_is_of_the_arguments_only(tmp_path: Path) -> None:
    """A file that cannot be read is none; a pattern that cannot be is one."""
    async with _ripgrep.running(["x", "nowhere"], tmp_path) as process:
        assert [chunk async for chunk in process.chunks()] == []
        assert await process.complaint() == ""
    async with _ripgrep.running(["x(", "."], tmp_path) as process:
        assert [chunk async for chunk in process.chunks()] == []
        assert "unclosed group" in await process.complaint()


@pytest.mark.parametrize(
    ("glob", "yes", "no"),
    [
        ("*.py", ["a.py", ".py"], ["a/b.py", "a.pyc"]),
        ("**/*.py", ["a.py", "a/b/c.py"], ["a.p"]),
        ("src/**", ["src/a", "src/a/b"], ["src", "x/src/a"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b"], ["ab", "a/xb"]),
        ("?.t", ["a.t", "é.t"], ["ab.t", "/.t"]),
        ("[a-c]x", ["ax", "cx"], ["dx"]),
        ("[!a-c]x", ["dx"], ["ax", "/x"]),
        ("[]]x", ["]x"], ["x"]),
        ("{a,b{c,d}}.x", ["a.x", "bc.x", "bd.x"], ["b.x"]),
        ("{*.py,**/t/*}", ["a.py", "x/t/y"], ["x/a.py"]),
        ("a{b", ["a{b"], ["ab"]),
        ("a[b", ["a[b"], ["ab"]),
        ("a\\*b", ["a*b"], ["axb"]),
        ("a+b(c)", ["a+b(c)"], ["aab(c)"]),
        ("a**b", ["axxb"], ["ax/xb"]),
        ("[z-a]", ["[z-a]"], ["z"]),
    ],
)
def test_globs(glob: str, yes: list[str], no: list[str]) -> None:
    """What each matches, and what it must not."""
    meant = Globs([("", glob)])
    assert [name for name in yes if not meant(name)] == []
    assert [name for name in no if meant(name)] == []
    assert Globs([("dir/", glob)])(f"dir/{yes[0]}")


def test_braces_mean_nothing_to_git() -> None:
    """In ignore files they are letters."""
    import re

    assert re.fullmatch(expression("a{b,c}", braces=False), "a{b,c}")
