"""Our own agent: what its loop adds to each tool turn, and how soon it asks the model first."""

import asyncio
import os
import resource
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import msgspec

from bench.headless import PROMPT, TURNS, Agent, Figures, figures, free_port, run, script, sightline
from bench.program import SIGHTLINE
from bench.row import Row
from sightline.exec import Command, CommandSpec
from sightline.journal import Store
from sightline.testing.place import Place, prepare_place
from sightline.testing.standin import StandIn

ROUNDS = 5
STARTS = 15
CPU_GOAL, WALL_GOAL = 5.0, 6.0  # milliseconds a turn, without the tool's own run
START_GOAL = 200.0  # milliseconds
MODULES_GOAL = 475.0  # a guard against unintended imports; 458 when it was set


class Cost(msgspec.Struct, frozen=True):
    """Seconds of one run of something."""

    wall: float
    cpu: float


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="sightline-bench-", ignore_cleanup_errors=True) as folder:
        place = prepare_place(Path(folder), f"http://127.0.0.1:{free_port()}")
        agents = sightline(place, SIGHTLINE, Path(folder) / "bytecode")[:2]
        yield from _scripted_rows(agents[0], place)
        for agent in agents:
            yield from _served_rows(agent, place)
        yield Row("modules imported for one prompt", MODULES_GOAL, _modules(agents[0], place), "")


def loop_rows(name: str, mine: Figures, tool: Cost) -> Iterator[Row]:
    """What a turn costs that is not the command it runs."""
    yield Row(f"{name}: loop per tool turn, CPU", CPU_GOAL, (mine.turn_cpu - tool.cpu) * 1000, "ms")
    yield Row(f"{name}: loop per tool turn, wall", WALL_GOAL, (mine.turn_wall - tool.wall) * 1000, "ms")


def tool_cost() -> Cost:
    """An `echo` run the way the agent's shell tool runs it, by the part of the program that runs commands."""
    return asyncio.run(_echoes(TURNS))


def middle(costs: list[Cost]) -> Cost:
    return Cost(median(cost.wall for cost in costs), median(cost.cpu for cost in costs))


async def _echoes(count: int) -> Cost:
    with tempfile.TemporaryDirectory() as folder:
        writer = Store(Path(folder)).create(cwd=folder)
        began, used = time.perf_counter(), _cpu()
        for number in range(count):
            spec = CommandSpec(argv=("bash", "-c", f"echo {number}"), cwd=folder, timeout=300)
            artifact = writer.artifact(f"{writer.folder.name}-{number}")
            result = await Command(str(number), spec, artifact, lambda event: None).run()
            assert result.exit_code == 0, result
        cost = Cost((time.perf_counter() - began) / count, (_cpu() - used) / count)
        writer.close()
        return cost


def _cpu() -> float:
    """Of this process and of its children that have ended."""
    used = [resource.getrusage(whose) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def _served_rows(agent: Agent, place: Place) -> Iterator[Row]:
    run(agent, place, 1)  # fills the caches
    short, long, tools = [], [], []
    for _ in range(ROUNDS):
        short.append(run(agent, place, 1))
        long.append(run(agent, place, TURNS))
        tools.append(tool_cost())
    yield from loop_rows(agent.name, figures(short, long), middle(tools))
    starts = [run(agent, place, 0).first * 1000 for _ in range(STARTS)]
    yield Row(f"{agent.name}: start to first request", START_GOAL, median(starts), "ms")


def _scripted_rows(agent: Agent, place: Place) -> Iterator[Row]:
    """Without a server: the model is in the program, so that all but the loop and the tool is left out."""
    for turns in (1, TURNS):
        (place.home / f"{turns}.json").write_bytes(msgspec.json.encode(script(turns)))
    _played(agent, place, 1)
    walls, cpus, tools = [], [], []
    for _ in range(ROUNDS):
        one, many = _played(agent, place, 1), _played(agent, place, TURNS)
        walls.append((many.wall - one.wall) / (TURNS - 1))
        cpus.append((many.cpu - one.cpu) / (TURNS - 1))
        tools.append(tool_cost())
    tool = middle(tools)
    yield Row("`echo` through exec, CPU", None, tool.cpu * 1000, "ms")
    yield Row("`echo` through exec, wall", None, tool.wall * 1000, "ms")
    yield Row("scripted model: loop per tool turn, CPU", CPU_GOAL, (median(cpus) - tool.cpu) * 1000, "ms")
    yield Row("scripted model: loop per tool turn, wall", WALL_GOAL, (median(walls) - tool.wall) * 1000, "ms")


def _played(agent: Agent, place: Place, turns: int) -> Cost:
    options = agent.argv[agent.argv.index("--model") + 2 :]
    argv = [SIGHTLINE, "-p", PROMPT, "--model", f"scripted:{place.home / f'{turns}.json'}", *options]
    began = time.perf_counter()
    process = subprocess.Popen(argv, cwd=place.project, env=agent.env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return Cost(time.perf_counter() - began, usage.ru_utime + usage.ru_stime)


def _modules(agent: Agent, place: Place) -> float:
    """Counted by the interpreter itself; what a prompt that is answered at once needs."""
    env = {**agent.env, "PYTHONPROFILEIMPORTTIME": "1"}
    with StandIn.in_thread(script(0), port=int(place.url.rpartition(":")[2])):
        done = subprocess.run(agent.argv, cwd=place.project, env=env, check=True, capture_output=True, text=True)
    return float(sum(line.startswith("import time:") for line in done.stderr.splitlines()))
