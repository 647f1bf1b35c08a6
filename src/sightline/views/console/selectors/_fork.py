"""`/fork`: a copy of the whole session, to continue in; this one stays as it is."""

import asyncio

from sightline.exceptions import SightlineError
from sightline.views.console._desk import Desk


async def open(desk: Desk, args: str) -> None:
    await fork(desk, "", "")


async def fork(desk: Desk, leaf: str, draft: str) -> None:
    """A new session with everything of this one, or only the way to an entry."""
    before = desk.session
    try:
        new = await asyncio.to_thread(desk.store.fork, before, leaf)
    except (SightlineError, OSError) as error:
        desk.tell(getattr(error, "message", "") or str(error), "error", getattr(error, "hint", ""))
        return
    await desk.switch(new, draft=draft)
    desk.tell(f"Forked from {before}")
