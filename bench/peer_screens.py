"""The peers on terminals: how each is started, how its prompt is known, and who cannot be measured, with the reason."""

import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager

import msgspec

from bench.console_place import as_on_a_terminal
from bench.on_pty import OnPty, first_shown, on_pty, tape_of
from bench.peer_setup import environment, why_missing
from sightline.testing.place import Place

OURS = "sightline"
SEE_ABOVE = "not measured, see above"
PATIENCE = 40.0
_QUIET = 1.0


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


class NotMeasured(Exception):
    """A peer did not do what was to be timed; the message, one line, has what it did instead."""


class PeerScreens:
    """Every installed peer. One that fails once is left out from then on, and is in `absent`."""

    def __init__(self, place: Place, names: list[str]) -> None:
        self.absent = {name: f"not installed: {reason}" for name in names if (reason := why_missing(name))}
        self.environments = {
            name: as_on_a_terminal(environment(name, place)) for name in names if name not in self.absent
        }
        self._project = place.project

    def each(self, step: Callable[[str], None]) -> None:
        for name in list(self.environments):
            try:
                step(name)
            except NotMeasured as problem:
                self.absent[name] = f"not measured: {problem}"
                del self.environments[name]
                print(f"{name}: {self.absent[name]}", file=sys.stderr)

    def opened(self, name: str, *argv: str) -> AbstractContextManager[OnPty]:
        """Its console, or what else it is to be started with."""
        return on_pty([*(argv or SCREENS[name].argv)], self.environments[name], self._project)

    def prompt_shown(self, program: OnPty, name: str) -> float:
        """When; after it, nothing was written for a while."""
        return until_shown(program, SCREENS[name].prompt)


def until_shown(program: OnPty, sight: str, patience: float = PATIENCE) -> float:
    """When it was on the screen first; looked for whenever the program is quiet, as looking takes time."""
    deadline = time.monotonic() + patience
    seen = 0
    while time.monotonic() < deadline and not program.over:
        while program.read(_QUIET) and time.monotonic() < deadline:
            pass
        if len(program.chunks) > seen:
            seen = len(program.chunks)
            if at := first_shown(program.chunks, sight):
                return at
    waited = "before it ended" if program.over else f"within {patience:.0f} s"
    raise NotMeasured(f"{sight} was not on its screen {waited}, but {screen_in_a_line(program)}")


def screen_in_a_line(program: OnPty) -> str:
    """The last words a person would see on its screen."""
    screen = " ".join(tape_of(program.chunks)[-program.rows :])
    words = [word for word in screen.split() if any(map(str.isalnum, word))]  # no frames
    return repr(" ".join(words)[-200:]) if words else "nothing"
