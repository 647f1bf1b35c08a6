"""Random trees against a model that is too simple to be wrong, and a journal torn at every byte."""

import tempfile
from itertools import pairwise
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.events import Text
from sightline.events.stamping import stamp
from sightline.journal import Entry, JournalHeader, JournalWriter, SessionTree, outline
from tests.journal.conversations import assistant, tool, user

# A step: what it is, which of the entries so far it hangs on or is about, and how many events come before it.
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["user", "assistant", "calls", "tool", "custom", "compaction", "label", "unlabel", "leaf"]),
        st.integers(-2, 12),
        st.integers(0, 2),
        st.booleans(),
    ),
    max_size=25,
)
MESSAGES = {
    "user": lambda n: user(f"words {n}"),
    "assistant": lambda n: assistant(f"answer {n}"),
    "calls": lambda n: assistant("", f"make {n}", stop="tool_use"),
    "tool": lambda n: tool(f"output {n}"),
}


class Model:
    """The rules again, each as a loop over everything."""

    def __init__(self):
        self.entries = {}
        self.leaf = ""
        self.labels = {}
        self.owner = {}  # of each event: the entry it belongs to
        self.waiting = []

    def event(self, seq):
        self.waiting.append(seq)

    def entry(self, entry):
        above = entry.parent if entry.parent in self.entries else ""
        self.entries[entry.id] = (above, entry)
        if entry.type == "label":
            self.labels[entry.data["target"]] = entry.data["label"]
            return
        owner = self.leaf if entry.type == "leaf" else entry.id
        self.owner |= dict.fromkeys(self.waiting, owner)
        self.waiting = []
        self.leaf = entry.data["to"] if entry.type == "leaf" else entry.id

    def path(self, id):
        return [*self.path(self.entries[id][0]), id] if id else []

    def events(self, id):
        owner = self.owner | dict.fromkeys(self.waiting, self.leaf)
        return {seq for seq, whose in owner.items() if whose in ("", *self.path(id))}

    def messages(self, id):
        path = self.path(id)
        types = {id: self.entries[id][1].type for id in path}
        compactions = [id for id in path if types[id] == "compaction"]
        kept = path
        if compactions:
            at = path.index(compactions[-1])
            first = self.entries[compactions[-1]][1].data["first_kept"]
            kept = [compactions[-1], *path[path.index(first) if first in path[:at] else at :]]
        return [id for n, id in enumerate(kept) if types[id] == "message" or (types[id] == "compaction" and n == 0)]


def written(steps, folder):
    """A journal made of these steps, the model of it and the tree its writer kept."""
    writer = JournalWriter(folder, JournalHeader("abcdef"))
    model, tree = Model(), SessionTree.load(folder)
    seq = 0
    for number, (kind, where, events, orphan) in enumerate(steps, 1):
        for _ in range(events):
            seq += 1
            writer.append([stamp(Text("x"), seq, float(seq))])
            model.event(seq)
        entry = a_step(number, kind, where, seq, model, orphan=orphan)
        writer.append([entry])
        model.entry(entry)
        tree.add(entry, writer.place_of(entry.id))
    writer.close()
    return model, tree


def a_step(number, kind, where, seq, model, *, orphan):
    known = list(model.entries)
    about = known[where % len(known)] if known and where >= 0 else ""
    parent = model.leaf if where % 3 else about
    if orphan and where == 5:
        parent = "never"
    common = {"id": f"e{number}", "parent": parent, "time": float(number * 7 % 5), "seq": seq}
    if kind in MESSAGES:
        return Entry(**common, message=MESSAGES[kind](number))
    data = {
        "custom": {"any": [1]},
        "compaction": {"summary": "s", "first_kept": about},
        "label": {"target": about, "label": f"l{number}"},
        "unlabel": {"target": about, "label": ""},
        "leaf": {"to": about},
    }[kind]
    return Entry(**common, type="label" if kind == "unlabel" else kind, data=data)


def numbers(ranges):
    return {seq for first, last in ranges for seq in range(first, last + 1)}


