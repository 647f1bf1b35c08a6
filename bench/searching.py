"""The search and find tools against ripgrep itself, on a gigabyte of text in twenty thousand files.

Both run in turn, many times, and the medians compared, so that what else the machine does counts for both.
"""

import asyncio
import os
import random
import statistics
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench.row import Row
from sightline.settings import Settings
from sightline.tools import Outcome, Tool, ToolContext, Workplace
from sightline.tools.files._ripgrep import program
from sightline.tools.find import FindTool
from sightline.tools.search import SearchTool

FOLDERS, FILES, SIZE = 200, 100, 50_000
RUNS = 15
RATIO = 1.3


class NoShelf:
    def store(self, name: str, data: bytes) -> str:
        raise NotImplementedError

    def find(self, url: str) -> Path | None:
        return None


def rows() -> Iterator[Row]:
    ripgrep = program()
    assert ripgrep is not None, "nothing to compare with"
    with tempfile.TemporaryDirectory(prefix="sightline-bench-") as folder:
        make_tree(Path(folder))
        place = Workplace(Path(folder), settings=Settings(), artifacts=NoShelf(), local=Path(folder) / "local")
        context = ToolContext("bench", place)
        search, find = SearchTool(), FindTool()
        newest = ["--files", "--sortr", "modified"]
        yield _row(
            "search 1 GB, 500 files match / rg", search, {"pattern": "needle_", "paths": "."}, ["needle_"], context
        )
        yield _row(
            "search 1 GB, no file matches / rg", search, {"pattern": "no_such", "paths": "."}, ["no_such"], context
        )
        yield _row("search 1 GB, every file matches / rg", search, {"pattern": "ab", "paths": "."}, ["ab"], context)
        yield _row("find in 20,000 files, all / rg --files --sortr", find, {"paths": ["."]}, newest, context)
        yield _row("find in 20,000 files, *.py / rg --files --sortr", find, {"paths": ["*.py"]}, newest, context)
        yield _row(
            "find in 20,000 files, mod1*/*7.* / rg --files --sortr", find, {"paths": ["**/mod1*/*7.*"]}, newest, context
        )


def make_tree(folder: Path) -> None:
    """Words in lines of different lengths; one file in forty has a line that no other kind of file has."""
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 10))) for _ in range(3000)]
    lines = (" ".join(chance.choices(words, k=chance.randint(3, 14))) for _ in range(100_000))
    text = "\n".join(lines).encode()
    for number in range(FOLDERS):
        inside = folder / f"pkg{number % 20}" / f"mod{number}"
        inside.mkdir(parents=True)
        for index in range(FILES):
            start = chance.randrange(len(text) - SIZE)
            data = text[start : start + SIZE]
            if index % 40 == 0:
                data = b"%s\nneedle_%d here\n%s" % (data[: SIZE // 2], number, data[SIZE // 2 :])
            file = os.open(inside / f"file{index}.{'py' if index % 2 else 'ts'}", os.O_WRONLY | os.O_CREAT)
            os.write(file, data)
            os.close(file)


def _row(what: str, tool: Tool[Any], args: dict[str, Any], argv: list[str], context: ToolContext) -> Row:
    params = msgspec.convert(args, tool.params)
    ours, theirs = asyncio.run(_times(tool, params, [program() or "", *argv], context))
    return Row(what, RATIO, statistics.median(ours[1:]) / statistics.median(theirs[1:]))


async def _times(
    tool: Tool[Any], params: Any, argv: list[str], context: ToolContext
) -> tuple[list[float], list[float]]:
    ours, theirs = [], []
    for _ in range(RUNS + 1):
        start = time.perf_counter()
        await asyncio.to_thread(subprocess.run, argv, cwd=context.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
        theirs.append(time.perf_counter() - start)
        start = time.perf_counter()
        outcome: Outcome = await tool.execute(params, context)
        ours.append(time.perf_counter() - start)
        assert not outcome.is_error
    return ours, theirs
