"""Sightline and the agents it is compared with, in turns, in one run.

`python -m bench.peers`: the same scripted conversation of two hundred tool turns, wall and CPU of the whole run as a
ratio to each peer, what a turn costs without its tool, and the time from the start to the first request; then the
consoles (`peers_console`), going back to a long session (`peers_resume`), the lines of a running command
(`peers_lines`) and eight subagents at once (`peers_agents`). Exits non-zero on a miss. Run alone on a machine.
"""

import argparse
import gc
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench import peers_agents, peers_console, peers_lines, peers_resume
from bench.agent import START_GOAL, Cost, loop_rows, middle, tool_cost
from bench.headless import PROMPT, TURNS, Agent, DidNotRun, Figures, Measured, figures, free_port, run, sightline
from bench.peer_setup import NAMES, environment, why_missing
from bench.peers_agents import Agents
from bench.peers_console import Consoles
from bench.peers_lines import Lines
from bench.peers_resume import Resumes
from bench.program import SIGHTLINE
from bench.row import Row
from sightline.testing.place import Place, prepare_place

ROUNDS = 3
FIRST_REQUEST_GOAL = 0.9  # of a peer's time from its start

_COMMANDS = {
    "claude": ("claude", "-p", PROMPT),
    "codex": ("codex", "exec", PROMPT),
    "gemini": ("gemini", "--yolo", "-p", PROMPT),
    "opencode": ("opencode", "run", PROMPT),
    "pi": ("pi", "-p", PROMPT),
    "oh-my-pi": ("omp", "-p", PROMPT),
}


class Peers:
    """Everybody who is installed and runs, measured in turns."""

    def __init__(self, place: Place, cache: Path, names: list[str]) -> None:
        self._place = place
        self._agents = sightline(place, SIGHTLINE, cache)
        self.absent: dict[str, str] = {}
        self.tools: list[Cost] = []
        for name in names:
            reason = why_missing(name)
            if reason:
                self.absent[name] = f"not installed: {reason}"
            else:
                self._agents.append(Agent(name, _COMMANDS[name], environment(name, place)))

    def measure(self, rounds: int) -> dict[str, Figures]:
        """Each agent once to fill its caches, then one turn and two hundred of each in every round."""
        self._try()
        short: dict[str, list[Measured]] = {agent.name: [] for agent in self._agents}
        long: dict[str, list[Measured]] = {agent.name: [] for agent in self._agents}
        for number in range(rounds):
            self.tools.append(tool_cost())
            for agent in list(self._agents):
                try:
                    one, many = run(agent, self._place, 1), run(agent, self._place, TURNS)
                except DidNotRun as problem:
                    self._leave_out(agent, problem)
                    continue
                short[agent.name].append(one)
                long[agent.name].append(many)
                print(f"round {number + 1}: {agent.name}: {many.wall:.2f} s, CPU {many.cpu:.2f} s", file=sys.stderr)
                gc.collect()  # the server has stored every request
        return {agent.name: figures(short[agent.name], long[agent.name]) for agent in self._agents}

    def _try(self) -> None:
        for agent in list(self._agents):
            try:
                run(agent, self._place, 1)
            except DidNotRun as problem:
                self._leave_out(agent, problem)

    def _leave_out(self, agent: Agent, problem: DidNotRun) -> None:
        if agent.argv[0] == SIGHTLINE:
            raise problem
        self._agents.remove(agent)
        self.absent[agent.name] = f"does not run: {problem}"


def rows(measured: dict[str, Figures], tool: Cost) -> Iterator[Row]:
    ours = {name: value for name, value in measured.items() if name.startswith("sightline (")}
    theirs = {name: value for name, value in measured.items() if not name.startswith("sightline")}
    for name, peer in theirs.items():
        slowest = max(mine.wall for mine in ours.values())
        busiest = max(mine.cpu for mine in ours.values())
        yield Row(f"{TURNS} tool turns, wall: sightline / {name}", 1.0, slowest / peer.wall)
        yield Row(f"{TURNS} tool turns, CPU: sightline / {name}", 1.0, busiest / peer.cpu)
        latest = max(mine.first for mine in ours.values())
        yield Row(f"start to first request: sightline / {name}", FIRST_REQUEST_GOAL, latest / peer.first)
    for name, mine in ours.items():
        yield from loop_rows(name, mine, tool)
        yield Row(f"{name}: start to first request", START_GOAL, mine.first * 1000, "ms")


