"""`/fork`: a copy of the whole session, to continue in; this one stays as it is."""

import asyncio

from sightline.exceptions import SightlineError
from sightline.text import clean_line, cut_graphemes
from sightline.transcript import TranscriptMessage
from sightline.views.console._desk import Desk, report_error

_TITLE_AT_MOST = 60


async def open(desk: Desk, args: str) -> None:
    await fork(desk, "", "")


async def fork(desk: Desk, leaf: str, draft: str) -> None:
    """Start a new session with all of this one, or only with the path to the entry `leaf`."""
    before, prompt = desk.session, _first_prompt(desk)
    try:
        new = await asyncio.to_thread(desk.store.fork, before, leaf)
        title = await asyncio.to_thread(desk.store.title_of, new) or prompt
    except (SightlineError, OSError) as error:
        report_error(desk, error)
        return
    await desk.switch(new, draft=draft)
    desk.report(f"Forked from “{title}” ({before})" if title else f"Forked from {before}")


def _first_prompt(desk: Desk) -> str:
    prompts = (entry.text for entry in desk.state.entries if isinstance(entry, TranscriptMessage) and not entry.source)
    return cut_graphemes(clean_line(next(prompts, "")), _TITLE_AT_MOST)
