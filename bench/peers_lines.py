"""A command that prints a line every tenth of a second, side by side: how many are shown, and how old they are then.

A part of `python -m bench.peers`. The model asks each agent to run the same program, which prints the moment it prints
at; a line is shown when it stands on the screen of the emulator after a whole update, be it only for one, and be it
only when the command is over (`while it ran` counts those that were there sooner).
"""

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from bench import live_lines
from bench.console_place import ConsolePlace
from bench.headless import port_of
from bench.live_lines import EVERY, LINES
from bench.on_pty import OnPty
from bench.peer_screens import OURS, SEE_ABOVE, NotMeasured, PeerScreens, screen_in_a_line, until_shown
from bench.row import Row
from sightline.testing.place import Place
from sightline.testing.standin import StandIn

_WHAT = "a line every 0.1 s, age when shown"
_PROMPT = "tick tack"
_PATIENCE = 60.0
_AFTERWARDS = 2.0


class Measured(msgspec.Struct):
    """For each round, how many seconds old each line was when it was shown; lines that never were are not in it."""

    rounds: list[dict[int, float]] = []

    @property
    def shown(self) -> float:
        return median(len(ages) for ages in self.rounds)

    @property
    def live(self) -> float:
        """Lines that were there before the command was over."""
        return median(sum(age < (LINES - number) * EVERY for number, age in ages.items()) for ages in self.rounds)

    @property
    def age(self) -> float | None:
        """The median of all that were shown, if any was."""
        found = [age for ages in self.rounds for age in ages.values()]
        return median(found) if found else None


class Lines:
    """Everybody who is installed and runs the command, measured in turns."""

    def __init__(self, place: Place, cache: Path, names: list[str]) -> None:
        self._place = place
        self._console = ConsolePlace(place, cache)
        self._peers = PeerScreens(place, names)
        self._found = {name: Measured() for name in (OURS, *self._peers.environments)}
        self.absent = self._peers.absent

    def measure(self, rounds: int) -> dict[str, Measured]:
        for _ in range(rounds):
            self._note(OURS, live_lines.ages(live_lines.ticked(self._console)))
            self._peers.each(self._ticked)
        return {name: one for name, one in self._found.items() if name not in self.absent}

    def _ticked(self, name: str) -> None:
        script = live_lines.script(self._place.home)
        with (
            StandIn.in_thread(script, port=port_of(self._place)) as server,
            self._peers.opened(name) as program,
        ):
            self._peers.prompt_shown(program, name)
            program.press(_PROMPT.encode())
            until_shown(program, _PROMPT)  # an enter that comes at once may be taken for a part of a paste
            program.press(b"\r")
            _until_over(program, server)
        self._note(name, live_lines.ages(program.chunks))

    def _note(self, name: str, ages: dict[int, float]) -> None:
        self._found[name].rounds.append(ages)
        oldest = f", the oldest after {max(ages.values()):.3f} s" if ages else ""
        print(f"{name}: {len(ages)} of {LINES} lines shown{oldest}", file=sys.stderr)


def _until_over(program: OnPty, server: StandIn) -> None:
    """Until the model was sent the last line that was printed, and what is shown in the end has been written."""
    deadline = time.monotonic() + _PATIENCE
    heard = 0
    while not any(live_lines.LAST.encode() in msgspec.json.encode(one.body) for one in server.conversations[heard:]):
        heard = len(server.conversations)
        if program.over or time.monotonic() > deadline:
            problem = "never told the model what was printed" if heard else "never asked the model"
            raise NotMeasured(f"it {problem}; on its screen is {screen_in_a_line(program)}")
        program.watch(0.1)
    program.watch(_AFTERWARDS)


def rows(measured: dict[str, Measured], absent: dict[str, str]) -> Iterator[Row]:
    yield from live_lines.goal_rows(measured[OURS].rounds)
    mine = measured[OURS].age
    for name, one in measured.items():
        what = f"{_WHAT}: {OURS} / {name}"
        if name != OURS:
            yield Row(what, None, mine / one.age) if mine and one.age else Row.without(what, "no line was shown")
    for name in absent:
        yield Row.without(f"{_WHAT}: {OURS} / {name}", SEE_ABOVE)


def table(measured: dict[str, Measured]) -> str:
    lines = [f"{'':<24}{f'shown of {LINES}':>14}{'while it ran':>14}{'median age':>14}"]
    for name, one in measured.items():
        age = "–" if one.age is None else f"{one.age * 1000:.1f} ms"
        lines.append(f"{name:<24}{one.shown:>14.0f}{one.live:>14.0f}{age:>14}")
    return "\n".join(lines)
