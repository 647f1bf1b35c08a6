"""The facts of the chosen session as a whole, as a tab gets them: its state, what is queued, and open requests.

All of them are sent again whenever one changed; they are small.
"""

from typing import Any

import msgspec

from sightline import events
from sightline.transcript import Remark, Snapshot, TranscriptAgent, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views._levels import levels_in, levels_on_page
from sightline.views._mail import unread_count
from sightline.views._working_copies import copy_words
from sightline.views.web.page._shapes import phases_of

_MOST_AGENTS = 200
_OF_AGENTS = ("path", "parent", "name", "task", "running", "is_error", "call", "aside", "usage")
_FACT_EVENTS = (
    events.AgentEnded,
    events.AgentStarted,
    events.MailChanged,
    events.MailSent,
    events.Request,
    events.RequestResolved,
    events.RunEnded,
    events.RunStarted,
    events.State,
    events.TurnEnded,
)
_FORWARDED: tuple[type[events.StateFact], ...] = (
    events.ApprovalState,
    events.CommandsState,
    events.SkillsState,
    events.ThinkingState,
    events.ContextState,
    events.QueueState,
    events.JobsState,
    events.RetryState,
    events.CompactionState,
    events.StatusTextsState,
    events.WidgetsState,
    events.TitleState,
    events.DismissedFindings,
)


def changes_facts(event: events.Event) -> bool:
    """Whether the facts may have changed with it."""
    return isinstance(event, _FACT_EVENTS)


def facts_of(now: Snapshot, *, live: bool, killed: bool = False, last: float = 0.0) -> dict[str, Any]:
    """`live`: the session has a host, which can take an answer. `killed`: its host was killed; `last`: when its last
    event was."""
    waiting = now.requests.values() if live else ()
    provider, model, todo = (
        events.ProviderState.among(now.state),
        events.ModelState.among(now.state),
        events.TodoState.among(now.state),
    )
    levels = levels_in(provider.name if provider else "")
    forwarded = [fact for kind in _FORWARDED if (fact := kind.among(now.state)) is not None]
    return {
        "live": live,
        "lost": last if not live and (killed or _cut_off(now)) else None,
        "levels": levels,
        "level_choices": list(levels_on_page(levels)),
        "talks": talks(now),
        "resumable": not live and talks(now),
        "running": live and now.running,
        "model": (model.name if model else "") or now.model,
        "todo": phases_of(todo) if todo else None,
        "usage": msgspec.to_builtins(now.usage) if now.usage is not None else None,
        "cost": now.cost,
        "totals": msgspec.to_builtins(now.totals),
        "agents": [_agent_facts(agent) for agent in list(now.agents.values())[-_MOST_AGENTS:]],
        "mail": {"messages": len(now.mail), "unread": unread_count(now.mail)},
        "requests": list(waiting),
        **{fact.KEY.replace(".", "_"): fact.value for fact in forwarded},
    }


def _agent_facts(agent: TranscriptAgent) -> dict[str, Any]:
    """What is known of a subagent. Of its state only what it is doing, and with which model."""
    fact = agent.fact
    last = agent.runs[-1] if agent.runs and fact is not None else agent  # the time in which it was idle does not count
    return {
        **{name: msgspec.to_builtins(getattr(agent, name)) for name in _OF_AGENTS},
        "started": last.started,
        "ended": last.ended,
        "state": agent.standing,
        "model": agent.model,
        "reason": fact.reason if fact is not None else "",
        "unread": fact.unread if fact is not None else 0,
        "copy": copy_words(fact) if fact is not None else "",
        "stopped": fact is not None and fact.stopped,
        "talks": fact is not None and fact.takes_prompts,
    }


def _cut_off(now: Snapshot) -> bool:
    """Whether what is stored ends in the middle of something: a run, or calls that ended with their host."""
    for entry in reversed(now.entries):
        if isinstance(entry, TranscriptCall) and events.call_ending(entry.details).ended == "host":
            return True
        if not isinstance(entry, Remark):
            break
    return now.running


def talks(now: Snapshot) -> bool:
    """Whether there is an agent in it. A session of commands has nothing but commands, from its first entry on."""
    if now.model or events.ModelState.KEY in now.state:
        return True
    return not now.entries or any(isinstance(entry, TranscriptMessage | TranscriptText) for entry in now.entries[:100])
