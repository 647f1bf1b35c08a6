"""Measuring, cutting and wrapping text: milliseconds for a megabyte of lines of 100 characters."""

import random
import time
from collections.abc import Callable, Iterator

from bench.row import Row
from sightline.tty.cells._width import measure, truncate, wrap

_SIZE = 1_000_000
_WIDTH = 40
_ROUNDS = 15
_LETTERS = {
    "ASCII": [chr(point) for point in range(ord("a"), ord("z"))],
    "styled ASCII": [chr(point) for point in range(ord("a"), ord("z"))],
    "CJK": [chr(point) for point in range(0x4E00, 0x5200)],
    "emoji": ["😀", "🚀", "🎉", "👍🏽", "👩‍💻", "👨‍👩‍👧‍👦", "🇩🇪", "❤️", "1️⃣", "☀️"],
}


def rows() -> Iterator[Row]:
    for name, letters in _LETTERS.items():
        lines = _lines(letters, styled=name.startswith("styled"))
        size = len("\n".join(lines).encode())
        for what, work in _works(lines).items():
            goal = 10 if name == "ASCII" else 100
            yield Row(f"{what} {name}, per MB", goal, _milliseconds(work) * 1e6 / size, "ms")


def _works(lines: list[str]) -> dict[str, Callable[[], object]]:
    text = "\n".join(lines)
    return {
        "measure": lambda: [measure(line) for line in lines],
        "truncate": lambda: [truncate(line, _WIDTH) for line in lines],
        "wrap": lambda: wrap(text, _WIDTH),
    }


def _milliseconds(work: Callable[[], object]) -> float:
    """CPU time, the best of some rounds: what the machine does besides is not what is measured."""
    taken = []
    for _ in range(_ROUNDS):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken) * 1000


def _lines(letters: list[str], *, styled: bool) -> list[str]:
    choose = random.Random(4)
    lines: list[str] = []
    size = 0
    while size < _SIZE:
        line = _line(choose, letters)
        if styled:
            line = f"\x1b[1m{line[:10]}\x1b[0m{line[10:50]}\x1b[38;5;12m{line[50:]}\x1b[0m"
        lines.append(line)
        size += len(line.encode())
    return lines


def _line(choose: random.Random, letters: list[str]) -> str:
    words = ""
    while len(words) < 100:
        words += "".join(choose.choices(letters, k=choose.randint(2, 9))) + " "
    return words[:99] + letters[0]
