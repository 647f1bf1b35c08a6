"""Agents that run agents: sixty-four at once in the console, and what one costs to start, when idle and when parked.

The console and its host are those of a user, on a pseudo-terminal; the agents play scripts, their tools are real. What
a single agent takes of memory is counted by the interpreter, in a host of our own: the system does not see what is
freed and used again. That nothing of a thousand agents is left is seen by the system, from outside.
"""

import asyncio
import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import msgspec
import psutil

from bench.console_place import ConsolePlace
from bench.headless import free_port
from bench.on_pty import OnPty, descendants
from bench.program import SIGHTLINE
from bench.row import Row
from bench.running import memory
from bench.storm import ECHO_GOAL, echo
from sightline.events import Event, RunEnded, Text, ToolUse
from sightline.journal import SessionReader
from sightline.testing.place import prepare_place

AGENTS = 64
KEYS = 300
MEMORY_GOAL = 150.0  # MB
ENDED_GOAL = 1000.0  # milliseconds
SPAWN_GOAL = 15.0  # milliseconds
IDLE_GOAL, PARKED_GOAL = 1000.0, 20.0  # kB
IN_SEQUENCE, AT_ONCE, BATCH = 1000, 8, 50
FLAT_GOAL = 2.0  # MB for each hundred: no more than what parked ones may have
SETTLED_AFTER = 300  # agents: by then all there is to load is loaded
FULL_AFTER = 500  # and by then what is bounded, such as the recent events, is full
SPAWN_ROUNDS = 5

_TURNS = 60  # of each agent: more than a minute's work
_SENTENCE = "one more step of the work, written as models write it, piece by piece. "
_PIECE, _EVERY = 12, 50  # characters and milliseconds: about 60 tokens a second, of each
_ROWS = 66
_PATIENCE = 120.0
_ESCAPE = b"\x1b"
_HOST = "import sys\nfrom bench.agents import run\nrun(*sys.argv[1:])\n"


def rows() -> Iterator[Row]:
    with tempfile.TemporaryDirectory(prefix="sightline-bench-", ignore_cleanup_errors=True) as folder:
        place = prepare_place(Path(folder), f"http://127.0.0.1:{free_port()}")
        console = ConsolePlace(place, Path(folder) / "bytecode")
        yield from crowd_rows(console)
        yield Row("an agent started, answered and ended, CPU of the host", SPAWN_GOAL, _spawn_cpu(console) * 1000, "ms")
        idle, parked = _kilobytes(console)
        yield Row("an idle agent, memory", IDLE_GOAL, idle, "kB")
        yield Row("a parked agent, memory", PARKED_GOAL, parked, "kB")
        growth = _growth(console)
        what = f"{IN_SEQUENCE:,} agents, {AT_ONCE} at once: memory for each 100 more"
        yield Row(what, FLAT_GOAL, growth, " MB")


class Crowd(NamedTuple):
    """What was measured while they worked: seconds of each echo, MB, and seconds from Escape until all had ended."""

    echoes: list[float]
    memory: float
    ended: float


def crowd_rows(console: ConsolePlace) -> Iterator[Row]:
    crowd = _crowd(console)
    times = sorted(second * 1000 for second in crowd.echoes)
    at_work = f"{AGENTS} agents at work"
    yield Row(f"{at_work}: key to echo, median", None, median(times), " ms")
    yield Row(f"{at_work}: key to echo, p99", ECHO_GOAL, times[round(len(times) * 0.99) - 1], "ms")
    yield Row(f"{at_work}: memory of the host, the most", MEMORY_GOAL, crowd.memory, "MB")
    yield Row(f"{at_work}: Escape until all have ended", ENDED_GOAL, crowd.ended * 1000, "ms")


