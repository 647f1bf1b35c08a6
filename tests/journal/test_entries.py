"""Entries in the journal: kept among the events, in order, whole or not at all."""

import os

import pytest

from sightline.events import Error, Text
from sightline.events.stamping import stamp
from sightline.exceptions import OutsideFailure
from sightline.journal import Busy, Entry, SessionTree, Store
from sightline.journal import _writer as writer_module
from sightline.journal.tree._entry import ENTRY_CAP
from tests.journal.conversations import Talk, assistant, user


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def event(seq, text="x"):
    return stamp(Text(text), seq, float(seq))


def entry(id, seq, text="hello", **fields):
    return Entry(id=id, seq=seq, message=user(text), **fields)


def test_events_and_entries_are_kept_in_order_and_read_apart(store):
    """One write, one file; each reader sees its own."""
    writer = store.create()
    records = [event(1), entry("e1", 1), event(2), event(3), entry("e2", 3, parent="e1")]
    assert writer.append(records)
    kept = store.read(writer.folder.name)
    assert list(kept.events()) == [records[0], *records[2:4]]
    assert list(kept.entries()) == [records[1], records[4]]
    lines = (writer.folder / "journal.jsonl").read_bytes().splitlines()
    assert [b'"entry"' in line[:20] for line in lines] == [False, False, True, False, False, True]


def test_events_can_be_read_from_a_place_on(store):
    """Whoever goes on with a session needs the last of them alone."""
    writer = store.create()
    records = [event(1), entry("e1", 1), event(2), entry("e2", 2), event(3)]
    writer.append(records)
    place = writer.place_of("e1")
    kept = store.read(writer.folder.name)
    assert [found.seq for found in kept.events(place.offset + place.size + 1)] == [2, 3]


def test_a_place_is_where_the_line_is(store):
    """What the writer says of an entry is enough to read it."""
    writer = store.create()
    writer.append([event(1), entry("e1", 1), event(2), entry("e2", 2, "été", parent="e1")])
    data = (writer.folder / "journal.jsonl").read_bytes()
    for id in ("e1", "e2"):
        place = writer.place_of(id)
        line = data[place.offset : place.offset + place.size]
        assert line.startswith(b'{"kind":"entry","id":"%s"' % id.encode())
        assert data[place.offset + place.size :][:1] == b"\n"
    assert writer.place_of("e3") is None


def test_an_entry_that_is_too_long_is_refused_before_anything_is_written(store):
    """Half a step of a conversation is none, and what came with it is not half kept either."""
    writer = store.create()
    before = (writer.folder / "journal.jsonl").read_bytes()
    with pytest.raises(OutsideFailure, match="too long"):
        writer.append([event(1), entry("e1", 1, "x" * ENTRY_CAP)])
    assert (writer.folder / "journal.jsonl").read_bytes() == before


def test_an_entry_may_be_longer_than_an_event(store):
    """Two megabytes of a message come back whole, through the tree as well."""
    writer = store.create()
    long = entry("e1", 0, "x" * 2_000_000)
    writer.append([long])
    assert list(store.read(writer.folder.name).entries()) == [long]
    tree = SessionTree.load(writer.folder)
    assert list(tree.read(tree.path())) == [long]


def test_a_torn_entry_is_left_out_by_every_reader(store):
    """Events, entries and the tree agree on where the last whole line ends."""
    writer = store.create()
    writer.append([event(1), entry("e1", 1)])
    path = writer.folder / "journal.jsonl"
    whole = path.stat().st_size
    with path.open("ab") as file:
        file.write(b'{"kind":"entry","id":"e2","par')
    kept = store.read(writer.folder.name)
    assert [found.id for found in kept.entries()] == ["e1"]
    assert kept.torn_at == whole
    tree = SessionTree.load(writer.folder)
    assert (list(tree.nodes), tree.torn_at) == (["e1"], whole)


