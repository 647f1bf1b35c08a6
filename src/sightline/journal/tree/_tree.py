"""The tree of one session, in memory: its nodes without the messages, which are read on demand.

Rules:

- A parent stands before its children in the journal. An entry whose parent does not is shown as a root: it is not lost
  because another was. Of two entries with one id the first counts.
- The leaf is where the conversation continues: the last entry that is no label, or the target of the last `leaf` entry.
  A move to an entry that is not there is no move.
- A label is that of the last `label` entry about its target; an empty text removes it.
- Events belong to the entry written after them. Those before a label belong to the entry after it, since a label is on
  no path. Those before a move belong to the leaf that was left, and those after the last entry to the leaf there is.
"""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sightline.conversation import SKILL, text_of
from sightline.exceptions import UserMistake
from sightline.journal._record import decode_entry
from sightline.journal._scan import end_of_lines, entry_lines, last_seq
from sightline.journal._writer import EntryPlace
from sightline.journal.tree._entry import Entry, EntryType
from sightline.journal.tree._node import Meta, SessionNode, make_node, meta_of, meta_of_line
from sightline.text import clean_line

# What a model reads, besides the summary of a compaction.
_READ_BY_MODELS = ("message", "custom_message", "branch_summary")
_PREFIX = "e"


class TreeMove(msgspec.Struct, frozen=True):
    """Where the conversation continues (empty: before the first entry) and the text to begin with."""

    leaf: str
    prefill: str = ""
    already: bool = False  # it is there: nothing is to be done


class Moment(msgspec.Struct, frozen=True):
    """When an entry is made: the time, and the last event there is."""

    time: float
    seq: int


