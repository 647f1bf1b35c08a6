"""Typing at the console while text streams, a command floods and eight lists of steps change: how soon a key is seen.

All of it goes through a host with our own agent: the model calls eight tools of an extension and a shell at once, and
while they run the host tells an answer as the fastest models write. `python -c` runs that host, as it runs this
project's others.
"""

import asyncio
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bench.console_place import ConsolePlace
from bench.on_pty import OnPty
from bench.row import Row

KEYS, BETWEEN = 300, 0.05
ECHO_GOAL = 16.0  # milliseconds
LISTS, STEPS, STEP_EVERY = 8, 3, 0.05
CHARACTERS, TEXT_EVERY = 20, 0.01
_LETTERS = "ÄÖÉÑ"  # nothing else on the screen has them
_FLOOD = "while :; do yes 'a row of the flood' | head -n 5000; sleep 0.02; done"
_BACKSPACE = b"\x7f"

_HOST = "import sys\nfrom bench.storm import run\nrun(sys.argv[1])\n"

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
            active = str(turn % {STEPS})
            context.update({{"ui": {{"kind": "agent_delegation", "mode": "parallel", "items": steps, "activeId": active}}}})
            await asyncio.sleep({STEP_EVERY})
        return "done"
"""


def rows(console: ConsolePlace) -> Iterator[Row]:
    with _host(console) as session, console.opened("attach", session) as program:
        program.until(program.wrote(b"a row of the flood"))
        program.until(program.wrote(b"look 1"))
        program.watch(1.0)
        since = len(program.chunks)
        times = sorted(_echo(program, index) * 1000 for index in range(KEYS))
        _check(program, since)
    yield Row("key to echo in a storm, median", None, times[KEYS // 2], " ms")
    yield Row("key to echo in a storm, p99", ECHO_GOAL, times[round(KEYS * 0.99) - 1], "ms")


def _echo(program: OnPty, index: int) -> float:
    """Seconds from a key to the bytes that show it. It is taken away again, so that it is nowhere when it is pressed."""
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


def _check(program: OnPty, since: int) -> None:
    """It was a storm to the end."""
    last = program.chunks[-20:]
    seen = b"".join(chunk.data for chunk in program.chunks[since:])
    assert seen.count(b"look ") > KEYS, "the steps stood still"
    assert last[-1].at - last[0].at < 5, "nothing was written any more"


@contextmanager
def _host(console: ConsolePlace) -> Iterator[str]:
    """A session to go to, in a process of its own."""
    extensions = console.home / "extensions"
    extensions.mkdir(exist_ok=True)
    (extensions / "handing_over.py").write_text(_EXTENSION)
    calls: list[dict[str, Any]] = [{"tool": "bash", "args": {"command": _FLOOD}}]
    calls += [{"tool": "hand_over", "args": {"number": number}} for number in range(LISTS)]
    model = console.script("storm", [[{"text": "Here it comes."}, *calls]])
    env = {**console.env, "PYTHONPATH": str(Path(__file__).parent.parent)}
    argv = [sys.executable, "-c", _HOST, model]
    process = subprocess.Popen(argv, cwd=console.project, env=env, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        session = process.stdout.readline().strip()
        assert session, "the host did not start"
        yield session
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(30)
        (extensions / "handing_over.py").unlink()


def run(model: str) -> None:
    """The host: a session with an agent, whose answer is told while its calls run."""
    asyncio.run(_run(model))


async def _run(model: str) -> None:
    from sightline.agent import wanted_in
    from sightline.events import Text
    from sightline.host import Prompt, working
    from sightline.journal import Store
    from sightline.paths import data_folder
    from sightline.testing.documents import mixed_markdown

    text = mixed_markdown().lower()
    over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, over.set)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, over.set)
    async with working(Store(data_folder()), wanted_in(Path.cwd(), model=model), attended=True) as it:
        await it.session.submit(Prompt("begin"))
        print(it.session.id, flush=True)
        while not it.session.running:
            await asyncio.sleep(TEXT_EVERY)
        place = 0
        while not over.is_set():
            await asyncio.sleep(TEXT_EVERY)
            it.session.publish(Text(text[place : place + CHARACTERS], block=1_000))
            place = (place + CHARACTERS) % len(text)
