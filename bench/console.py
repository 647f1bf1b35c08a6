"""The console as a person has it: started, idle, gone back to, watched while a command prints, typed into under load.

Each on a pseudo-terminal of its own, with its host beside it and a model that plays a script. How it compares with
other agents is in `bench.peers`.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench import live_lines, resuming, storm
from bench.console_place import ConsolePlace
from bench.headless import free_port
from bench.on_pty import first_shown, idle_share, memory_of
from bench.row import Row
from sightline.testing.place import prepare_place

STARTS = 15
PAINT_SIGHT = r"enter send"
KEY_SIGHT = r"─\n k"
KEY_GOAL = 60.0  # milliseconds
IDLE_SECONDS = 30.0
IDLE_GOAL, MEMORY_GOAL = 0.1, 80.0  # percent of one core, MB
_SETTLED = 3.0


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="sightline-bench-", ignore_cleanup_errors=True) as folder:
        place = prepare_place(Path(folder), f"http://127.0.0.1:{free_port()}")
        console = ConsolePlace(place, Path(folder) / "bytecode")
        yield from start_rows(console)
        yield from idle_rows(console)
        yield from resuming.rows(console)
        yield from live_lines.rows(console)
        yield from storm.rows(console)


def start_rows(console: ConsolePlace) -> Iterator[Row]:
    paints, keys = starts(console, STARTS)
    yield Row("console, exec to prompt, median", None, median(paints) * 1000, "ms")
    yield Row("console, exec to a key typed at once, median", KEY_GOAL, median(keys) * 1000, "ms")


def starts(console: ConsolePlace, count: int) -> tuple[list[float], list[float]]:
    """Seconds from exec to the prompt, and to a key in it that was typed at once."""
    found = [_started(console) for _ in range(count)]
    return [paint for paint, _ in found], [key for _, key in found]


def _started(console: ConsolePlace) -> tuple[float, float]:
    with console.opened(keys=b"k") as program:
        program.watch(0.3)
    paint, key = (first_shown(program.chunks, sight) for sight in (PAINT_SIGHT, KEY_SIGHT))
    assert paint, "the prompt was never shown"
    assert key, "the key was never shown"
    return paint - program.began, key - program.began


def idle_rows(console: ConsolePlace) -> Iterator[Row]:
    share, memory = idle(console)
    yield Row("console and host, idle CPU", IDLE_GOAL, share * 100, " %")
    yield Row("console and host, idle memory (PSS)", MEMORY_GOAL, memory, "MB")


def idle(console: ConsolePlace) -> tuple[float, float]:
    """Share of one core, and memory in MB, of both processes once the host has booted."""
    with console.opened("--model", console.script("idle", [])) as program:
        both = [program.pid, console.host_of(program)]
        program.watch(_SETTLED)
        return idle_share(program, both, IDLE_SECONDS), memory_of(both)