class SessionTree:
    """Made by `SessionTree.load`; the writer of the journal adds each entry it wrote."""

    def __init__(self, journal: Path) -> None:
        self.nodes: dict[str, SessionNode] = {}  # in the order of the journal
        self.leaf = ""  # empty: before the first entry
        self.labels: dict[str, str] = {}
        self.last_seq = 0  # of the last event that is known of
        self.torn_at: int | None = None  # where an unfinished last line begins
        self.unreadable = 0  # entries that are damaged
        self.lost_rules = False  # one of them had rules for the session
        self._journal = journal
        self._children: dict[str, list[SessionNode]] = {}
        self._unstored: dict[str, Entry] = {}
        self._tails: dict[str, list[tuple[int, int]]] = {}  # events at a leaf that was then left
        self._accounted = 0  # the last event that belongs to an entry
        self._number = 0

    @classmethod
    def load(cls, folder: Path) -> "SessionTree":
        """The tree of a stored session. A torn last line is left out; `torn_at` is its place."""
        tree = cls(folder / "journal.jsonl")
        with tree._open() as fd:
            end = end_of_lines(fd)
            if end < os.fstat(fd).st_size:
                tree.torn_at = end
            for offset, line in entry_lines(fd, 0, end):
                meta = meta_of_line(line)
                if meta is None:
                    tree.unreadable += 1
                    tree.lost_rules = tree.lost_rules or b'"rules_given"' in line
                else:
                    tree._take(meta, offset, len(line))
            tree.last_seq = max(tree.last_seq, last_seq(fd, end))
        return tree

    def add(self, entry: Entry, place: EntryPlace | None) -> SessionNode:
        """An entry that was just written there; None: it could not be, and stays in memory."""
        if place is None:
            self._unstored[entry.id] = entry
            return self._take(meta_of(entry), -1, 0)
        return self._take(meta_of(entry), place.offset, place.size)

    def next_id(self, skip: int = 0) -> str:
        """A name for an entry that is to be added; where several are, how many come before it."""
        return f"{_PREFIX}{self._number + 1 + skip}"

    def node(self, id: str) -> SessionNode:
        try:
            return self.nodes[id]
        except KeyError:
            raise UserMistake(f"no entry {id}", "see `sightline tree ID --filter all`") from None

    @property
    def roots(self) -> list[SessionNode]:
        """Those that begin a conversation, and those whose parent is not there, the older first."""
        return self.children("")

    def children(self, id: str) -> list[SessionNode]:
        """The older first."""
        return sorted(self._children.get(id, ()), key=lambda node: node.time)

    def path(self, id: str | None = None) -> list[SessionNode]:
        """From the root to this entry (None: the leaf); nothing for the place before the first."""
        id = self.leaf if id is None else id
        found: list[SessionNode] = []
        while id:
            node = self.node(id)
            found.append(node)
            id = node.parent
        found.reverse()
        return found

    def messages(self, leaf: str | None = None) -> list[Entry]:
        """What a model reads there: the last compaction on the path, if any, then the entries after its cut."""
        path = self.path(leaf)
        last = max((at for at, node in enumerate(path) if node.type == "compaction"), default=None)
        if last is None:
            return list(self.read(node for node in path if node.type in _READ_BY_MODELS))
        first = next((at for at, node in enumerate(path[:last]) if node.id == path[last].target), last)
        recent = [node for node in path[first:] if node.type in _READ_BY_MODELS]
        return list(self.read([path[last], *recent]))

    def latest(self, type: EntryType, leaf: str | None = None) -> Entry | None:
        """The last entry of this type on the path: the model that was chosen, the level of thinking."""
        found = [node for node in self.path(leaf) if node.type == type]
        return next(self.read(found[-1:]), None)

    def ranges(self, leaf: str | None = None) -> list[tuple[int, int]]:
        """The events that are shown there: numbers of the first and the last of each stretch, in order."""
        path = self.path(leaf)
        found = [(node.after + 1, node.seq) for node in path]
        for id in ("", *[node.id for node in path]):
            found += self._tails.get(id, ())
            if id == self.leaf:
                found.append((self._accounted + 1, self.last_seq))
        return _joined(found)

    def read(self, nodes: Iterable[SessionNode]) -> Iterator[Entry]:
        """Their entries. One that cannot be read is left out."""
        with self._open() as fd:
            for node in nodes:
                entry = self._unstored.get(node.id)
                if entry is None and node.offset >= 0:
                    entry = decode_entry(os.pread(fd, node.size, node.offset))
                if entry is not None:
                    yield entry

    def move(self, target: str) -> TreeMove:
        """What choosing this entry means: where the conversation continues, and the text to begin with."""
        node = self.node(target)
        if target == self.leaf:
            return TreeMove(target, already=True)
        if node.type == "custom_message" or (node.type == "message" and node.role == "user"):
            entry = next(self.read([node]), None)
            if entry is not None and entry.custom == SKILL:  # not words of the user's
                return TreeMove(target)
            words = "" if entry is None or entry.message is None else text_of(entry.message)
            return TreeMove(node.parent, prefill=words)
        return TreeMove(target)

    def abandoned(self, old: str, new: str) -> list[Entry]:
        """What is left behind between two leaves: from below their common ancestor to the old one, oldest first."""
        return list(self.read(_abandoned_path(self.path(old), self.path(new))))

    @contextmanager
    def _open(self) -> Iterator[int]:
        fd = os.open(self._journal, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield fd
        finally:
            os.close(fd)

    def _take(self, meta: Meta, offset: int, size: int) -> SessionNode:
        if meta.id in self.nodes:
            return self.nodes[meta.id]
        parent = meta.parent if meta.parent in self.nodes else ""
        after = meta.seq if meta.type in ("label", "leaf") else min(self._accounted, meta.seq)
        node = make_node(meta, parent=parent, after=after, offset=offset, size=size)
        self.nodes[node.id] = node
        self._children.setdefault(parent, []).append(node)
        self._number = max(self._number, _number_of(node.id))
        self.last_seq = max(self.last_seq, node.seq)
        if node.type == "label":
            self._label(node.target, meta.about.label)
            return node
        if node.type == "leaf":
            self._tails.setdefault(self.leaf, []).append((self._accounted + 1, node.seq))
            to = meta.about.to
            self.leaf = to if to is not None and (to in self.nodes or not to) else self.leaf
        else:
            self.leaf = node.id
        self._accounted = max(self._accounted, node.seq)
        return node

    def _label(self, target: str, label: str) -> None:
        if label:
            self.labels[target] = clean_line(label)
        else:
            self.labels.pop(target, None)


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    joined: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if first > last:
            continue
        if joined and first <= joined[-1][1] + 1:
            joined[-1] = (joined[-1][0], max(last, joined[-1][1]))
        else:
            joined.append((first, last))
    return joined


def _number_of(id: str) -> int:
    digits = id.removeprefix(_PREFIX)
    return int(digits) if digits != id and digits.isascii() and digits.isdecimal() and len(digits) < 16 else 0


def _abandoned_path(old: list[SessionNode], new: list[SessionNode]) -> list[SessionNode]:
    """The end of the old path that is not on the new one."""
    shared = 0
    while shared < min(len(old), len(new)) and old[shared].id == new[shared].id:
        shared += 1
    return old[shared:]


def move_entries(tree: SessionTree, move: TreeMove, moment: Moment, *, summary: str = "") -> list[Entry]:
    """What is written for a move; a summary of the branch that is left stands first at the new place."""
    left = tree.leaf
    if move.already or move.leaf == left:
        return []
    entries = [_entry(tree.next_id(), left, "leaf", moment, {"to": move.leaf})]
    if summary:
        data = {"summary": summary, "from": left}
        entries.append(_entry(tree.next_id(1), move.leaf, "branch_summary", moment, data))
    return entries


def label_entry(tree: SessionTree, target: str, label: str, moment: Moment) -> Entry:
    """Name an entry; with an empty text, take its name away."""
    data = {"target": tree.node(target).id, "label": label}
    return _entry(tree.next_id(), tree.leaf, "label", moment, data)


def _entry(id: str, parent: str, type: EntryType, moment: Moment, data: dict[str, str]) -> Entry:
    return Entry(id=id, parent=parent, type=type, time=moment.time, seq=moment.seq, data=data)
