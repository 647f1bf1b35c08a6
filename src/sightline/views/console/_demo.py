"""The demo in the console: the agent begins by itself, and the person takes over whenever they like."""

import asyncio
import os
import time

from sightline.exceptions import SightlineError
from sightline.host import Stop, connect, running
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.views.plain.demo import ALLOWED, demo_place, demo_script, write_script

_SECONDS_TO_END = 10.0


def run_demo() -> int:
    """On a small broken project that is gone afterwards, and everything that ran in it with it."""
    from sightline.views.console._run import run

    script = demo_script()
    with demo_place(script["files"]) as folder:
        model = f"scripted:../{write_script(folder, script, paced=True).name}"
        wanted = {"cwd": str(folder / "shop"), "model": model, "allow": ALLOWED}
        hosts: set[int] = set()
        try:
            return run(wanted=wanted, prompt=script["prompt"], resumable=False, greeted=hosts.add)
        finally:
            asyncio.run(_stop_all(hosts))
            _wait_for(hosts)


async def _stop_all(hosts: set[int]) -> None:
    """A session somebody detached from would lose its folder."""
    for hello in await running(Store(data_folder())):
        hosts.add(hello.pid)
        try:
            client = await connect(hello.session)
            await client.submit(Stop())
        except (SightlineError, OSError):
            pass  # it is ending
        else:
            client.close()


def _wait_for(hosts: set[int]) -> None:
    """A host that is ending still writes to its folder."""
    deadline = time.monotonic() + _SECONDS_TO_END
    while any(_lives(pid) for pid in hosts) and time.monotonic() < deadline:
        time.sleep(0.02)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
