"""The consoles side by side, each on a pseudo-terminal: the first prompt, the first key, and what idling costs.

A part of `python -m bench.peers`. All are started in turns, with the stand-in for a model and nothing else to talk to;
whatever they ask the terminal is answered at once. A peer's key is typed again and again from exec on, as some throw
away what was typed before they listened; ours is typed once.
"""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from statistics import median

import msgspec

from bench import console as ours
from bench.console_place import ConsolePlace, as_on_a_terminal
from bench.on_pty import Chunk, OnPty, descendants, first_shown, idle_share, memory_of, on_pty
from bench.peer_setup import environment, why_missing
from bench.row import Row
from sightline.testing.place import Place
from sightline.testing.standin import StandIn

PAINT_GOAL = 1 / 3  # of the fastest peer's
IDLE_SECONDS = 10.0
_SETTLED = 4.0
_PATIENCE = 40.0
_QUIET = 1.0
_KEY, _KEY_EVERY = b"k", 0.04
OURS = "sightline"


class Screen(msgspec.Struct, frozen=True):
    """How a peer is started, and what its prompt looks like, without and with a key in it."""

    argv: tuple[str, ...]
    prompt: str
    typed: str


SCREENS = {
    "claude": Screen(("claude",), r"❯|│ >", r"(❯|│ >).?k"),
    "codex": Screen(("codex",), r"^›", r"^› k"),
    "gemini": Screen(("gemini", "--yolo"), r"Type your message", r"[*>] +k"),
    "opencode": Screen(("opencode",), r"Ask anything", r"┃ +k"),
    "pi": Screen(("pi",), r"────", r"─\nk"),
    "oh-my-pi": Screen(("omp",), r"╰─", r"╰─ ?k"),
}


class Measured(msgspec.Struct):
    """Seconds from exec to the prompt and to a key in it; a share of one core and MB when idle."""

    paints: list[float] = []
    keys: list[float] = []
    idle: float = 0.0
    memory: float = 0.0


class NotShown(Exception):
    """The prompt never was on the screen."""


class Consoles:
    """Everybody who is installed and opens a prompt, measured in turns."""

    def __init__(self, place: Place, cache: Path, wanted: list[str]) -> None:
        self._place = place
        self._console = ConsolePlace(place, cache)
        self.absent = {name: f"not installed: {reason}" for name in wanted if (reason := why_missing(name))}
        self._environments = {
            name: as_on_a_terminal(environment(name, place)) for name in wanted if name not in self.absent
        }

    def measure(self, rounds: int) -> dict[str, Measured]:
        found = {name: Measured() for name in (OURS, *self._environments)}
        with StandIn.in_thread([], port=int(self._place.url.rpartition(":")[2])):
            found[OURS].idle, found[OURS].memory = ours.idle(self._console)
            self._each(found, self._idle)
            for _ in range(rounds):
                paints, keys = ours.starts(self._console, ours.STARTS)
                found[OURS].paints += paints
                found[OURS].keys += keys
                self._each(found, self._start)
        return found

    def _each(self, found: dict[str, Measured], step: Callable[[str, Measured], None]) -> None:
        """Whoever opens no prompt is left out from then on."""
        for name in list(self._environments):
            try:
                step(name, found[name])
            except NotShown as problem:
                self.absent[name] = f"opens no prompt: {problem}"
                del self._environments[name], found[name]

    def _start(self, name: str, found: Measured) -> None:
        paint = self._paint(name)
        found.paints.append(paint)
        found.keys.append(self._key(name, paint))
        print(f"{name}: prompt {paint:.3f} s, key {found.keys[-1]:.3f} s", file=sys.stderr)

    def _paint(self, name: str) -> float:
        with self._opened(name) as program:
            at = _until_shown(program, SCREENS[name].prompt)
        return at - program.began

    def _key(self, name: str, paint: float) -> float:
        """Typed until it is seen, which is looked for more and more rarely: looking takes time."""
        with self._opened(name) as program:
            seconds = 2 * paint + 1
            while seconds < _PATIENCE:
                while time.monotonic() < program.began + seconds:
                    program.press(_KEY)
                    program.watch(_KEY_EVERY)
                if at := first_shown(program.chunks, SCREENS[name].typed):
                    return at - program.began
                seconds *= 1.5
        return float("nan")

    def _idle(self, name: str, found: Measured) -> None:
        """When it has been started before, and has made what it makes the first time."""
        self._paint(name)
        with self._opened(name) as program:
            _until_shown(program, SCREENS[name].prompt)
            program.watch(_SETTLED)
            family = descendants(program.pid)
            found.idle, found.memory = idle_share(program, family, IDLE_SECONDS), memory_of(family)

    def _opened(self, name: str) -> AbstractContextManager[OnPty]:
        return on_pty([*SCREENS[name].argv], self._environments[name], self._place.project)


def _until_shown(program: OnPty, sight: str) -> float:
    """When it was on the screen first; looked for whenever the program is quiet."""
    deadline = time.monotonic() + _PATIENCE
    chunks: list[Chunk] = []
    while time.monotonic() < deadline and not program.over:
        while program.read(_QUIET) and time.monotonic() < deadline:
            pass
        if len(program.chunks) > len(chunks):
            chunks = list(program.chunks)
            if at := first_shown(chunks, sight):
                return at
    raise NotShown(f"{sight} within {_PATIENCE:.0f} s; it wrote {program.written()[-300:]!r}")


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
