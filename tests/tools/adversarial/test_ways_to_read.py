"""Files that are made to hurt whoever reads or changes them."""

import json
import os
import sqlite3
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import msgspec
import pytest

from sightline.tools import ToolContext, ToolError
from sightline.tools.conflicts import Conflicts, resolve_one
from sightline.tools.edit import EditTool, _files
from sightline.tools.read import ReadTool, _folders
from sightline.tools.search import SearchTool
from sightline.tools.search import _tool as search_tool
from tests.tools.support import run


def header(text: str) -> str:
    return text.splitlines()[0]


@pytest.mark.parametrize("character", ["中", "\x1b", "é", "x", "😀"])
async def test_details_stay_small_whatever_a_text_is_made_of(character: str, context: ToolContext) -> None:
    """read.md/Outputs: 64 KB as they are sent, not as they are counted."""
    (context.cwd / "a.txt").write_text((character * 400 + "ab\n") * 3000)
    for tool, arguments in (
        (ReadTool(), {"path": "a.txt:1-3000"}),
        (SearchTool(), {"pattern": "ab", "paths": "a.txt"}),
    ):
        outcome = await run(tool, context, **arguments)
        assert 1000 < len(msgspec.json.encode(outcome.details)) <= 64 * 1024


async def test_a_folder_of_folders_is_looked_at_in_bounds(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many there are, each with many files: then they are named and not opened."""
    for folder in range(5):
        (context.cwd / f"d{folder}").mkdir()
        for file in range(3):
            (context.cwd / f"d{folder}" / f"f{file}").touch()
    monkeypatch.setattr(_folders, "LOOKED_AT_IN_ALL", 10)
    outcome = await run(ReadTool(), context, path=".")
    rows = outcome.text.splitlines()
    assert sum(row.startswith("d") for row in rows) == 5
    assert sum(row.startswith("  f") for row in rows) == 6
    assert outcome.details["meta"]["limits"]


async def test_a_file_of_very_many_lines_is_not_edited(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each line is an object: 64 MB of line ends would be gigabytes."""
    monkeypatch.setattr(_files, "MAX_LINES", 100)
    path = context.cwd / "a.txt"
    path.write_text("x\n" * 101)
    shown = (await run(ReadTool(), context, path="a.txt")).text
    with pytest.raises(ToolError, match="more than 100 lines"):
        await run(EditTool(), context, input=f"{header(shown)}\ndelete 1\n")
    assert path.read_text() == "x\n" * 101


@pytest.mark.parametrize("identity", [["x"], {}, 5, None])
async def test_a_notebook_with_ids_that_are_none_is_edited(identity: object, context: ToolContext) -> None:
    """They stay; a new cell gets one that is."""
    cell = {"cell_type": "code", "id": identity, "source": ["a"], "metadata": {}, "outputs": [], "execution_count": 1}
    path = context.cwd / "n.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": [cell]}))
    shown = (await run(ReadTool(), context, path="n.ipynb")).text
    await run(EditTool(), context, input=f"{header(shown)}\ninsert tail:\n+# %% [code]\n+b\n")
    assert [cell["id"] for cell in json.loads(path.read_text())["cells"]] == [identity, "cell-0"]


async def test_many_new_cells_are_made_in_time(context: ToolContext) -> None:
    """Looking for each one's id from the start took the square of their number."""
    cell = {"cell_type": "code", "source": "a", "metadata": {}, "outputs": [], "execution_count": None}
    cells = [{**cell, "id": f"cell-{number}"} for number in range(3000)]
    path = context.cwd / "n.ipynb"
    path.write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells}))
    shown = (await run(ReadTool(), context, path="n.ipynb")).text
    began = time.process_time()
    await run(EditTool(), context, input=f"{header(shown)}\ninsert head:\n" + "+# %% [code]\n+b\n" * 3000)
    assert time.process_time() - began < 2
    assert len({cell["id"] for cell in json.loads(path.read_text())["cells"]}) == 6000


