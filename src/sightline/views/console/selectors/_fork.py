"""`/fork`: a copy of the whole session, to continue in; this one stays as it is."""

import asyncio

from sightline.exceptions import SightlineError
from sightline.text import clean_line, cut_graphemes
from sightline.transcript import TranscriptMessage
from sightline.views.console._desk import Desk

_TITLE_AT_MOST = 60


async def open(desk: Desk, args: str) -> None:
    await fork(desk, "", "")


async def fork(desk: Desk, leaf: str, draft: str) -> None:
    """A new session with everything of this one, or only the way to an entry."""
    before, prompt = desk.session, _first_prompt(desk)
    try:
        new = await asyncio.to_thread(desk.store.fork, before, leaf)
        title = await asyncio.to_thread(desk.store.title_of, new) or prompt
    except (SightlineError, OSError) as error:
        desk.report(getattr(error, "message", "") or str(error), "error", getattr(error, "hint", ""))
        return
    await desk.switch(new, draft=draft)
    desk.report(f"Forked from “{title}” ({before})" if title else f"Forked from {before}")


def _first_prompt(desk: Desk) -> str:
    prompts = (entry.text for entry in desk.state.entries if isinstance(entry, TranscriptMessage) and not entry.source)
    return cut_graphemes(clean_line(next(prompts, "")), _TITLE_AT_MOST)
