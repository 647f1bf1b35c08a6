"""Going back to 600 KB of conversation, side by side: from exec until its last lines can be read on the screen.

A part of `python -m bench.peers`. Each makes its session itself, without a screen: three prompts with long answers,
which the stand-in gives to the peers and a script to us. Then it opens the session on a terminal, as its help has it.
Readable is what stands on the screen of the emulator after a whole update: all of the last lines, whatever
is still being written above them.
"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from bench import resuming
from bench.console_place import ConsolePlace
from bench.headless import port_of
from bench.peer_screens import OURS, SEE_ABOVE, NotMeasured, PeerScreens, until_shown
from bench.row import Row
from sightline.testing.place import Place
from sightline.testing.standin import StandIn

OUR_RUNS = 3
_WHAT = "600 KB resumed, end readable"
_SIGHT = r"[\s\S]*".join(resuming.ENDING)
_PATIENCE = 60.0
_PROMPT = "Go on."
_SESSION = "00000600-0000-4000-8000-000000000600"
"""Claude Code's: what it ran without a screen it does not count as the last conversation."""


class Way(msgspec.Struct, frozen=True):
    """How a peer begins a session and resumes it without a screen, and how a user returns to it."""

    begin: tuple[str, ...]
    resume: tuple[str, ...]
    back: tuple[str, ...]


WAYS = {
    "claude": Way(
        ("claude", "-p", _PROMPT, "--session-id", _SESSION),
        ("claude", "-p", _PROMPT, "--resume", _SESSION),
        ("claude", "--resume", _SESSION),
    ),
    "codex": Way(
        ("codex", "exec", _PROMPT),
        ("codex", "exec", "resume", "--last", _PROMPT),
        ("codex", "resume", "--last", "--include-non-interactive"),
    ),
    "gemini": Way(
        ("gemini", "--yolo", "-p", _PROMPT),
        ("gemini", "--yolo", "--resume", "latest", "-p", _PROMPT),
        ("gemini", "--yolo", "--resume", "latest"),
    ),
    "opencode": Way(
        ("opencode", "run", _PROMPT), ("opencode", "run", "--continue", _PROMPT), ("opencode", "--continue")
    ),
    "pi": Way(("pi", "-p", _PROMPT), ("pi", "--continue", "-p", _PROMPT), ("pi", "--continue")),
    "oh-my-pi": Way(("omp", "-p", _PROMPT), ("omp", "--continue", "-p", _PROMPT), ("omp", "--continue")),
}


class Resumes:
    """Everybody who is installed and gets back to a session of its own, measured in turns."""

    def __init__(self, place: Place, cache: Path, names: list[str]) -> None:
        self._place = place
        self._console = ConsolePlace(place, cache)
        self._peers = PeerScreens(place, names)
        self._seconds: dict[str, list[float]] = {name: [] for name in (OURS, *self._peers.environments)}
        self.absent = self._peers.absent

    def measure(self, rounds: int) -> dict[str, float]:
        """Medians, in seconds."""
        texts, session = resuming.long_answers(self._console)
        with StandIn.in_thread(resuming.answering(texts), port=port_of(self._place)):
            self._peers.each(self._make_session)
            for _ in range(rounds):
                for _ in range(OUR_RUNS):
                    self._ours(session)
                self._peers.each(self._back)
        return {name: median(found) for name, found in self._seconds.items() if name not in self.absent}

    def _make_session(self, name: str) -> None:
        """After a start on a terminal, so that what a peer makes the first time is made, and no empty session last."""
        print(f"{name}: makes its session", file=sys.stderr)
        with self._peers.opened(name) as program:
            self._peers.prompt_shown(program, name)
        way = WAYS[name]
        for number in range(resuming.ANSWERS):
            self._prompt(name, way.resume if number else way.begin)

    def _prompt(self, name: str, argv: tuple[str, ...]) -> None:
        env = self._peers.environments[name]
        try:
            done = subprocess.run(
                argv, cwd=self._place.project, env=env, stdin=subprocess.DEVNULL, capture_output=True, timeout=_PATIENCE
            )
        except subprocess.TimeoutExpired:
            raise NotMeasured(f"`{argv[0]}` took more than {_PATIENCE:.0f} s to make its session") from None
        if done.returncode:
            printed = " ".join((done.stdout + done.stderr).decode(errors="replace").split())[-200:]
            raise NotMeasured(f"`{argv[0]}` made no session, exit code {done.returncode}: {printed}")

    def _ours(self, session: str) -> None:
        with self._console.opened("--resume", session) as program:
            self._note(OURS, until_shown(program, _SIGHT) - program.began)

    def _back(self, name: str) -> None:
        with self._peers.opened(name, *WAYS[name].back) as program:
            self._note(name, until_shown(program, _SIGHT, _PATIENCE) - program.began)

    def _note(self, name: str, seconds: float) -> None:
        self._seconds[name].append(seconds)
        print(f"{name}: readable after {seconds:.3f} s", file=sys.stderr)


def rows(measured: dict[str, float], absent: dict[str, str]) -> Iterator[Row]:
    mine = measured[OURS]
    yield Row(f"{_WHAT}, median", resuming.READABLE_GOAL, mine * 1000, "ms")
    for name, seconds in measured.items():
        if name != OURS:
            yield Row(f"{_WHAT}: {OURS} / {name}", None, mine / seconds)
    for name in absent:
        yield Row.without(f"{_WHAT}: {OURS} / {name}", SEE_ABOVE)


def table(measured: dict[str, float]) -> str:
    lines = [f"{'':<24}{'readable':>12}"]
    return "\n".join(lines + [f"{name:<24}{seconds * 1000:>9.0f} ms" for name, seconds in measured.items()])