@settings(max_examples=150, deadline=None)
@given(STEPS)
def test_a_random_tree_is_what_the_model_says(steps):
    """Leaf, labels, paths, what a model reads and which events are shown, from every place in the tree."""
    with tempfile.TemporaryDirectory() as folder:
        model, kept = written(steps, Path(folder))
        tree = SessionTree.load(Path(folder))
        assert (tree.nodes, tree.leaf, tree.labels) == (kept.nodes, kept.leaf, kept.labels)
        assert tree.leaf == model.leaf
        assert tree.labels == {id: label for id, label in model.labels.items() if label}
        for id in ["", *model.entries]:
            assert [node.id for node in tree.path(id)] == model.path(id)
            assert [entry.id for entry in tree.messages(id)] == model.messages(id)
            ranges = tree.ranges(id)
            assert numbers(ranges) == model.events(id)
            assert all(last + 1 < first for (_, last), (first, _) in pairwise(ranges))


@settings(max_examples=100, deadline=None)
@given(STEPS, st.integers(0, 30), st.integers(0, 30))
def test_random_moves_are_what_the_model_says(steps, one, other):
    """Where a choice leads, what it says, and what it leaves behind."""
    with tempfile.TemporaryDirectory() as folder:
        model, _ = written(steps, Path(folder))
        tree = SessionTree.load(Path(folder))
        ids = list(model.entries)
        if not ids:
            return
        old, target = ids[one % len(ids)], ids[other % len(ids)]
        above, entry = model.entries[target]
        move = tree.move(target)
        if target == model.leaf:
            assert move.already
        elif entry.type == "message" and entry.message.parts and type(entry.message) is type(user("")):
            assert (move.leaf, move.prefill) == (above, entry.message.parts[0].text)
        else:
            assert (move.leaf, move.prefill) == (target, "")
        left = [id for id in model.path(old) if id not in model.path(target)]
        assert [entry.id for entry in tree.abandoned(old, target)] == left


@settings(max_examples=75, deadline=None)
@given(STEPS)
def test_a_listed_tree_has_every_entry_once_under_its_own(steps):
    """The outline of everything is the tree; every other filter shows some of it, each under one that is above it."""
    with tempfile.TemporaryDirectory() as folder:
        model, tree = written(steps, Path(folder))
        everything = outline(tree, "all")
        assert sorted(line.node.id for line in everything) == sorted(model.entries)
        assert all(line.above == line.node.parent for line in everything)
        for filter in ("default", "no-tools", "user-only", "labeled-only"):
            for line in outline(tree, filter):
                assert line.above in ["", *model.path(line.node.id)[:-1]]
                assert line.active == (line.node.id in model.path(model.leaf))


def test_a_journal_torn_at_any_byte_loses_at_most_the_torn_line():
    """Cut off after each of its bytes: it is read, it has every whole line, and going on from there works."""
    steps = [("user", 1, 1, False), ("calls", 1, 2, False), ("label", 0, 0, False), ("leaf", 0, 1, False)]
    steps += [("user", 2, 1, False), ("compaction", 0, 1, False), ("assistant", 4, 0, False)]
    with tempfile.TemporaryDirectory() as folder:
        written(steps, Path(folder))
        journal = Path(folder) / "journal.jsonl"
        whole = journal.read_bytes()
        for size in range(len(whole) + 1):
            journal.write_bytes(whole[:size])
            lines = whole[:size].split(b"\n")[:-1]
            tree = SessionTree.load(Path(folder))
            assert len(tree.nodes) == sum(b'{"kind":"entry"' in line for line in lines)
            assert tree.torn_at == (
                None if whole[:size].endswith(b"\n") or not size else size - len(last_of(whole, size))
            )
            assert tree.last_seq == max([number_in(line) for line in lines], default=0)
            assert tree.unreadable == 0
            tree.messages()


def last_of(whole, size):
    return whole[:size].rpartition(b"\n")[2]


def number_in(line):
    found = line.rpartition(b'"seq":')[2] if b'"seq":' in line else b""
    digits = bytes(byte for byte in found.partition(b",")[0].partition(b"}")[0] if chr(byte).isdigit())
    return int(digits or 0)
