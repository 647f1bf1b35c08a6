"""The entries for a move to another place in the tree, and for labels of places in it."""

from typing import TYPE_CHECKING

import msgspec

from sightline.journal.tree._entry import Entry, EntryType
from sightline.journal.tree._node import SessionNode

if TYPE_CHECKING:
    from sightline.journal.tree._tree import SessionTree


class TreeMove(msgspec.Struct, frozen=True):
    """Where the conversation continues (empty: before the first entry) and the text to begin with."""

    leaf: str
    prefill: str = ""
    already: bool = False  # it is there: nothing is to be done


class Moment(msgspec.Struct, frozen=True):
    """When an entry is made: the time, and the last event there is."""

    time: float
    seq: int


def abandoned_path(old: list[SessionNode], new: list[SessionNode]) -> list[SessionNode]:
    """The end of the old path that is not on the new one."""
    shared = 0
    while shared < min(len(old), len(new)) and old[shared].id == new[shared].id:
        shared += 1
    return old[shared:]


def move_entries(tree: "SessionTree", move: TreeMove, moment: Moment, *, summary: str = "") -> list[Entry]:
    """What is written for a move; a summary of the branch that is left stands first at the new place."""
    left = tree.leaf
    if move.already or move.leaf == left:
        return []
    entries = [_entry(tree.next_id(), left, "leaf", moment, {"to": move.leaf})]
    if summary:
        data = {"summary": summary, "from": left}
        entries.append(_entry(tree.next_id(1), move.leaf, "branch_summary", moment, data))
    return entries


def label_entry(tree: "SessionTree", target: str, label: str, moment: Moment) -> Entry:
    """Name an entry; with an empty text, take its name away."""
    data = {"target": tree.node(target).id, "label": label}
    return _entry(tree.next_id(), tree.leaf, "label", moment, data)


def _entry(id: str, parent: str, type: EntryType, moment: Moment, data: dict[str, str]) -> Entry:
    return Entry(id=id, parent=parent, type=type, time=moment.time, seq=moment.seq, data=data)
