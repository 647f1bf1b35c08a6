"""The demo in the console: the agent begins by itself, and the person takes over whenever they like."""

import asyncio

from sightline.host import Stop, connect, running
from sightline.journal import Store
from sightline.paths import data_folder
from sightline.views.plain.demo import ALLOWED, demo_place, demo_script, write_script


def run_demo() -> int:
    """On a small broken project that is gone afterwards, and everything that ran in it with it."""
    from sightline.views.console._run import run

    script = demo_script()
    with demo_place(script["files"]) as folder:
        wanted = {"cwd": str(folder / "shop"), "model": write_script(folder, script, paced=True), "allow": ALLOWED}
        try:
            return run(wanted=wanted, prompt=script["prompt"], resumable=False)
        finally:
            asyncio.run(_end_all())


async def _end_all() -> None:
    """A session somebody detached from would lose its folder."""
    store = Store(data_folder())
    for hello in await running(store):
        client = await connect(hello.session)
        await client.submit(Stop())
        async for _ in client.subscribe():
            pass  # until it says goodbye
        client.close()
