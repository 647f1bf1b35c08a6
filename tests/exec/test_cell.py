"""Python cells: one process that remembers, its output as it comes, interrupted and not lost."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from sightline.events import Event, Notice, ToolOutput, ToolResult
from sightline.exec import Cells

DEADLINE = 90.0


class Kept:
    """A sink in memory."""

    problem = ""

    def __init__(self) -> None:
        self.data = b""

    @property
    def size(self) -> int:
        return len(self.data)

    stored = size

    def write(self, stream: str, data: bytes) -> None:
        self.data += data

    def close(self) -> None:
        pass


class Lab:
    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.seen: list[Event] = []
        self._count = 0
        self._changed = asyncio.Event()

    def start(self, code: str) -> "tuple[str, asyncio.Task[ToolResult]]":
        self._count += 1
        name = f"cell-{self._count}"
        self.seen = []
        return name, asyncio.ensure_future(self.cells.run(name, code, Kept(), self._emit))

    async def run(self, code: str) -> tuple[ToolResult, str]:
        _, task = self.start(code)
        result = await asyncio.wait_for(task, DEADLINE)
        return result, self.said

    @property
    def said(self) -> str:
        return "".join(event.content for event in self.seen if isinstance(event, ToolOutput))

    async def until_said(self, text: str) -> None:
        async with asyncio.timeout(DEADLINE):
            while text not in self.said:
                self._changed.clear()
                await self._changed.wait()

    def _emit(self, event: Event) -> None:
        self.seen.append(event)
        self._changed.set()


@pytest.fixture
async def lab(tmp_path: Any) -> AsyncIterator[Lab]:
    env = {**os.environ, "VIRTUAL_ENV": sys.prefix}
    cells = Cells(str(tmp_path), env, seconds_to_stop=0.3)
    yield Lab(cells)
    await cells.close()


async def test_what_a_cell_made_is_there_in_the_next(lab: Lab) -> None:
    """One process, one namespace; it works in the session's folder."""
    assert (await lab.run("import os\nx = 20\ndef twice(n):\n    return 2 * n"))[0].exit_code == 0
    result, said = await lab.run("twice(x) + 1")
    assert (result.exit_code, said) == (0, "41\n")
    _, said = await lab.run("_ + 1, os.path.basename(os.getcwd()), __name__")
    assert said.startswith("(42, 'test_what_a_cell_made")
    assert "'__main__'" in said


async def test_only_a_last_expression_is_shown(lab: Lab) -> None:
    """As at Python's own prompt: an assignment and None say nothing."""
    assert (await lab.run("1; 2\n3"))[1] == "3\n"
    assert (await lab.run("x = 5"))[1] == ""
    assert (await lab.run("None"))[1] == ""


async def test_output_comes_while_it_runs_and_says_which_stream(lab: Lab, tmp_path: Path) -> None:
    """A line is seen before the cell ends."""
    waiting = "import os, sys, time\nprint('first')\nwhile not os.path.exists('go'): time.sleep(0.01)\n"
    _, task = lab.start(waiting + "print('bad', file=sys.stderr)")
    await lab.until_said("first")
    assert not task.done()
    (tmp_path / "go").touch()
    await asyncio.wait_for(task, DEADLINE)
    outputs = [event for event in lab.seen if isinstance(event, ToolOutput)]
    assert "".join(event.content for event in outputs if event.stream == "stderr") == "bad\n"


async def test_a_failure_shows_the_cells_own_lines(lab: Lab) -> None:
    """The traceback begins in the cell and has its source."""
    result, said = await lab.run("def f():\n    return 1 / 0\nf()")
    assert (result.exit_code, result.is_error) == (1, True)
    assert "return 1 / 0" in said
    assert "ZeroDivisionError" in said
    assert "_cell_child" not in said
    assert "SyntaxError" in (await lab.run("1 +"))[1]


async def test_an_interrupted_cell_loses_nothing(lab: Lab) -> None:
    """Cancelling is SIGINT: the process, and what it remembers, stays."""
    await lab.run("x = 'still here'")
    name, task = lab.start("import time\nprint('begun')\ntime.sleep(60)")
    await lab.until_said("begun")
    lab.cells.cancel(name)
    result = await asyncio.wait_for(task, DEADLINE)
    assert (result.details["ended"], result.exit_code, result.is_error) == ("cancelled", 130, False)
    assert (await lab.run("x"))[1] == "'still here'\n"


