"""The host of a console with a real CLI in it: what it started goes with it, however it goes."""

import asyncio
import os
import signal
from pathlib import Path

import psutil
import pytest
from consoles import DEADLINE, place_at
from lab import Script

from sightline.host import Client, Prompt, Stop, connect
from sightline.host.process._console_options import launch_agent
from sightline.settings import StartOptions
from sightline.testing.standin import StandIn

pytestmark = pytest.mark.live

SCRIPT: Script = [[{"tool": "Bash", "args": {"command": "touch began; sleep 300"}}], [{"text": "Done."}]]


def left(home: str) -> list[str]:
    """The processes that were started for this test and are there."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.pid != os.getpid() and process.environ().get("SIGHTLINE_HOME") == home:
                found.append(" ".join(process.cmdline()) or process.name())
        except psutil.Error:  # it has ended, or is not ours
            continue
    return found


async def killed(client: Client) -> None:
    os.kill(client.hello.pid, signal.SIGKILL)


async def stopped(client: Client) -> None:
    assert (await client.submit(Stop())).ok


@pytest.mark.parametrize("provider", ["codex", "opencode", "claude"])
@pytest.mark.parametrize("end", [killed, stopped])
async def test_nothing_outlives_the_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, provider: str, end: object
) -> None:
    """Stopped or killed, the CLI and the command it was running are gone with the host."""
    async with StandIn(SCRIPT) as server:
        project = place_at(tmp_path, provider, server.url, monkeypatch)
        home = str(tmp_path / "sightline")
        monkeypatch.setenv("SIGHTLINE_HOME", home)
        session = await launch_agent(StartOptions(cwd=str(project), provider=provider))
        client = await connect(session)
        assert (await client.submit(Prompt("Go."))).ok
        async with asyncio.timeout(DEADLINE):
            while not (project / "began").exists():  # noqa: ASYNC110, another process makes it
                await asyncio.sleep(0.05)
            assert any("sleep 300" in words for words in left(home))
            await end(client)  # type: ignore[operator]
            while left(home):  # noqa: ASYNC110, processes that are nobody's children tell nobody
                await asyncio.sleep(0.05)
        client.close()
