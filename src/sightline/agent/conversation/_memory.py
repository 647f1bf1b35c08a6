"""What the model remembers of a session: the messages on the way from the root of the tree to its leaf.

Everything that is added is an entry of the tree first; what is remembered can be read back from there at any time.
"""

import time
from collections.abc import Callable
from typing import Any, Protocol

import msgspec

from sightline.agent.conversation._compaction import branch_summary_message, summary_message
from sightline.conversation import AssistantMessage, Message
from sightline.journal import Entry, EntryPlace, EntryType, SessionTree

_SUMMARIES = {"compaction": summary_message, "branch_summary": branch_summary_message}


class EntryLog(Protocol):
    """Where the entries of a conversation are stored: the session itself, or a journal of the agent's own."""

    @property
    def seq(self) -> int:
        """The number of the last event."""

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        """Store an entry of the tree, after every event so far. None: the disk is full."""


class Memory:
    """The messages of the conversation, and the entry of each in the tree."""

    def __init__(self, log: EntryLog, tree: SessionTree, clock: Callable[[], float] = time.time) -> None:
        self._log = log
        self.tree = tree
        self._clock = clock
        self.messages: list[Message] = []
        self._ids: list[str] = []  # the entry of each message
        self.reload()

    def add(self, message: Message) -> None:
        """One more message of the conversation."""
        entry = self._entry("message", message=message)
        self.messages.append(message)
        self._ids.append(entry.id)

    def add_custom(self, name: str, message: Message) -> None:
        """A message of an extension's."""
        entry = self._entry("custom_message", message=message, custom=name)
        self.messages.append(message)
        self._ids.append(entry.id)

    def note(self, type: EntryType, data: object, custom: str = "") -> None:
        """Something about the conversation that the model does not read as a message."""
        self._entry(type, data=data, custom=custom)

    def compact(self, cut: int, summary: str, tokens_before: int) -> None:
        """The first `cut` messages are a summary from now on."""
        data = {"summary": summary, "first_kept": self._ids[cut], "tokens_before": tokens_before}
        self._entry("compaction", data=data)
        self.reload()

    def move(self, to: str, summary: str = "") -> None:
        """Continue from another entry; with a summary of what is left, from that."""
        left = self.tree.leaf
        self._entry("leaf", data={"to": to})
        if summary:
            self._entry("branch_summary", data={"summary": summary, "from": left})
        self.reload()

    def label(self, target: str, label: str) -> None:
        self._entry("label", data={"target": target, "label": label})

    def stored_values(self) -> dict[str, object]:
        """The values tools and extensions stored on this branch: the last of each name."""
        custom = [node for node in self.tree.path() if node.type == "custom"]
        return {entry.custom: entry.data for entry in self.tree.read(custom)}

    def reload(self) -> None:
        """Read it from the tree, as it is now."""
        self.messages, self._ids = [], []
        entries = self.tree.messages()
        counted = self._since(entries[0].id) if entries and entries[0].type == "compaction" else None
        for entry in entries:
            message = remembered(entry)
            if message is None:
                continue
            if counted is not None and entry.id not in counted and isinstance(message, AssistantMessage):
                message = msgspec.structs.replace(message, usage=None)  # it counted what is a summary now
            self.messages.append(message)
            self._ids.append(entry.id)

    def _since(self, id: str) -> set[str]:
        """What came after an entry of the path."""
        path = [node.id for node in self.tree.path()]
        return set(path[path.index(id) :])

    def _entry(self, type: EntryType, *, message: Message | None = None, data: Any = None, custom: str = "") -> Entry:
        return add_entry(self._log, self.tree, type, message=message, data=data, custom=custom, clock=self._clock)


def add_entry(
    log: EntryLog,
    tree: SessionTree,
    type: EntryType,
    *,
    message: Message | None = None,
    data: Any = None,
    custom: str = "",
    clock: Callable[[], float] = time.time,
) -> Entry:
    """Store a new leaf of a conversation's tree."""
    entry = Entry(
        id=tree.next_id(),
        parent=tree.leaf,
        type=type,
        time=clock(),
        seq=log.seq,
        message=message,
        custom=custom,
        data=data,
    )
    tree.add(entry, log.store_entry(entry))
    return entry


def remembered(entry: Entry) -> Message | None:
    """What the model reads of an entry; None for what is only about the conversation."""
    if entry.message is not None:
        return entry.message
    made = _SUMMARIES.get(entry.type)
    data = entry.data if isinstance(entry.data, dict) else {}
    return None if made is None else made(str(data.get("summary", "")))
