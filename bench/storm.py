"""Typing at the console while text streams, a command floods and eight lists of steps change: how soon a key is seen.

All of it goes through a host with our own agent: the model calls eight tools of an extension and a shell at once, and
while they run the host publishes an answer as fast as any model writes. `python -c` runs that host, as it runs this
project's others.
"""

import asyncio
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.console_place import ConsolePlace
from bench.on_pty import Chunk, OnPty, shown
from bench.row import Row

KEYS, BETWEEN = 300, 0.05
ECHO_GOAL = 16.0  # milliseconds
LISTS, STEPS, STEP_EVERY = 8, 3, 0.05
CHARACTERS, TEXT_EVERY = 20, 0.01
_ROWS = 66  # all of it is on the screen at once
_WRITER = "writer"
_LETTERS = "ÄÖÉÑ"  # nothing else on the screen has them
_FLOOD = "while :; do yes 'a row of the flood' | head -n 5000; sleep 0.02; done"
_BACKSPACE = b"\x7f"

_HOST = "import sys\nfrom bench.storm import run\nrun(*sys.argv[1:])\n"

_EXTENSION = f"""
import asyncio
from sightline.extension import Extension, Outcome, ToolContext

def setup(extension: Extension) -> None:
    @extension.tool
    async def hand_over(number: int, context: ToolContext) -> str:
        '''Hand work to others.'''
        for turn in range(100_000):
            steps = [
                {{"id": str(step), "agent": f"worker {{number}}", "task": f"part {{step}}, look {{turn}}",
                  "status": "running" if step == turn % {STEPS} else "pending"}}
                for step in range({STEPS})
            ]
            shown = {{"kind": "agent_delegation", "mode": "parallel", "items": steps, "activeId": str(turn % {STEPS})}}
            context.update({{"ui": shown}})
            await asyncio.sleep({STEP_EVERY})
        return "done"
"""


def rows(console: ConsolePlace) -> Iterator[Row]:
    for what, agent in (("all of it in sight", _WRITER), ("a long answer below it", "")):
        with _host(console, agent) as session, console.opened("attach", session, rows=_ROWS) as program:
            for sight in (b"a row of the flood", b"worker 0"):
                program.until(program.wrote(sight))
            program.watch(2.0)
            since = len(program.chunks)
            times = sorted(echo(program, index) * 1000 for index in range(KEYS))
            chunks = list(program.chunks)
        if agent:
            _check(chunks, since)
        yield Row(f"key to echo in a storm, {what}, median", None, times[KEYS // 2], " ms")
        yield Row(f"key to echo in a storm, {what}, p99", ECHO_GOAL, times[round(KEYS * 0.99) - 1], "ms")


def echo(program: OnPty, index: int) -> float:
    """Seconds from a key to the bytes that show it. It is taken away again: it is nowhere when it is pressed."""
    program.watch(BETWEEN / 2 + (index % 7) * 0.003)
    letter = _LETTERS[index % len(_LETTERS)].encode()
    began = time.monotonic()
    since = len(program.chunks)
    program.press(letter)
    program.until(program.wrote(letter, since), seconds=20)
    echoed = program.chunks[-1].at - began
    program.watch(BETWEEN / 2)
    program.press(_BACKSPACE)
    return echoed


def _check(chunks: list[Chunk], since: int) -> None:
    """It was a storm, on the screen and to the end."""
    screens = ["\n".join(tape.screen) for _, tape in shown(chunks, _ROWS)]
    before, after = screens[since - 1], screens[-1]
    lists = [f"worker {number} part 0, look" for number in range(LISTS)]
    for mark in (*lists, "a row of the flood", "writer to write"):
        assert mark in before, f"no {mark} on the screen\n{before}"
        assert mark in after, f"no {mark} on the screen\n{after}"
    looks = [re.findall(r"look (\d+)", screen) for screen in (before, after)]
    assert all(int(new) > int(old) for old, new in zip(*looks, strict=True)), "the steps stood still"


@contextmanager
def _host(console: ConsolePlace, agent: str) -> Iterator[str]:
    """A session to go to, in a process of its own."""
    extensions = console.home / "extensions"
    extensions.mkdir(exist_ok=True)
    (extensions / "handing_over.py").write_text(_EXTENSION)
    calls: list[dict[str, Any]] = [{"tool": "hand_over", "args": {"number": number}} for number in range(LISTS)]
    calls.append({"tool": "bash", "args": {"command": _FLOOD}})
    model = console.script("storm", [[{"text": "Here it comes."}, *calls]])
    env = {**console.env, "PYTHONPATH": str(Path(__file__).parent.parent)}
    argv = [sys.executable, "-c", _HOST, model, agent]
    process = subprocess.Popen(argv, cwd=console.project, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        session = process.stdout.readline().strip()
        assert session, "the host did not start"
        yield session
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        (extensions / "handing_over.py").unlink()


def run(model: str, agent: str) -> None:
    """The host: a session with an agent whose calls run, while it, or another below it, writes an answer."""
    asyncio.run(_run(model, agent))


async def _run(model: str, agent: str) -> None:
    from sightline.agent import agent_spec
    from sightline.events import Text
    from sightline.host import Prompt, working
    from sightline.journal import Store
    from sightline.paths import data_folder
    from sightline.settings import StartOptions
    from sightline.testing.documents import mixed_markdown

    text = mixed_markdown().lower()
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    spec = agent_spec(StartOptions(cwd=str(Path.cwd()), model=model))
    async with working(Store(data_folder()), spec, attended=True) as it:
        await it.session.submit(Prompt("begin"))
        print(it.session.id, flush=True)
        await asyncio.sleep(1.0)  # the calls have begun by now: what is published from here on stands below them
        actor = it.agent.actor.child(agent, task="to write") if agent else it.agent.actor
        place = 0
        while not over.is_set():
            await asyncio.sleep(TEXT_EVERY)
            actor.publish(Text(text[place : place + CHARACTERS], block=1_000))
            place = (place + CHARACTERS) % len(text)
