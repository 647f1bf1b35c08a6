"""A search that was not complete says so: nothing found is not the same as not looked."""

import os
import signal
import time
from pathlib import Path

import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.files import _ripgrep
from sightline.tools.search import _engine
from tests.tools.search.conftest import Search


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """A program in ripgrep's place."""
    program = folder / "rg"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setattr(_ripgrep, "program", lambda: str(program))


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -9 $$", "ripgrep was ended by SIGKILL"),
        ("kill -SEGV $$", "ripgrep was ended by SIGSEGV"),
        ("exit 101", "ripgrep ended with code 101"),
    ],
)
async def test_a_ripgrep_that_is_ended_is_an_error(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, said: str
) -> None:
    """And not "no matches"."""
    stand_in(tmp_path, monkeypatch, script)
    with pytest.raises(ToolError, match=f"not complete: {said}"):
        await search("login")


async def test_what_was_found_before_is_a_part(search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is shown, as an error, and said to be a part."""
    stand_in(tmp_path, monkeypatch, r"printf './src/app.py\0003:def login():\n'; kill -9 $$")
    found = await search("login")
    assert found.is_error
    assert "def login():" in found.text
    assert "[Not complete: ripgrep was ended by SIGKILL. There may be more matches." in found.text
    assert found.details["incomplete"] == "ripgrep was ended by SIGKILL"


async def test_a_complaint_is_one_about_the_pattern(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As before."""
    stand_in(tmp_path, monkeypatch, "echo 'error: unclosed group' >&2; exit 2")
    with pytest.raises(ToolError, match="Invalid regex: unclosed group"):
        await search("login")


async def test_a_file_that_cannot_be_read_is_no_failure(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ripgrep ends with 2 and says nothing: the others were searched."""
    stand_in(tmp_path, monkeypatch, "exit 2")
    assert (await search("login")).text == "No matches found"


async def test_a_search_has_a_deadline(search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever keeps it."""
    stand_in(tmp_path, monkeypatch, "exec sleep 60")
    monkeypatch.setattr(_engine, "SECONDS", 0.3)
    began = time.monotonic()
    with pytest.raises(ToolError, match="took more than 0 seconds and was stopped"):
        await search("login")
    assert time.monotonic() - began < 20


async def test_a_flood_that_is_no_match_is_stopped(
    search: Search, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is not collected for ever."""
    stand_in(tmp_path, monkeypatch, "exec cat /dev/zero")
    with pytest.raises(ToolError, match="could not be read"):
        await search("login")


async def test_without_ripgrep_a_pattern_that_takes_for_ever_is_stopped(
    search: Search, context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python's expressions can, and would keep everything else waiting: so they are another process's."""
    (context.cwd / "evil.txt").write_text("a" * 40 + "!\n")
    monkeypatch.setattr(_ripgrep, "program", lambda: None)
    monkeypatch.setattr(_engine, "SECONDS", 3.0)
    with pytest.raises(ToolError, match="took more than 3 seconds"):
        await search("(a+)+$", "evil.txt")


async def test_long_lines_and_many_matches_take_little_memory(search: Search, context: ToolContext) -> None:
    """Of each line the beginning is read, and of each file the first matches."""
    import tracemalloc

    (context.cwd / "long.txt").write_bytes((b"needle " * 20_000 + b"\n") * 200)
    tracemalloc.start()
    try:
        await search("needle", "long.txt")
        assert tracemalloc.get_traced_memory()[1] < 40 * 1024**2
    finally:
        tracemalloc.stop()


async def test_a_link_put_in_place_of_the_folder_is_not_followed(context: ToolContext, tmp_path: Path) -> None:
    """What was granted is the folder, not its name."""
    from sightline.handles import Grants, granted
    from sightline.tools.find import FindTool
    from sightline.tools.search import SearchTool
    from tests.tools.support import run

    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "app.py").write_text("login secret\n")
    real = str(context.cwd / "src")
    os.rename(real, context.cwd / "before")
    os.symlink(tmp_path / "outside", real)
    with granted(Grants(reads=[real])):
        for tool, args in (
            (SearchTool(), {"pattern": "secret", "paths": "src"}),
            (SearchTool(), {"pattern": "secret", "paths": "src/app.py"}),
            (FindTool(), {"paths": ["src"]}),
        ):
            with pytest.raises(ToolError, match="leads to another place"):
                await run(tool, context, **args)


def test_signals_have_names() -> None:
    """One that has none has its number."""
    assert _ripgrep._signal_name(signal.SIGKILL) == "SIGKILL"
    assert _ripgrep._signal_name(250) == "signal 250"