async def test_a_cell_that_will_not_stop_is_ended_and_that_is_said(lab: Lab) -> None:
    """After the interrupt its process is killed with all it started; the next cell says that another was begun."""
    code = (
        "import subprocess, time\nchild = subprocess.Popen(['sleep', '61'])\nprint(child.pid)\n"
        "while True:\n    try:\n        time.sleep(60)\n    except KeyboardInterrupt:\n        pass"
    )
    name, task = lab.start(code)
    await lab.until_said("\n")
    child = int(lab.said)
    lab.cells.cancel(name)
    result = await asyncio.wait_for(task, DEADLINE)
    assert result.details["ended"] == "cancelled"
    assert "its variables are lost" in result.content
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == psutil.STATUS_ZOMBIE
    _, said = await lab.run("'new'")
    assert said == "'new'\n"
    assert any("new one was started" in event.text for event in lab.seen if isinstance(event, Notice))


@pytest.mark.parametrize(
    ("code", "exit_code"), [("import os; os._exit(3)", 3), ("exit(4)", 4), ("import os; os.kill(os.getpid(), 9)", 137)]
)
async def test_a_process_that_dies_ends_its_cell_only(lab: Lab, code: str, exit_code: int) -> None:
    """However it went: its exit code is told, and the next cell is run by another."""
    result, _ = await lab.run(code)
    assert (result.details["ended"], result.exit_code, result.is_error) == ("exit", exit_code, True)
    assert (await lab.run("1 + 1"))[1] == "2\n"


async def test_cells_wait_for_each_other(lab: Lab) -> None:
    """Two at once run one after the other; one that is cancelled while it waits is never run."""
    _, first = lab.start("import time; time.sleep(0.2); order = ['first']")
    _, second = lab.start("order.append('second')")
    name, third = lab.start("order.append('third')")
    lab.cells.cancel(name)
    results = await asyncio.wait_for(asyncio.gather(first, second, third), DEADLINE)
    assert [result.details["ended"] for result in results] == ["ok", "ok", "cancelled"]
    assert (await lab.run("order"))[1] == "['first', 'second']\n"


async def test_a_flood_is_told_whole_in_the_sink(lab: Lab) -> None:
    """Every byte is kept, in order, however fast it came."""
    sink = Kept()
    await asyncio.wait_for(lab.cells.run("x", "for i in range(200000): print(i)", sink, lambda event: None), DEADLINE)
    assert sink.data == b"".join(b"%d\n" % number for number in range(200000))


async def test_the_process_ends_with_the_session(tmp_path: Any) -> None:
    """Closing ends it, also while a cell runs; the cell's end comes all the same."""
    lab = Lab(Cells(str(tmp_path), os.environ))
    _, said = await lab.run("import os; os.getpid()")
    pid = int(said)
    _, task = lab.start("import time; time.sleep(60)")
    await asyncio.sleep(0)
    await asyncio.wait_for(lab.cells.close(), DEADLINE)
    assert (await asyncio.wait_for(task, DEADLINE)).exit_code
    with pytest.raises(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)


async def test_a_cell_that_writes_into_our_pipe_ends_its_process(lab: Lab) -> None:
    """What it answers cannot be told apart any more: the cell ends, and the next begins anew."""
    code = (
        "import os\nfor fd in map(int, os.listdir('/proc/self/fd')):\n"
        "    try: fd > 2 and os.write(fd, b'{}\\n')\n    except OSError: pass"
    )
    result, _ = await lab.run(code)
    assert result.is_error
    result, said = await lab.run("1 + 1")
    assert (result.exit_code, said) == (0, "2\n")


async def test_a_cell_that_is_cancelled_while_a_dead_process_is_let_go_is_not_run(lab: Lab, tmp_path: Path) -> None:
    """Nor is one begun for cells that are closed."""
    await lab.run("import subprocess; subprocess.Popen(['sh', '-c', 'trap \"\" TERM; sleep 0.5'])")
    child = lab.cells._child
    assert child is not None
    os.kill(child._spawned.process.pid, signal.SIGKILL)
    child._spawned.process.wait()
    name, task = lab.start("open('ran', 'w')")
    await asyncio.sleep(0)
    lab.cells.cancel(name)
    result = await asyncio.wait_for(task, DEADLINE)
    assert result.details["ended"] == "cancelled"
    assert not (tmp_path / "ran").exists()
