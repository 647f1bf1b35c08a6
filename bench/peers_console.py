"""The consoles side by side, each on a pseudo-terminal: the first prompt, the first key, and what idling costs.

A part of `python -m bench.peers`. All are started in turns, with the stand-in for a model and nothing else to talk to;
whatever they ask the terminal is answered at once. A peer's key is typed again and again from exec on, as some throw
away what was typed before they listened; ours is typed once.
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from bench import console as ours
from bench.console_place import ConsolePlace
from bench.headless import port_of
from bench.on_pty import descendants, first_shown, idle_share, memory_of
from bench.peer_screens import OURS, PATIENCE, SCREENS, PeerScreens
from bench.row import Row
from sightline.testing.place import Place
from sightline.testing.standin import StandIn

PAINT_GOAL = 1 / 3  # of the fastest peer's
IDLE_SECONDS = 10.0
_SETTLED = 4.0
_KEY, _KEY_EVERY = b"k", 0.04


class Measured(msgspec.Struct):
    """Seconds from exec to the prompt and to a key in it; a share of one core and MB when idle."""

    paints: list[float] = []
    keys: list[float] = []
    idle: float = 0.0
    memory: float = 0.0


class Consoles:
    """Everybody who is installed and opens a prompt, measured in turns."""

    def __init__(self, place: Place, cache: Path, names: list[str]) -> None:
        self._place = place
        self._console = ConsolePlace(place, cache)
        self._peers = PeerScreens(place, names)
        self._found = {name: Measured() for name in (OURS, *self._peers.environments)}
        self.absent = self._peers.absent

    def measure(self, rounds: int) -> dict[str, Measured]:
        mine = self._found[OURS]
        with StandIn.in_thread([], port=port_of(self._place)):
            mine.idle, mine.memory = ours.idle(self._console)
            self._peers.each(self._idle)
            for _ in range(rounds):
                paints, keys = ours.starts(self._console, ours.STARTS)
                mine.paints += paints
                mine.keys += keys
                self._peers.each(self._start)
        return {name: one for name, one in self._found.items() if name not in self.absent}

    def _start(self, name: str) -> None:
        found, paint = self._found[name], self._paint(name)
        found.paints.append(paint)
        found.keys.append(self._key(name, paint))
        print(f"{name}: prompt {paint:.3f} s, key {found.keys[-1]:.3f} s", file=sys.stderr)

    def _paint(self, name: str) -> float:
        with self._peers.opened(name) as program:
            return self._peers.prompt_shown(program, name) - program.began

    def _key(self, name: str, paint: float) -> float:
        """Typed until it is seen, which is looked for more and more rarely: looking takes time."""
        with self._peers.opened(name) as program:
            seconds = 2 * paint + 1
            while seconds < PATIENCE:
                while time.monotonic() < program.began + seconds:
                    program.press(_KEY)
                    program.watch(_KEY_EVERY)
                if at := first_shown(program.chunks, SCREENS[name].typed):
                    return at - program.began
                seconds *= 1.5
        return float("nan")

    def _idle(self, name: str) -> None:
        """When it has been started before, and has made what it makes the first time."""
        self._paint(name)
        with self._peers.opened(name) as program:
            self._peers.prompt_shown(program, name)
            program.watch(_SETTLED)
            found, family = self._found[name], descendants(program.pid)
            found.idle, found.memory = idle_share(program, family, IDLE_SECONDS), memory_of(family)


def rows(measured: dict[str, Measured]) -> Iterator[Row]:
    mine = measured[OURS]
    theirs = {name: median(one.paints) for name, one in measured.items() if name != OURS}
    for name, paint in theirs.items():
        yield Row(f"exec to prompt: sightline / {name}", None, median(mine.paints) / paint)
    if theirs:
        ratio = median(mine.paints) / min(theirs.values())
        yield Row("exec to prompt: sightline / the fastest peer", PAINT_GOAL, ratio)
    yield Row("exec to a key typed at once, median", ours.KEY_GOAL, median(mine.keys) * 1000, "ms")
    yield Row("console and host, idle CPU", ours.IDLE_GOAL, mine.idle * 100, " %")
    yield Row("console and host, idle memory (PSS)", ours.MEMORY_GOAL, mine.memory, "MB")


def table(measured: dict[str, Measured]) -> str:
    lines = [f"{'':<24}{'prompt':>12}{'first key':>12}{'idle CPU':>12}{'idle PSS':>12}"]
    for name, one in measured.items():
        paint, key = median(one.paints) * 1000, median(one.keys) * 1000
        lines.append(f"{name:<24}{paint:>9.0f} ms{key:>9.0f} ms{one.idle * 100:>10.2f} %{one.memory:>9.0f} MB")
    return "\n".join(lines)
