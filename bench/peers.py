"""The same scripted conversation for sightline and the agents it is compared with, in turns, in one run.

`python -m bench.peers`: two hundred tool turns, wall and CPU of the whole run as a ratio to each peer, what a turn
costs without its tool, and the time from the start to the first request. Exits non-zero on a miss. Run alone on a
machine.
"""

import argparse
import gc
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import msgspec

from bench.agent import START_GOAL, Cost, loop_rows, middle, tool_cost
from bench.headless import PROMPT, TURNS, Agent, DidNotRun, Figures, Measured, figures, free_port, run, sightline
from bench.program import SIGHTLINE
from bench.row import Row
from sightline.testing import clis, peers
from sightline.testing.place import Place, prepare_place

ROUNDS = 3

_COMMANDS = {
    "claude": ("claude", "-p", PROMPT),
    "codex": ("codex", "exec", PROMPT),
    "gemini": ("gemini", "--yolo", "-p", PROMPT),
    "opencode": ("opencode", "run", PROMPT),
    "pi": ("pi", "-p", PROMPT),
    "oh-my-pi": ("omp", "-p", PROMPT),
}
_LIMITS = {"contextWindow": 1_000_000, "maxTokens": 64_000}


class Peers:
    """Everybody who is installed and runs, measured in turns."""

    def __init__(self, place: Place, cache: Path, wanted: list[str]) -> None:
        self._place = place
        self._agents = sightline(place, SIGHTLINE, cache)
        self.absent: dict[str, str] = {}
        self.tools: list[Cost] = []
        for name in wanted:
            reason = _why_missing(name)
            if reason:
                self.absent[name] = f"not installed: {reason}"
            else:
                self._agents.append(_peer(name, place))

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
                gc.collect()  # the server keeps all it was asked
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


def _why_missing(name: str) -> str:
    if name in peers.PEERS:
        return peers.missing(name)
    return "`python -m sightline.testing.clis install` has not been run" if name in clis.missing() else ""


def _peer(name: str, place: Place) -> Agent:
    """A peer with what it needs to talk to the stand-in and to nobody else."""
    env = place.environment(name)
    if name == "pi":
        _write(place.home / ".pi/agent/models.json", {"providers": {"standin": _provider(place)}})
        _write(place.home / ".pi/agent/settings.json", {"defaultProvider": "standin", "defaultModel": "standin-1"})
        env |= {"PI_OFFLINE": "1", "PI_TELEMETRY": "0"}
    elif name == "oh-my-pi":
        model = "standin/standin-1"
        startup = {"checkUpdate": False, "setupWizard": False, "changelogMode": "hidden"}
        roles = {"default": model, "smol": model}
        config = {"startup": startup, "marketplace": {"autoUpdate": "off"}, "modelRoles": roles}
        _write(place.home / ".omp/agent/models.yml", {"providers": {"standin": _provider(place)}})
        _write(place.home / ".omp/agent/config.yml", config)
    if name in peers.PEERS:
        env["PATH"] = f"{peers.binary_folder(name)}:{env['PATH']}"
    return Agent(name, _COMMANDS[name], env)


def _provider(place: Place) -> dict[str, object]:
    models = [{"id": "standin-1", **_LIMITS}]
    return {"baseUrl": f"{place.url}/v1", "api": "openai-completions", "apiKey": "standin", "models": models}


def _write(path: Path, value: object) -> None:
    """As JSON, which is YAML too."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(msgspec.json.encode(value))


def rows(measured: dict[str, Figures], tool: Cost) -> Iterator[Row]:
    ours = {name: value for name, value in measured.items() if name.startswith("sightline (")}
    theirs = {name: value for name, value in measured.items() if not name.startswith("sightline")}
    for name, peer in theirs.items():
        slowest = max(mine.wall for mine in ours.values())
        busiest = max(mine.cpu for mine in ours.values())
        yield Row(f"{TURNS} tool turns, wall: sightline / {name}", 1.0, slowest / peer.wall)
        yield Row(f"{TURNS} tool turns, CPU: sightline / {name}", 1.0, busiest / peer.cpu)
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
    parser.add_argument(
        "--only", action="append", choices=[*_COMMANDS], help="this peer, and others named; all when none is"
    )
    parser.add_argument("--rounds", type=int, default=ROUNDS, help=f"default: {ROUNDS}")
    options = parser.parse_args()
    gc.disable()  # or the server stops for it in the middle of an answer
    with tempfile.TemporaryDirectory(prefix="sightline-bench-", ignore_cleanup_errors=True) as folder:
        place = prepare_place(Path(folder), f"http://127.0.0.1:{free_port()}")
        everybody = Peers(place, Path(folder) / "bytecode", options.only or [*_COMMANDS])
        measured = everybody.measure(options.rounds)
        print(table(measured))
        for name, reason in everybody.absent.items():
            print(f"{name}: {reason}")
        print(f"\n{'what':<58} {'goal':>12} {'result':>12}")
        missed = 0
        for row in rows(measured, middle(everybody.tools)):
            missed += not row.met
            print(row.line(), flush=True)
    print(f"{missed} missed" if missed else "every goal met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
