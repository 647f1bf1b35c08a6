"""What must hold of the journal of a session that was killed and resumed."""

from collections import Counter
from pathlib import Path

import msgspec

from sightline.events import Event, RunEnded, RunStarted, ToolArgs, ToolResult, ToolUse
from sightline.journal import SessionReader, Store


class Failed(Exception):
    """A promise was broken."""


def store_of(folder: Path) -> Store:
    return Store(folder / "home")


def session_in(folder: Path) -> str:
    """Empty: it was killed before there was one."""
    sessions = store_of(folder).sessions()
    return sessions[0] if sessions else ""


def events_in(folder: Path, session: str) -> list[Event]:
    return list(SessionReader(store_of(folder).folder(session)).events())


def check_received(folder: Path, session: str, received: list[Event]) -> None:
    """Every event that was shown is there, as it was shown."""
    stored = {event.seq: event for event in events_in(folder, session)}
    for event in received:
        if stored.get(event.seq) != event:
            raise Failed(f"event {event.seq} was received and is not stored: {msgspec.to_builtins(event)}")


def check_ends(folder: Path, session: str) -> None:
    """Numbers have no gap, and whatever began, of any agent, has exactly one end."""
    events = events_in(folder, session)
    if [event.seq for event in events] != list(range(1, len(events) + 1)):
        raise Failed("numbers of events have gaps")
    begun = Counter(event.agent for event in events if isinstance(event, RunStarted))
    if begun != Counter(event.agent for event in events if isinstance(event, RunEnded)):
        raise Failed("runs without exactly one end")
    ends = Counter(event.id for event in events if isinstance(event, ToolResult))
    calls = {event.id for event in events if isinstance(event, ToolUse | ToolArgs)}
    if wrong := [id for id in calls if ends[id] != 1]:
        raise Failed(f"calls without exactly one end: {', '.join(wrong)}")