def table(measured: dict[str, Figures]) -> str:
    lines = [f"{'':<24}{'first request':>14}{f'{TURNS} turns, wall':>18}{'CPU':>10}{'a turn, wall':>16}{'CPU':>10}"]
    for name, one in measured.items():
        start, turn, cpu = one.first * 1000, one.turn_wall * 1000, one.turn_cpu * 1000
        lines.append(f"{name:<24}{start:>11.0f} ms{one.wall:>16.2f} s{one.cpu:>8.2f} s{turn:>13.1f} ms{cpu:>7.1f} ms")
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--only", action="append", choices=NAMES, help="this peer, and others named; all when none is")
    parser.add_argument("--part", choices=PARTS, help="only this part; all when none is named")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    options = parser.parse_args()
    gc.disable()  # or the server stops for it in the middle of an answer
    names, missed = options.only or [*NAMES], 0
    for part, compared in PARTS.items():
        if options.part in (None, part):
            with tempfile.TemporaryDirectory(prefix="sightline-bench-", ignore_cleanup_errors=True) as folder:
                missed += _printed(compared(Path(folder), names, options.rounds))
    print(f"{missed} missed" if missed else "every goal met")
    return 1 if missed else 0


def _turns(folder: Path, names: list[str], rounds: int) -> Iterator[Row]:
    everybody = Peers(_place(folder), folder / "bytecode", names)
    measured = everybody.measure(rounds)
    _print_table(table(measured), everybody.absent)
    yield from rows(measured, middle(everybody.tools))


def _consoles(folder: Path, names: list[str], rounds: int) -> Iterator[Row]:
    everybody = Consoles(_place(folder), folder / "bytecode", names)
    measured = everybody.measure(rounds)
    _print_table(peers_console.table(measured), everybody.absent)
    yield from peers_console.rows(measured)


def _resume(folder: Path, names: list[str], rounds: int) -> Iterator[Row]:
    everybody = Resumes(_place(folder), folder / "bytecode", names)
    measured = everybody.measure(rounds)
    _print_table(peers_resume.table(measured), everybody.absent)
    yield from peers_resume.rows(measured, everybody.absent)


def _lines(folder: Path, names: list[str], rounds: int) -> Iterator[Row]:
    everybody = Lines(_place(folder), folder / "bytecode", names)
    measured = everybody.measure(rounds)
    _print_table(peers_lines.table(measured), everybody.absent)
    yield from peers_lines.rows(measured, everybody.absent)


def _agents(folder: Path, names: list[str], rounds: int) -> Iterator[Row]:
    everybody = Agents(_place(folder), folder / "bytecode", names)
    measured = everybody.measure(rounds)
    _print_table(peers_agents.table(measured), everybody.absent)
    yield from peers_agents.rows(measured, everybody.absent)


PARTS = {"turns": _turns, "consoles": _consoles, "resume": _resume, "lines": _lines, "agents": _agents}


def _place(folder: Path) -> Place:
    return prepare_place(folder, f"http://127.0.0.1:{free_port()}")


def _print_table(lines: str, absent: dict[str, str]) -> None:
    print(lines)
    for name, reason in absent.items():
        print(f"{name:<24}{reason}")
    print(f"\n{'what':<58} {'goal':>12} {'result':>12}")


def _printed(found: Iterator[Row]) -> int:
    """How many were missed."""
    missed = 0
    for row in found:
        missed += not row.met
        print(row.line(), flush=True)
    return missed


if __name__ == "__main__":
    sys.exit(main())
