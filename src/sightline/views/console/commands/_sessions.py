"""`/rename`: another title for the session that is shown."""

import asyncio
from typing import TYPE_CHECKING

from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.views.console._console import Console


async def rename(console: "Console", args: str) -> None:
    if not args.strip():
        console.tell("which title?", "error", "/rename TITLE")
        return
    await asyncio.to_thread(console.store.rename, console.session, args)
    console.tell(f"this session is called: {clean_line(args)}")