def test_a_conversation_that_is_gone_on_with_says_what_was_torn(store):
    """The torn end is cut off, a notice stands in its place, and the next entry is whole."""
    talk = Talk(store)
    talk.step(user("a"))
    talk.close()
    with (talk.writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"entry","id"')
    writer, tree = store.reopen(talk.id)
    assert writer.append([entry("e2", tree.last_seq, parent=tree.leaf)])
    writer.close()
    events = list(store.read(talk.id).events())
    assert "cut off" in events[-1].text
    assert [found.id for found in store.read(talk.id).entries()] == ["e1", "e2"]
    assert tree.last_seq == events[-1].seq == 2


def test_two_writers_of_a_conversation_are_one_too_many(store):
    """Whoever comes second is told, and nothing is changed."""
    talk = Talk(store)
    talk.step(user("a"))
    with pytest.raises(Busy):
        store.reopen(talk.id)
    talk.close()
    store.reopen(talk.id)[0].close()


@pytest.fixture
def full(monkeypatch):
    """A disk that is full until `full.clear()`: some of what is written fits, never all."""
    real = os.write

    class Disk:
        writer = None

        def fill(self, writer):
            self.writer = writer

        def clear(self):
            self.writer = None

    disk = Disk()

    def write(fd, data):
        if disk.writer is not None and fd == disk.writer.fileno():
            real(fd, bytes(data[:7]))
            raise OSError(28, "No space left on device")
        return real(fd, data)

    monkeypatch.setattr(os, "write", write)
    return disk


def test_entries_wait_for_room_and_events_leave_a_gap(store, full):
    """Full disk: later entries build on those that could not be kept, so those are written first once there is room."""
    writer = store.create()
    assert writer.append([event(1), entry("e1", 1)])
    full.fill(writer)
    assert not writer.append([event(2), entry("e2", 2, parent="e1")])
    assert writer.place_of("e2") is None
    assert not writer.append([entry("e3", 2, parent="e2")])
    full.clear()
    assert writer.append([event(3), entry("e4", 3, parent="e3")])
    events = list(store.read(writer.folder.name).events())
    assert [found.seq for found in events] == [1, 2, 3]
    assert isinstance(events[1], Error)
    assert "events 2 to 2 happened but are not stored" in events[1].text
    tree = SessionTree.load(writer.folder)
    assert [node.id for node in tree.path()] == ["e1", "e2", "e3", "e4"]
    assert (tree.last_seq, tree.unreadable) == (3, 0)
    place = writer.place_of("e4")
    assert (tree.nodes["e4"].offset, tree.nodes["e4"].size) == (place.offset, place.size)


def test_only_entries_lost_leave_no_gap_of_events(store, full):
    """Nothing is said to be missing that is there."""
    writer = store.create()
    full.fill(writer)
    assert not writer.append([entry("e1", 0)])
    full.clear()
    assert writer.append([event(1)])
    assert [type(found) for found in store.read(writer.folder.name).events()] == [Text]
    assert [found.id for found in store.read(writer.folder.name).entries()] == ["e1"]


def test_what_waits_for_room_has_a_cap_that_is_said(store, full, monkeypatch):
    """Beyond it entries are counted in the gap; the others are kept, and what hangs in the air is shown as a root."""
    monkeypatch.setattr(writer_module, "_OWED_CAP", 150)
    writer = store.create()
    full.fill(writer)
    for number in range(1, 4):
        assert not writer.append([entry(f"e{number}", 0, "x" * 40, parent=f"e{number - 1}")])
    full.clear()
    assert writer.append([entry("e4", 0, parent="e3")])
    (gap,) = store.read(writer.folder.name).events()
    assert "2 steps of the conversation happened but are not stored" in gap.text
    tree = SessionTree.load(writer.folder)
    assert ([node.id for node in tree.roots], tree.nodes["e4"].orphan) == (["e1", "e4"], True)


def test_an_entry_the_disk_had_no_room_for_is_read_from_memory(store, full):
    """The conversation goes on all the same."""
    talk = Talk(store)
    full.fill(talk.writer)
    lost = Entry(id="e1", message=assistant("still here"))
    assert not talk.writer.append([lost])
    talk.tree.add(lost, talk.writer.place_of("e1"))
    assert talk.tree.messages() == [lost]
    assert talk.tree.next_id() == "e2"


def test_a_damaged_entry_costs_itself_and_is_counted(store):
    """What was below it is shown as a root."""
    talk = Talk(store)
    talk.step(user("a"))
    with (talk.writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"entry","id":"e2","seq":"what"}\n{"kind":"entry",\xff\xfe}\n')
    writer = talk.writer
    writer.append([entry("e3", 1, parent="e2")])
    tree = SessionTree.load(writer.folder)
    assert tree.unreadable == 2
    assert {node.id: node.orphan for node in tree.roots} == {"e1": False, "e3": True}
    assert [found.id for found in store.read(talk.id).entries()] == ["e1", "e3"]


def test_an_entry_of_a_later_version_has_its_place(store):
    """A type nobody here knows stands in the tree; only its content cannot be read."""
    talk = Talk(store)
    talk.step(user("a"))
    with (talk.writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"entry","id":"e2","parent":"e1","type":"dream","seq":1}\n')
    tree = talk.loaded()
    assert [node.id for node in tree.path()] == ["e1", "e2"]
    assert [found.id for found in tree.messages()] == ["e1"]
