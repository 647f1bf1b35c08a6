"""The state of a running session, in the words every view uses."""

import asyncio

from sightline.host import Hello, running, stored_jobs
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views._names import listed_title
from sightline.views._script import script_in
from sightline.views.plain._palette import AGENT, STEP, Palette


def standing_word(hello: Hello) -> str:
    if hello.waiting:
        return "waits for you"
    return "working" if hello.busy else "jobs running" if hello.running else "idle"


def signed_standing(hello: Hello) -> str:
    """The word with its sign."""
    sign = AGENT if hello.waiting else STEP["pending"] if _is_idle(hello) else STEP["running"]
    return f"{sign} {standing_word(hello)}"


def standing(hello: Hello, palette: Palette) -> tuple[str, str]:
    """The word with its sign, and the colour it has."""
    tint = palette.bold if hello.waiting else palette.dim if _is_idle(hello) else palette.busy
    return signed_standing(hello), tint


def _is_idle(hello: Hello) -> bool:
    return not (hello.waiting or hello.busy or hello.running)


def hosts_by_session(store: Store) -> dict[str, Hello]:
    """Every host that answers, those started last first."""
    return {hello.session: hello for hello in asyncio.run(running(store))}


def titles_of(store: Store, sessions: set[str]) -> dict[str, str]:
    """What each is about: its title, or the command that was run first."""
    titles: dict[str, str] = {}
    for job in stored_jobs(store):  # the newest first
        if job.session in sessions:
            titles[job.session] = script_in(job.command)
    for record in store.conversations(None):
        if record.id in sessions and (title := listed_title(record)):
            titles[record.id] = title
    return {session: clean_line(title) for session, title in titles.items()}
