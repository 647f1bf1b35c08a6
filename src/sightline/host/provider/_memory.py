"""What is stored of a conversation with a provider besides its events: the messages, so that it is listed and found,
and what is needed to resume it (the provider's own session id, and how many subagents there were).

A session's agent is the one that answered last. Where another one takes over, that is reported.
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sightline.agent.conversation._memory import add_entry
from sightline.conversation import AssistantMessage, StopReason, TextPart, UserMessage
from sightline.events import NativeSessionState, Notice, ProviderState, SteeringState, StopsAgentsState
from sightline.host.session._session import HostSession
from sightline.journal import NATIVE, PROVIDER_NOTE, SessionReader, SessionTree, Store, events_since_message
from sightline.providers import get_provider

if TYPE_CHECKING:
    from sightline.host.provider._unstored import UnstoredLog


class _ProviderNote(msgspec.Struct):
    provider: str = ""  # native: our own agent took over
    session: str = ""
    agents: dict[str, int] = {}


class ProviderConversation(msgspec.Struct, frozen=True):
    """The provider of a session (empty: our own agent), and its own id of the conversation."""

    provider: str = ""
    session: str = ""


def conversation_in(store: Store, session: str) -> ProviderConversation:
    store.read(session)  # a UserMistake where there is none
    return _conversation(SessionTree.load(store.folder(session)), store.folder(session))


def _conversation(tree: SessionTree, folder: Path) -> ProviderConversation:
    last = next(_notes(tree), None) or _ProviderNote(SessionReader(folder).header.provider)
    return ProviderConversation("" if last.provider == NATIVE else last.provider, last.session)


def native_id(store: Store, session: str, provider: str) -> str:
    """The provider's own id of its conversation in a session of ours; empty: it has none there."""
    return _native_id(SessionTree.load(store.folder(session)), provider)


def _native_id(tree: SessionTree, provider: str) -> str:
    return next((note.session for note in _notes(tree) if note.provider == provider), "")


def last_conversation(store: Store, cwd: str, provider: str, id: str = "") -> str:
    """Our id of the last session in a folder in which this provider answers; `id`: under this id of its own."""
    for record in store.conversations(cwd):
        found = conversation_in(store, record.id)
        if found.provider == provider and found.session and id in ("", found.session):
            return record.id
    return ""


def take_over(session: HostSession, tree: SessionTree) -> None:
    """Our own agent resumes a session."""
    before = _conversation(tree, session.folder).provider
    if before:
        session.actor("sightline").publish(_new_agent("sightline's own agent", _title(before)))
        actor = session.actor("agent")
        actor.publish(ProviderState("").as_state())
        actor.publish(NativeSessionState.over())
        actor.publish(SteeringState(True).as_state())
        actor.publish(StopsAgentsState(True).as_state())
        note = _ProviderNote(NATIVE, "", next(_notes(tree), _ProviderNote()).agents)
        add_entry(session, tree, "custom", data=msgspec.to_builtins(note), custom=PROVIDER_NOTE)


def _new_agent(now: str, before: str) -> Notice:
    hint = f"{before} will not know what follows"
    return Notice(f"The agent changes from {before} to {now}", "warning", hint)


def _title(provider: str) -> str:
    try:
        return get_provider(provider).title
    except KeyError:
        return provider


class ProviderMemory:
    """The tree of a session that a provider works in."""

    def __init__(self, session: "HostSession | UnstoredLog", tree: SessionTree, provider: str) -> None:
        self._session = session
        self._tree = tree
        last = next(_notes(tree), _ProviderNote())
        # Its own conversation, as it was when another agent took over; the names of subagents are taken all the same.
        self.session = _native_id(tree, provider)
        session.agents.update(last.agents)
        self._noted = last
        self._provider = provider
        self._add = partial(add_entry, session, tree)

    def take_over(self) -> Notice | None:
        """What is to be published when another agent answered here so far."""
        before = _conversation(self._tree, self._session.folder).provider
        if before == self._provider or not any(node.type == "message" for node in self._tree.nodes.values()):
            return None
        notice = _new_agent(_title(self._provider), _title(before) if before else "sightline's own agent")
        self.note()
        return notice

    def repair(self) -> None:
        """Store the text of an answer that was cut off because its host was killed."""
        from sightline.agent import missing_messages

        for message in missing_messages([], events_since_message(self._session.folder, self._tree)):
            if isinstance(message, AssistantMessage):
                self._add("message", message=message)

    def prompted(self, text: str) -> None:
        self._add("message", message=UserMessage([TextPart(text)]))

    def answered(self, text: str, model: str, *, cancelled: bool, error: str) -> None:
        reason: StopReason = "aborted" if cancelled else "error" if error else "stop"
        parts = [TextPart(text)] if text else []
        self._add("message", message=AssistantMessage([*parts], model=model, stop_reason=reason, error=error))

    def chose_level(self, level: str) -> None:
        self._add("approval_change", data={"level": level})

    def note(self) -> None:
        """Store what is needed to resume, if it changed."""
        now = _ProviderNote(self._provider, self.session, dict(self._session.agents))
        if now != self._noted:
            self._noted = now
            self._add("custom", data=msgspec.to_builtins(now), custom=PROVIDER_NOTE)


def _notes(tree: SessionTree) -> Iterator[_ProviderNote]:
    """The last first."""
    nodes = [node for node in tree.path() if node.type == "custom"]
    for entry in tree.read(reversed(nodes)):
        if entry.custom == PROVIDER_NOTE:
            try:
                yield msgspec.convert(entry.data, _ProviderNote)
            except msgspec.ValidationError:
                continue
