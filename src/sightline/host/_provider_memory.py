"""What is kept of a conversation with a provider besides its events: the words, so that it is listed and found, and
what is needed to go on with it (the provider's own session id, and how many subagents there were)."""

import asyncio
import time
from pathlib import Path
from typing import Any

import msgspec

from sightline.conversation import AssistantMessage, Message, StopReason, TextPart, ToolMessage, UserMessage
from sightline.events import AgentEnded, AgentStarted, Event
from sightline.host._session import Session
from sightline.journal import Entry, EntryType, KeptSession, Tree

_NAME = "provider"
_WORDS_AT_MOST = 4_000_000  # characters of an answer


class _Kept(msgspec.Struct):
    provider: str = ""
    session: str = ""
    agents: dict[str, int] = {}


class ProviderMemory:
    """The tree of a session that a provider works in."""

    def __init__(self, session: Session, tree: Tree, provider: str) -> None:
        self._session = session
        self._tree = tree
        kept = _last_kept(tree)
        # Another provider knows nothing of that conversation; the names of its subagents are taken all the same.
        self.session = kept.session if kept.provider == provider else ""
        self.agents = dict(kept.agents)
        self._kept = kept
        self._provider = provider

    async def mend(self) -> None:
        """Bring to an end what a host that was killed left open."""
        messages = [node for node in self._tree.nodes.values() if node.type == "message" and node.size]
        if not messages:
            return
        from sightline.agent import mended

        last = messages[-1]
        tail = await asyncio.to_thread(_events, self._session.folder, last.offset + last.size + 1)
        ended = {event.path for event in tail if isinstance(event, AgentEnded)}
        for event in tail:
            if isinstance(event, AgentStarted) and event.path not in ended:
                self._session.publish(AgentEnded(event.path, True, agent=event.agent, source=event.source))
        for missing in mended([], tail):
            if isinstance(missing, AssistantMessage):
                self._add("message", message=missing)
            elif not isinstance(missing, UserMessage | ToolMessage):
                self._session.publish(missing)

    def prompted(self, text: str) -> None:
        self._add("message", message=UserMessage([TextPart(text)]))

    def answered(self, text: str, model: str, *, cancelled: bool, error: str) -> None:
        reason: StopReason = "aborted" if cancelled else "error" if error else "stop"
        parts = [TextPart(text[-_WORDS_AT_MOST:])] if text else []
        self._add("message", message=AssistantMessage([*parts], model=model, stop_reason=reason, error=error))

    def chose_level(self, level: str) -> None:
        self._add("approval_change", data={"level": level})

    def note(self) -> None:
        """Keep what it takes to go on, if it changed."""
        now = _Kept(self._provider, self.session, dict(self.agents))
        if now != self._kept:
            self._kept = now
            self._add("custom", data=msgspec.to_builtins(now), custom=_NAME)

    def _add(self, type: EntryType, *, message: Message | None = None, data: Any = None, custom: str = "") -> None:
        entry = Entry(
            id=self._tree.next_id(),
            parent=self._tree.leaf,
            type=type,
            time=time.time(),
            seq=self._session.seq,
            message=message,
            custom=custom,
            data=data,
        )
        self._tree.add(entry, self._session.keep(entry))


def _events(folder: Path, place: int) -> list[Event]:
    return list(KeptSession(folder).events(place))


def _last_kept(tree: Tree) -> _Kept:
    notes = [node for node in tree.path() if node.type == "custom"]
    for entry in tree.read(reversed(notes)):
        if entry.custom == _NAME:
            try:
                return msgspec.convert(entry.data, _Kept)
            except msgspec.ValidationError:
                break
    return _Kept()
