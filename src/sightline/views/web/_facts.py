"""What a tab is told about the chosen session as a whole: how it stands, what waits, and what must be answered.

All of it is said anew whenever some of it changed; it is small, so that saying it twice costs nothing.
"""

from typing import Any

import msgspec

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Event,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    TurnEnded,
)
from sightline.transcript import Call, Message, Remark, Snapshot, Words
from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS
from sightline.views.web._shapes import plan_of

_MOST_AGENTS = 200
_TELLING = (AgentEnded, AgentStarted, Request, RequestResolved, RunEnded, RunStarted, State, TurnEnded)
_PASSED_ON = (
    "approval",
    "commands",
    "thinking",
    "context",
    "queue",
    "jobs",
    "retry",
    "compaction",
    "ui.status",
    "ui.widgets",
    "ui.title",
)


def tells(event: Event) -> bool:
    """Whether what is said here may have changed with it."""
    return isinstance(event, _TELLING)


def facts_of(now: Snapshot, *, live: bool, killed: bool = False, last: float = 0.0) -> dict[str, Any]:
    """`live`: the session has a host, which hears an answer. `killed`: its host is known to have ended without a
    word; `last`: when its last event was."""
    waiting = now.requests.values() if live else ()
    return {
        "live": live,
        "lost": last if not live and (killed or _cut_off(now)) else None,
        "levels": LEVELS_OF_OTHERS if now.state.get("provider") else LEVELS,
        "talks": talks(now),
        "resumable": not live and talks(now),
        "running": live and now.running,
        "model": now.state.get("model") or now.model,
        "todo": plan_of(now.state.get("todo")),
        "usage": msgspec.to_builtins(now.usage) if now.usage is not None else None,
        "cost": now.cost,
        "totals": msgspec.to_builtins(now.totals),
        "agents": [msgspec.to_builtins(agent) for agent in list(now.agents.values())[-_MOST_AGENTS:]],
        "requests": list(waiting),
        **{key.replace(".", "_"): now.state[key] for key in _PASSED_ON if now.state.get(key) is not None},
    }


def _cut_off(now: Snapshot) -> bool:
    """Whether what is stored ends in the middle of something: a run, or calls that ended with their host."""
    for entry in reversed(now.entries):
        if isinstance(entry, Call) and isinstance(entry.details, dict) and entry.details.get("ended") == "host":
            return True
        if not isinstance(entry, Remark):
            break
    return now.running


def talks(now: Snapshot) -> bool:
    """Whether there is an agent in it: a session of commands has nothing but commands, and those at once."""
    if now.model or "model" in now.state:
        return True
    return not now.entries or any(isinstance(entry, Message | Words) for entry in now.entries[:100])
