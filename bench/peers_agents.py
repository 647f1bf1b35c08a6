"""Eight subagents at once, side by side: how long they take, what they cost, and what of their work is on the screen.

A part of `python -m bench.peers`. The stand-in has the main agent start all eight in one answer; each makes three calls
of its shell, which print a line and take a while, and hands back a result. A call is seen by its command, a line by
what the command prints: it stands on the screen of the emulator, be it for one update, before the last of the eight was
given its last words. Wall is from the enter of the prompt until then; CPU is that of all processes in that time.
"""

import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

import msgspec

from bench.console_place import ConsolePlace
from bench.headless import port_of
from bench.on_pty import OnPty, cpu_with_children, descendants, shown, whole_updates
from bench.peer_screens import OURS, SEE_ABOVE, NotMeasured, PeerScreens, screen_in_a_line, until_shown
from bench.row import Row
from sightline.testing.place import Place
from sightline.testing.standin import MAIN, StandIn

AGENTS, CALLS, SECONDS = 8, 3, 0.5
ALL = AGENTS * CALLS
WALL_GOAL = 1.0  # of the fastest peer's
_PROMPT = "begin all of them"
_PATIENCE = 90.0
_AFTERWARDS = 2.0
_SERVER = """
[models.servers.standin]
base_url = "{url}"
api = "anthropic"
"""
_LEFT_OUT = dict.fromkeys(("gemini", "pi"), "not measured: it is not part of this comparison")
_call, _line = re.compile(r"step-(\d)-(\d)"), re.compile(r"line-(\d)-(\d) is out")


class Run(msgspec.Struct, frozen=True):
    """Seconds; how many calls and lines were on the screen while the subagents ran, and lines at all."""

    wall: float
    cpu: float
    calls: int
    lines: int
    lines_ever: int


class Agents:
    """Everybody who is installed and starts all eight, measured in turns."""

    def __init__(self, place: Place, cache: Path, names: list[str]) -> None:
        self._place = place
        self._console = ConsolePlace(place, cache)
        settings = self._console.home / "settings.toml"
        settings.write_text(settings.read_text() + _SERVER.format(url=place.url))
        self._peers = PeerScreens(place, [name for name in names if name not in _LEFT_OUT])
        self._found: dict[str, list[Run]] = {name: [] for name in (OURS, *self._peers.environments)}
        self.absent = self._peers.absent
        self.absent |= {name: _LEFT_OUT[name] for name in names if name in _LEFT_OUT}

    def measure(self, rounds: int) -> dict[str, list[Run]]:
        for _ in range(rounds):
            self._ours()
            self._peers.each(self._theirs)
        return {name: runs for name, runs in self._found.items() if name not in self.absent}

    def _ours(self) -> None:
        model = ("--model", "standin/standin-1")
        with self._server() as server, self._console.opened(*model) as program:
            host = self._console.host_of(program)
            program.watch(1.0)
            self._found[OURS].append(self._run(OURS, program, server, lambda: [program.pid, host]))

    def _theirs(self, name: str) -> None:
        with self._server() as server, self._peers.opened(name) as program:
            self._peers.prompt_shown(program, name)
            self._found[name].append(self._run(name, program, server, lambda: [program.pid]))

    def _server(self) -> Any:
        return StandIn.in_thread(script(), port=port_of(self._place))

    def _run(self, name: str, program: OnPty, server: StandIn, top: Callable[[], list[int]]) -> Run:
        program.press(_PROMPT.encode())
        until_shown(program, _PROMPT)  # an enter that comes at once may be taken for a part of a paste
        used, began = _cpu(top()), time.monotonic()
        program.press(b"\r")
        over = _until_over(program, server)
        cpu = _cpu(top()) - used
        program.watch(_AFTERWARDS)
        calls, lines = seen(program, _call), seen(program, _line)
        live_calls, live_lines = (sum(at < over for at in found.values()) for found in (calls, lines))
        run = Run(over - began, cpu, live_calls, live_lines, len(lines))
        print(f"{name}: {run.wall:.2f} s, CPU {run.cpu:.2f} s, of {ALL} calls {run.calls} live", file=sys.stderr)
        return run


