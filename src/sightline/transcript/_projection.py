"""A session as one of its subagents sees it: that agent is the root, with the agents below it, and nothing else.

Numbers of events stay, so that a later state of the same agent is one of the same conversation (`catch_up`).
"""

from collections.abc import Iterator
from copy import copy

from sightline.transcript._fold import copied
from sightline.transcript._state import Entry, Snapshot, TranscriptAgent


def seen_from(snapshot: Snapshot, path: str) -> Snapshot:
    """A copy. Of a path that was never announced it has the entries alone."""
    agent = snapshot.agents.get(path) or TranscriptAgent(path, "", running=False)
    run = agent.runs[-1] if agent.runs else None
    return Snapshot(
        seq=snapshot.seq,
        model=agent.model,
        running=agent.running,
        began=agent.started if run is None else run.started,
        usage=agent.usage,
        entries=list(_entries(snapshot, path)),
        agents={each.path: each for each in _agents_below(snapshot, path)},
        totals={_below(path, each): copy(total) for each, total in snapshot.totals.items() if _is_in(path, each)},
        requests={id: each for id, each in snapshot.requests.items() if _is_in(path, str(each.get("agent") or ""))},
        state=dict(agent.state),
        ranges=list(snapshot.ranges),
        branched=snapshot.branched,
    )


def _entries(snapshot: Snapshot, path: str) -> Iterator[Entry]:
    for entry in list(snapshot.entries):
        if _is_in(path, entry.agent):
            twin = copied(entry)
            twin.agent = _below(path, entry.agent)
            yield twin


def _agents_below(snapshot: Snapshot, path: str) -> Iterator[TranscriptAgent]:
    for agent in snapshot.agents.values():
        if agent.path != path and _is_in(path, agent.path):
            twin = copied(agent)
            parent = agent.parent if _is_in(path, agent.parent) else path
            twin.path, twin.parent = _below(path, agent.path), _below(path, parent)
            yield twin


def _is_in(path: str, other: str) -> bool:
    return not path or other == path or other.startswith(f"{path}/")


def _below(path: str, other: str) -> str:
    return other[len(path) :].lstrip("/")