@pytest.mark.parametrize("call", ["instr({0}, {1} || x'01')", "replace(hex({0}), hex({1}) || '1', 'b')"])
async def test_a_function_that_takes_the_square_of_its_arguments_has_small_ones(
    call: str, context: ToolContext
) -> None:
    """One call of it, on what a view may make, would take an hour, and no clock stops it."""
    with sqlite3.connect(context.cwd / "x.db") as made:
        made.execute("CREATE TABLE t (a)")
        made.execute(f"CREATE VIEW v AS SELECT {call.format('zeroblob(7000000)', 'zeroblob(3000000)')} AS a")
        made.execute("CREATE VIEW small AS SELECT replace('abc', 'b', 'x') AS a, instr('abc', 'c') AS b")
    made.close()
    with pytest.raises(ToolError, match="larger than"):
        await run(ReadTool(), context, path="x.db:v")
    assert "axc | 3" in (await run(ReadTool(), context, path="x.db:small")).text


async def test_a_pattern_across_lines_does_not_load_a_huge_file(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The engine holds such a file in memory whole; line by line it is searched all the same."""
    from sightline.tools.search import _engine

    monkeypatch.setattr(search_tool, "MULTILINE_BYTES", 10)
    monkeypatch.setattr(_engine, "MULTILINE_BYTES", 10)
    (context.cwd / "big.txt").write_text("one\ntwo\nthree\n")
    (context.cwd / "low.txt").write_text("one\ntwo\n")
    with pytest.raises(ToolError, match="whole in memory"):
        await run(SearchTool(), context, pattern=r"one\ntwo", paths="big.txt")
    assert (await run(SearchTool(), context, pattern=r"one\ntwo", paths=".")).details["files"] == ["low.txt"]
    assert (await run(SearchTool(), context, pattern="three", paths="big.txt")).details["match_count"] == 1


@pytest.mark.parametrize("pattern", ["\ud800", "x" * 10_001, "(?i)" + "a" * 10_000])
async def test_a_pattern_that_cannot_be_is_refused(pattern: str, context: ToolContext) -> None:
    """Half a character, and one so long that the engine would think about it for a minute."""
    with pytest.raises(ToolError, match="Invalid regex"):
        await run(SearchTool(), context, pattern=pattern, paths=".")


def test_a_conflict_whose_file_became_a_pipe_keeps_nobody_waiting(context: ToolContext) -> None:
    """Between finding it and resolving it."""
    path = context.cwd / "a.txt"
    text = "<<<<<<< a\none\n=======\ntwo\n>>>>>>> b\n"
    conflicts = Conflicts()
    (conflict,) = conflicts.register(path, text)
    os.mkfifo(path)
    with pytest.raises(ToolError, match="named pipe"):
        resolve_one(conflict.id, "@ours", conflicts)


async def test_an_edit_of_a_file_that_was_swapped_for_a_pipe(context: ToolContext) -> None:
    """Refused at once."""
    path = context.cwd / "a.txt"
    path.write_text("x\n")
    shown = (await run(ReadTool(), context, path="a.txt")).text
    path.unlink()
    os.mkfifo(path)
    with pytest.raises(ToolError, match="not a regular file"):
        await run(EditTool(), context, input=f"{header(shown)}\ndelete 1\n")


async def test_a_partly_shown_file_that_changed_elsewhere_is_edited_where_it_was_shown(
    context: ToolContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lines shown are still those lines; when they are not, the edit is refused."""
    from sightline.tools.read import _files as read_files

    monkeypatch.setattr(read_files, "WHOLE", 0)
    path = context.cwd / "a.txt"
    lines = [f"line {number}" for number in range(1, 101)]
    path.write_text("\n".join(lines) + "\n")
    tag = header((await run(ReadTool(), context, path="a.txt:50-52")).text)
    lines[89] = "changed by someone"
    path.write_text("\n".join(lines) + "\n")
    result = (await run(EditTool(), context, input=f"{tag}\nreplace 51..51:\n+mine\n")).text
    lines[50] = "mine"
    assert path.read_text() == "\n".join(lines) + "\n"
    path.write_text("new first line\n" + path.read_text())
    with pytest.raises(ToolError, match="is an earlier state of"):
        await run(EditTool(), context, input=f"{tag}\nreplace 50..50:\n+again\n")
    assert result.startswith("¶a.txt#")


def test_a_flow_file_of_aliases_that_multiply_is_checked_at_once(tmp_path: Path) -> None:
    """Nine to the power of eight values."""
    names = "abcdefgh"
    rows = ["a: &a [" + ", ".join(["lol"] * 9) + "]"]
    rows += [f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]" for old, new in pairwise(names)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join([*rows, "steps: *h", ""]))
    argv = [sys.executable, "-m", "sightline", "flow", "check", str(path)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=90, check=False)
    assert done.returncode != 0
    assert "aliases counted" in done.stdout + done.stderr