def script() -> list[list[dict[str, Any]]]:
    """All in one answer. A line is not written in the command that prints it."""
    calls = [
        {
            "tool": "Task",
            "args": {"description": f"part {agent}", "prompt": f"Do part number {agent}, please."},
            "agent": [
                *([_printing(agent, number)] for number in range(CALLS)),
                [{"text": f"Part {agent} is done."}],
            ],
        }
        for agent in range(AGENTS)
    ]
    return [calls, [{"text": "All parts are done."}]]


def _printing(agent: int, number: int) -> dict[str, Any]:
    command = f": step-{agent}-{number}; printf 'line-%d-%d is out\\n' {agent} {number}; sleep {SECONDS}"
    return {"tool": "Bash", "args": {"command": command}}


def _until_over(program: OnPty, server: StandIn) -> float:
    """When each of them was given its last words."""
    deadline = time.monotonic() + _PATIENCE
    while (done := ended(server)) < AGENTS:
        if program.over or time.monotonic() > deadline:
            played = len({turn.agent for turn in server.turns} - {MAIN, ""})
            asked = f"the model was asked {len(server.conversations)} times, {played} agents began and {done} ended"
            raise NotMeasured(f"{asked}; on its screen is {screen_in_a_line(program)}")
        program.watch(0.02)
    return time.monotonic()


def ended(server: StandIn) -> int:
    """How many of the subagents have played to the end."""
    return len({turn.agent for turn in list(server.turns) if turn.agent not in (MAIN, "") and turn.index >= CALLS})


def seen(program: OnPty, sight: re.Pattern[str]) -> dict[tuple[str, str], float]:
    """For each of these that was on the screen, when it was first."""
    found: dict[tuple[str, str], float] = {}
    for at, tape in shown(whole_updates(program.chunks), program.rows):
        for mark in sight.findall("\n".join(tape.screen)):
            found.setdefault(mark, at)
    return found


def _cpu(top: list[int]) -> float:
    return sum(cpu_with_children(pid) for first in top for pid in descendants(first))


def rows(measured: dict[str, list[Run]], absent: dict[str, str]) -> Iterator[Row]:
    ours = measured[OURS]
    yield Row(f"{AGENTS} agents, calls of {ALL} not seen while they ran", 0, max(ALL - run.calls for run in ours), "")
    yield Row(
        f"{AGENTS} agents, lines of {ALL} not seen while they ran", None, max(ALL - run.lines for run in ours), ""
    )
    theirs = {name: runs for name, runs in measured.items() if name != OURS}
    for name, runs in theirs.items():
        yield Row(f"{AGENTS} agents, wall: {OURS} / {name}", None, _wall(ours) / _wall(runs))
        yield Row(f"{AGENTS} agents, CPU: {OURS} / {name}", None, _cpu_of(ours) / _cpu_of(runs))
    if theirs:
        fastest = min(map(_wall, theirs.values()))
        yield Row(f"{AGENTS} agents, wall: {OURS} / the fastest peer", WALL_GOAL, _wall(ours) / fastest)
    for name in absent:
        yield Row.without(f"{AGENTS} agents: {OURS} / {name}", SEE_ABOVE)


def _wall(runs: list[Run]) -> float:
    return median(run.wall for run in runs)


def _cpu_of(runs: list[Run]) -> float:
    return median(run.cpu for run in runs)


def table(measured: dict[str, list[Run]]) -> str:
    head = f"{'wall':>10}{'CPU':>10}{f'live: calls of {ALL}':>20}{f'lines of {ALL}':>14}{'lines ever':>14}"
    lines = [f"{'':<24}{head}"]
    for name, runs in measured.items():
        calls, live, ever = (
            median(counts) for counts in zip(*((run.calls, run.lines, run.lines_ever) for run in runs), strict=True)
        )
        lines.append(f"{name:<24}{_wall(runs):>8.2f} s{_cpu_of(runs):>8.2f} s{calls:>20.0f}{live:>14.0f}{ever:>14.0f}")
    return "\n".join(lines)
