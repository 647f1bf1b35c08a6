"""A hundred lines of a file of 1 GB, from its beginning, middle and end, against `sed` doing the same; and memory."""

import asyncio
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.row import Row

SIZE = 1_000_000_000
ROUNDS = 5
LENGTHS = {"short": 80, "long": 400}  # bytes of a line, more or less
MEGABYTES = 60.0
# What a process that reads has at most; the tool alone, without what the program around it needs.
PEAK = """
import asyncio, resource, sys
from pathlib import Path
from bench.reading import read
asyncio.run(read(Path(sys.argv[1]), int(sys.argv[2])))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6)
"""


def rows() -> Iterator[Row]:
    for name, length in LENGTHS.items():
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "big.txt"
            lines = _fill(file, length)
            for where, first in (("first", 1), ("middle", lines // 2), ("last", lines - 110)):
                yield Row(f"read {where} 100 {name} lines of 1 GB / sed", 1.5, _ratio(file, first))
            peak = subprocess.run(
                [sys.executable, "-c", PEAK, str(file), str(lines - 110)], check=True, capture_output=True, text=True
            )
            yield Row(f"read last 100 {name} lines of 1 GB, memory", MEGABYTES, float(peak.stdout), " MB")


async def read(file: Path, first: int) -> str:
    from sightline.settings import Settings
    from sightline.tools import ToolContext, Workplace
    from sightline.tools.read import ReadTool

    place = Workplace(file.parent, settings=Settings(), artifacts=_NoShelf(), local=file.parent)
    tool = ReadTool()
    outcome = await tool.execute(tool.params(path=f"{file}:{first}-{first + 99}"), ToolContext("bench", place))
    return outcome.text


class _NoShelf:
    def store(self, name: str, data: bytes) -> str:
        raise NotImplementedError

    def find(self, url: str) -> Path | None:
        return None


def _ratio(file: Path, first: int) -> float:
    """The best of some rounds each, taken in turns."""
    ours = sed = float("inf")

    async def measure() -> None:
        nonlocal ours, sed
        for _ in range(ROUNDS):
            start = time.perf_counter()
            text = await read(file, first)
            ours = min(ours, time.perf_counter() - start)
            start = time.perf_counter()
            argv = ["sed", "-n", f"{first},{first + 99}p;{first + 99}q", str(file)]
            expected = subprocess.run(argv, check=True, capture_output=True, text=True).stdout.splitlines()  # noqa: ASYNC221
            sed = min(sed, time.perf_counter() - start)
            assert all(f"\n{first + at}:{line}" in text for at, line in enumerate(expected)), "other lines than sed's"

    asyncio.run(measure())
    return ours / sed


def _fill(file: Path, length: int) -> int:
    """Lines that differ, in blocks of some thousand; returns how many."""
    filling = b"x" * (length - 20)
    block = b"".join(b"%08d %s %d\n" % (number, filling, number * 7919) for number in range(10_000))
    count = SIZE // len(block) + 1
    with file.open("wb") as target:
        for _ in range(count):
            target.write(block)
    os.sync()
    return count * 10_000