def sent_out(names: list[str], turns: list[Any]) -> dict[str, Any]:
    """A call that starts an agent for each name; all play these turns."""
    tasks = [{"id": name, "description": f"part {name}", "assignment": f"Do part {name}."} for name in names]
    args = {"agent": "task", "context": "A measurement.", "tasks": tasks}
    return {"tool": "task", "args": args, "agents": dict.fromkeys(names, turns), "chunk": 4000}


def _crowd(console: ConsolePlace) -> Crowd:
    names = [f"N{number}" for number in range(AGENTS)]
    model = console.script("crowd", [[sent_out(names, _work())], [{"text": "All are back."}]])
    options = ["--set", f"task.max_concurrency={AGENTS}", "--model", model]
    with console.opened(*options, rows=_ROWS) as program:
        host = console.host_of(program)
        program.watch(1.0)
        console.enter(program, "begin")
        _wait(program, lambda: _callers(_events(console)) >= set(names))
        since = time.time()
        echoes = [echo(program, index) for index in range(KEYS)]
        until, most = time.time(), _peak(host)
        _check_all_worked(console, names, since, until)
        began = time.time()
        program.press(_ESCAPE)
        program.until(lambda: not _commands_of(host), _PATIENCE)
        no_command = time.time()
        _wait(program, lambda: len(_ends(console)) >= AGENTS)
        ends = _ends(console)
    return Crowd(echoes, most, max(no_command, *(event.time for event in ends)) - began)


def _work() -> list[Any]:
    """Words that stream for more than a second, then a command or a file."""
    calls = [
        {"tool": "bash", "args": {"command": "echo a line; echo another"}},
        {"tool": "read", "args": {"path": "README.md"}},
    ]
    words = {"text": _SENTENCE * 5, "chunk": _PIECE, "delay_ms": _EVERY}
    return [[words, calls[number % 2]] for number in range(_TURNS)]


def _events(console: ConsolePlace) -> list[Event]:
    """Of the last session in this place."""
    sessions = (console.home / "sessions").iterdir()
    last = max(sessions, key=lambda folder: (folder / "journal.jsonl").stat().st_mtime)
    return list(SessionReader(last).events())


def _wait(program: OnPty, condition: Callable[[], bool]) -> None:
    """Looked for now and then: reading a journal takes time that the program should have."""
    deadline = time.monotonic() + _PATIENCE
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        program.watch(0.5)


def _callers(events: list[Event]) -> set[str]:
    return {event.agent for event in events if isinstance(event, ToolUse)}


def _check_all_worked(console: ConsolePlace, names: list[str], since: float, until: float) -> None:
    """Every one of them wrote and called while the keys were typed."""
    during = [event for event in _events(console) if since < event.time < until]
    writers = {event.agent for event in during if isinstance(event, Text)}
    idle = set(names) - (writers & _callers(during))
    assert not idle, f"not at work while keys were typed: {', '.join(sorted(idle))}"


def _ends(console: ConsolePlace) -> list[Event]:
    return [event for event in _events(console) if isinstance(event, RunEnded) and event.agent]


def _commands_of(host: int) -> list[int]:
    """What agents run: the shells below the host."""
    return [pid for pid in descendants(host) if _name(pid) in ("bash", "sh")]


def _name(pid: int) -> str:
    try:
        return psutil.Process(pid).name()
    except psutil.Error:
        return ""


