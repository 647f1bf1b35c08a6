"""Events that are appended to a journal without a host: the ends that a killed one left out, and a new branch.

A killed host leaves open what its last run began, and jobs and the user's own commands, which may be older than that.
Those are searched for only by callers that read the whole journal anyway: a long session is resumed at once. So may be
subagents: what each of them published about itself is found without reading what is around it.
"""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from sightline.events import (
    AgentStarted,
    AgentState,
    BranchState,
    Event,
    MailChanged,
    MailSent,
    RunEnded,
    RunStarted,
    State,
    ToolResult,
    User,
)
from sightline.events.stamping import of_source, stamp
from sightline.journal._reader import SessionReader
from sightline.journal._record import decode_record
from sightline.journal._scan import end_of_lines, lines_with
from sightline.journal._writer import JournalWriter
from sightline.journal.tree._tree import SessionTree
from sightline.transcript import LeftOpen, StoredCall

_STARTED = b'{"kind":"agent_started"'
_STATE, _AGENT = b'{"kind":"state"', b'"key":"%s"' % AgentState.KEY.encode()
_MAIL, _OF_MAIL = b'"mail', (b'{"kind":"mail_', b'{"kind":"user"')


def repair(
    writer: JournalWriter, tree: SessionTree, events: Iterable[Event], stored: Callable[[str], StoredCall | None]
) -> bool:
    """Append what is missing after these events, with the time of the last: when exactly the host ended is not known.
    Returns whether the end of a call was missing."""
    left = LeftOpen(events)
    ends = [stamp(end, tree.last_seq + number, left.last) for number, end in enumerate(left.ends(stored), 1)]
    if ends and writer.append(ends):
        tree.last_seq = ends[-1].seq
    return any(isinstance(end, ToolResult) for end in ends)


def append_branch(writer: JournalWriter, tree: SessionTree, time: float) -> None:
    """Publish which branch the conversation is on, for the views of a session that no host runs."""
    (branch,) = of_source("agent", [BranchState(tree.ranges(), tree.leaf).as_state()])
    writer.append([stamp(branch, tree.last_seq + 1, time)])


def events_since_message(folder: Path, tree: SessionTree, back: int = 1) -> list[Event]:
    """Those after the last message that is stored, or after the one so many before; all, where there are fewer."""
    places = [node.offset + node.size + 1 for node in tree.nodes.values() if node.type == "message" and node.size]
    return list(SessionReader(folder).events(places[-back] if back <= len(places) else 0))


def events_of_last_run(folder: Path, tree: SessionTree) -> list[Event]:
    """From its beginning on, or from before its end: whatever it left open is among them."""
    back = 1
    while True:
        events = events_since_message(folder, tree, back)
        known = any(isinstance(event, RunStarted | RunEnded) and not event.agent for event in events)
        if known or back > len(tree.nodes):
            return events
        back *= 2


def agent_states(folder: Path) -> list[State]:
    """What each subagent published about itself last."""
    last: dict[str, State] = {}
    fd = os.open(folder / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    try:
        for line in lines_with(fd, _AGENT, end_of_lines(fd)):
            event = decode_record(line, _no_output) if line.startswith(_STATE) else None
            if isinstance(event, State) and event.key == AgentState.KEY and event.agent:
                last[event.agent] = event
    finally:
        os.close(fd)
    return list(last.values())


def mail_events(folder: Path) -> list[Event]:
    """Everything about messages between agents, and of the user to agents."""
    fd = os.open(folder / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    try:
        lines = lines_with(fd, _MAIL, end_of_lines(fd))
        found = [decode_record(line, _no_output) for line in lines if line.startswith(_OF_MAIL)]
    finally:
        os.close(fd)
    return [event for event in found if isinstance(event, MailSent | MailChanged | User)]


def agents_started(folder: Path) -> set[str]:
    """The paths of all subagents there were."""
    fd = os.open(folder / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    try:
        found = [decode_record(line, _no_output) for line in lines_with(fd, _STARTED, end_of_lines(fd))]
    finally:
        os.close(fd)
    return {event.path for event in found if isinstance(event, AgentStarted)}


def any_running(states: Iterable[State]) -> bool:
    """Whether a subagent was running: what it left open may be older than the last run of the root."""
    facts = [AgentState.of(state.value) for state in states]
    return any(fact is not None and fact.state == "running" for fact in facts)


def _no_output(call: str, offset: int, size: int) -> bytes:
    return b""
