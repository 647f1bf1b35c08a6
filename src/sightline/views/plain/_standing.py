"""How a running session stands, in the words every view has for it."""

import asyncio

from sightline.host import Hello, kept_jobs, running
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views._script import script_in
from sightline.views.plain._palette import AGENT, STEP, Palette


def standing_word(hello: Hello) -> str:
    if hello.waiting:
        return "waits for you"
    return "working" if hello.busy else "jobs running" if hello.running else "idle"


def standing(hello: Hello, palette: Palette) -> tuple[str, str]:
    """The word with its sign, and the colour it has."""
    word = standing_word(hello)
    if word == "waits for you":
        return f"{AGENT} {word}", palette.bold
    return (f"{STEP['pending']} {word}", palette.dim) if word == "idle" else (f"{STEP['running']} {word}", palette.busy)


def hosts_by_session(store: Store) -> dict[str, Hello]:
    """Every host that answers, those started last first."""
    return {hello.session: hello for hello in asyncio.run(running(store))}


def titles_of(store: Store, sessions: set[str]) -> dict[str, str]:
    """What each is about: its title, what was said first, or the command that was."""
    titles: dict[str, str] = {}
    for job in kept_jobs(store):  # the newest first
        if job.session in sessions:
            titles[job.session] = script_in(job.command)
    for record in store.conversations(None):
        if record.id in sessions:
            titles[record.id] = record.title or record.first_prompt
    return {session: clean_line(title) for session, title in titles.items()}