def _peak(pid: int) -> float:
    """MB: the most it ever had."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def _spawn_cpu(console: ConsolePlace) -> float:
    """Seconds of CPU of the process for each agent after the first: started, asked once, its result handed back."""
    model = {count: console.script(f"spawn{count}", _batches(count, count)) for count in (1, AGENTS)}
    _played_cpu(console, model[1])
    costs = []
    for _ in range(SPAWN_ROUNDS):
        one, many = _played_cpu(console, model[1]), _played_cpu(console, model[AGENTS])
        costs.append((many - one) / (AGENTS - 1))
    return median(costs)


def _batches(agents: int, at_once: int, letter: str = "N") -> list[Any]:
    """So many agents, a call for each so many; each hands back its result at once."""
    names = [f"{letter}{number}" for number in range(agents)]
    turns = [[{"text": "I look at it."}, {"tool": "yield", "args": {"result": "It is done."}}]]
    calls: list[Any] = [[sent_out(names[at : at + at_once], turns)] for at in range(0, agents, at_once)]
    return [*calls, [{"text": "All are back."}]]


def _headless(model: str, *options: str) -> list[str]:
    return [SIGHTLINE, "-p", "begin", "--model", model, "--set", f"task.max_concurrency={AT_ONCE}", *options]


def _played_cpu(console: ConsolePlace, model: str) -> float:
    process = subprocess.Popen(_headless(model), cwd=console.project, env=console.env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0
    return usage.ru_utime + usage.ru_stime


def _growth(console: ConsolePlace) -> float:
    """MB that each hundred more take, after the first; agents are parked when they have been idle for a second."""
    model = console.script("sequence", _batches(IN_SEQUENCE, BATCH))
    argv = _headless(model, "--set", "task.idle_seconds=1")
    process = subprocess.Popen(argv, cwd=console.project, env=console.env, stdout=subprocess.DEVNULL)
    began, sizes = time.time(), dict[int, float]()
    while process.poll() is None:
        if count := _started(console, began):
            sizes[count] = max(memory(process.pid), sizes.get(count, 0.0))
        time.sleep(0.05)
    assert process.returncode == 0
    settled = min(count for count in sizes if count >= FULL_AFTER)
    last = max(sizes)
    assert last >= IN_SEQUENCE - BATCH, f"only {last} agents were seen"
    return (sizes[last] - sizes[settled]) / (last - settled) * 100


def _started(console: ConsolePlace, began: float) -> int:
    """How many agents the session that began then has."""
    new = [folder for folder in (console.home / "sessions").iterdir() if folder.stat().st_ctime > began]
    return max((len(os.listdir(folder / "agents")) for folder in new if (folder / "agents").exists()), default=0)


def _kilobytes(console: ConsolePlace) -> tuple[float, float]:
    """What an idle agent has, and what is left of it when it is parked."""
    turns = [*_batches(SETTLED_AFTER, BATCH), *_batches(AGENTS, AGENTS, "M")]  # one prompt each
    model = console.script("resting", turns)
    env = {**console.env, "PYTHONPATH": str(Path(__file__).parent.parent)}
    argv = [sys.executable, "-c", _HOST, model]
    done = subprocess.run(argv, cwd=console.project, env=env, check=True, stdout=subprocess.PIPE, timeout=_PATIENCE)
    idle, parked = msgspec.json.decode(done.stdout, type=tuple[float, float])
    return idle, parked


def run(model: str) -> None:
    """The host that counts."""
    print(msgspec.json.encode(asyncio.run(_counted(model))).decode())


async def _counted(model: str) -> tuple[float, float]:
    from sightline.agent import agent_spec
    from sightline.host import working
    from sightline.journal import Store
    from sightline.paths import data_folder
    from sightline.settings import StartOptions

    flags = {"task.idle_seconds": "0", "task.max_concurrency": str(AT_ONCE)}
    spec = agent_spec(StartOptions(cwd=str(Path.cwd()), model=model, flags=flags))
    tracemalloc.start()
    async with working(Store(data_folder()), spec, attended=True) as it:
        directory = it.worker.team.directory
        sizes = []
        for _ in range(2):
            before = len(directory.members)
            await it.agent.prompt("begin")
            await it.agent.wait()
            sizes.append(_traced())
            for member in directory.members:
                await directory.park(member)
            sizes.append(_traced())
        count = len(directory.members) - before
        assert (before, count) == (SETTLED_AFTER, AGENTS), "not all of them were started"
        assert {member.state for member in directory.members} == {"parked"}
    _, settled, idle, parked = sizes
    return (idle - settled) / count / 1000, (parked - settled) / count / 1000


def _traced() -> int:
    """Bytes that are in use."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]
