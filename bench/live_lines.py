"""A command of the agent's that prints a line every tenth of a second: how old a line is when the terminal gets it."""

import re
import sys
from collections.abc import Iterator
from statistics import median

from bench.console_place import ConsolePlace
from bench.on_pty import Chunk, shown
from bench.row import Row

LINES, EVERY = 50, 0.1
STALENESS_GOAL = 2.0  # milliseconds
_OVER = "all of them are out"
_TICKING = (
    "import time\n"
    f"for number in range({LINES}):\n"
    "    print(f'tick {number:02} {time.monotonic():.6f}', flush=True)\n"
    f"    time.sleep({EVERY})\n"
)
_tick = re.compile(r"tick (\d\d) (\d+\.\d{6})")


def rows(console: ConsolePlace) -> Iterator[Row]:
    ages = _ages(_ticked(console))
    yield Row(f"a line every 0.1 s, lines of {LINES} not shown", 0, LINES - len(ages), "")
    late = sorted(age * 1000 for age in ages.values())
    yield Row("a line every 0.1 s, age when shown, median", STALENESS_GOAL, median(late), " ms")
    yield Row("a line every 0.1 s, age when shown, p90", None, late[round(len(late) * 0.9) - 1], " ms")


def _ticked(console: ConsolePlace) -> list[Chunk]:
    """What the terminal got while it ran."""
    file = console.home / "ticking.py"
    file.write_text(_TICKING)
    call = {"tool": "bash", "args": {"command": f"{sys.executable} {file}"}}
    with console.opened("--model", console.script("ticking", [[call], [{"text": _OVER}]])) as program:
        console.host_of(program)
        program.watch(1.0)
        since = len(program.chunks)
        console.enter(program, "tick")
        program.until(program.wrote(_OVER.encode(), since), seconds=120)
        return list(program.chunks)


def _ages(chunks: list[Chunk]) -> dict[int, float]:
    """For each line, seconds from being printed to being on the screen."""
    ages: dict[int, float] = {}
    for at, tape in shown(chunks):
        for number, stamp in _tick.findall("\n".join(tape.screen)):
            ages.setdefault(int(number), at - float(stamp))
    return ages
