"""A real server with hosts and commands of its own for each test, and a browser in which nothing may go wrong.

Whatever a test is about, no page may report an error, open a dialog, or ask any other server for anything.
"""

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from pathlib import Path

import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page

from ..conftest import DEADLINE, Served, serving, wait_for
from ..page.conftest import WAIT_MS, browser
from .cable import Cable

__all__ = ["browser"]

_CAPTURES = Path(__file__).parents[3] / "captures" / "claude"
_AWAY = "Failed to load resource: net::ERR_"


class Machine:
    """What a person has at hand: a running server, a shell, and the files a command writes."""

    def __init__(self, served: Served, folder: Path) -> None:
        self.served = served
        self.folder = folder

    async def start(self, *argv: str, session: str = "") -> str:
        """`sightline exec -d`: the id of the job."""
        options = ["-d", *(["--session", session] if session else [])]
        return (await self.sightline("exec", *options, "--", *argv)).split()[0]

    async def run(self, *argv: str, session: str = "") -> str:
        """A command that has ended."""
        job = await self.start(*argv, session=session)
        await asyncio.to_thread(self.served.ended, job)
        return job

    async def sightline(self, *arguments: str) -> str:
        command = (sys.executable, "-m", "sightline", *arguments)
        process = await asyncio.create_subprocess_exec(*command, cwd=self.folder, stdout=asyncio.subprocess.PIPE)
        async with asyncio.timeout(DEADLINE):
            said, _ = await process.communicate()
        assert process.returncode == 0, f"sightline {' '.join(arguments)} ended with {process.returncode}"
        return said.decode()

    def go(self, name: str = "go") -> None:
        """Let a command go on that waits: see `waits`."""
        (self.folder / name).touch()

    def bytes_of(self, job: str) -> bytes:
        return self.served.artifact(job).read_bytes()


def session_of(job: str) -> str:
    return job.rpartition("-")[0]


def waits(name: str = "go") -> str:
    """Shell: wait until the test says `go`."""
    return f"until [ -e {name} ]; do sleep 0.02; done"


async def eventually(fits: Callable[[], object]) -> None:
    """Wait until a condition outside the page holds."""
    await asyncio.to_thread(wait_for, fits)


@pytest.fixture
def recordings() -> list[str]:
    """Names of recorded streams to serve besides; a test that wants some parametrizes it."""
    return []


@pytest.fixture
def machine(tmp_path: Path, own_home: None, recordings: list[str]) -> Iterator[Machine]:
    folder = tmp_path / "work"
    folder.mkdir()
    files = [str(_CAPTURES / f"{name}.jsonl") for name in recordings]
    home = Path(os.environ["SIGHTLINE_HOME"])
    with serving(home, "--port", "0", *files, stop_hosts=False) as served:
        yield Machine(served, folder)
    stop = [sys.executable, "-m", "sightline", "stop", "--all"]
    subprocess.run(stop, stdout=subprocess.DEVNULL, check=False, timeout=DEADLINE)
    shutil.rmtree(home, ignore_errors=True)  # a flood leaves gigabytes


@pytest_asyncio.fixture(loop_scope="session")
async def cable(machine: Machine) -> AsyncIterator[Cable]:
    cable = Cable(int(machine.served.base.rpartition(":")[2]))
    await cable.mend()
    yield cable
    await cable.cut()


OpenPage = Callable[..., Awaitable[Page]]


@pytest_asyncio.fixture(loop_scope="session")
async def open_page(browser: Browser, machine: Machine) -> AsyncIterator[OpenPage]:
    """Opens the printed URL. `through` is a cable that will be cut, which the browser itself reports."""
    contexts, problems = [], []

    async def open(address: str = "", *, through: Cable | None = None, script: str = "", **options: object) -> Page:
        base = machine.served.base if through is None else through.base
        context = await browser.new_context(**{"viewport": {"width": 1200, "height": 800}, **options})
        contexts.append(context)
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.on("dialog", lambda dialog: problems.append(f"dialog: {dialog.message}"))
        page.on("popup", lambda popup: problems.append(f"popup: {popup.url}"))

        def said(message: object) -> None:
            lost = through is not None and message.text.startswith(_AWAY)
            if message.type in ("error", "warning") and not lost:
                problems.append(message.text)

        def asked(request: object) -> None:
            if not request.url.startswith((base + "/", f"blob:{base}/", "data:")):
                problems.append(f"asked for {request.url}")

        page.on("console", said)
        context.on("request", asked)
        if script:
            await page.add_init_script(script)
        await page.goto(f"{base}/#token={machine.served.token}{address.replace('#', '&', 1)}")
        return page

    yield open
    for context in contexts:
        await context.close()
    assert problems == [], "the page reported problems"
