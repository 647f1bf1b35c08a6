"""A command of the agent's that prints a line every tenth of a second: how old a line is when the terminal gets it."""

import re
import sys
from collections.abc import Iterator
from math import inf
from pathlib import Path
from statistics import median
from typing import Any

from bench.console_place import ConsolePlace
from bench.on_pty import Chunk, shown, whole_updates
from bench.row import Row

LINES, EVERY = 50, 0.1
STALENESS_GOAL = 2.0  # milliseconds
LAST = f"tick {LINES - 1}"
_OVER = "all of them are out"
_TICKING = (
    "import time\n"
    f"for number in range({LINES}):\n"
    "    print(f'tick {number:02} {time.monotonic():.6f}', flush=True)\n"
    f"    time.sleep({EVERY})\n"
)
_tick = re.compile(r"tick (\d\d) (\d+\.\d{6})")


def rows(console: ConsolePlace) -> Iterator[Row]:
    found = ages(ticked(console))
    yield from goal_rows([found])
    late = sorted(age * 1000 for age in found.values())
    yield Row("a line every 0.1 s, age when shown, p90", None, late[round(len(late) * 0.9) - 1], " ms")


def goal_rows(rounds: list[dict[int, float]]) -> Iterator[Row]:
    """What we promise, for the ages of one or more rounds."""
    late = [age * 1000 for found in rounds for age in found.values()]
    yield Row(f"a line every 0.1 s, lines of {LINES} not shown", 0, max(LINES - len(found) for found in rounds), "")
    yield Row("a line every 0.1 s, age when shown, median", STALENESS_GOAL, median(late) if late else inf, " ms")


def ticked(console: ConsolePlace) -> list[Chunk]:
    """What the terminal got while it ran."""
    model = console.script("ticking", script(console.home))
    with console.opened("--model", model) as program:
        console.host_of(program)
        program.watch(1.0)
        since = len(program.chunks)
        console.enter(program, "tick")
        program.until(program.wrote(_OVER.encode(), since), seconds=120)
        return list(program.chunks)


def script(folder: Path) -> list[list[dict[str, Any]]]:
    """The model's turns: the command, whose program is put into that folder, and a last word."""
    file = folder / "ticking.py"
    file.write_text(_TICKING)
    return [[{"tool": "bash", "args": {"command": f"{sys.executable} {file}"}}], [{"text": _OVER}]]


def ages(chunks: list[Chunk]) -> dict[int, float]:
    """For each line that was on the screen, seconds from being printed to being there."""
    found: dict[int, float] = {}
    for at, tape in shown(whole_updates(chunks)):
        for number, stamp in _tick.findall("\n".join(tape.screen)):
            found.setdefault(int(number), at - float(stamp))
    return found
