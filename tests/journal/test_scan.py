"""Finding entries without reading the events between them: the same whatever falls on the edge of a chunk."""

import os

import pytest

from sightline.events import Text
from sightline.events.stamping import stamp
from sightline.journal import Entry, Store, _scan
from sightline.journal._scan import end_of_lines, entry_lines, has_entries, last_seq
from tests.journal.conversations import user


@pytest.fixture
def journal(tmp_path):
    """Events that look like entries inside, entries side by side, an entry last, and half a line after it."""
    writer = Store(tmp_path).create()
    text = stamp(Text('\n{"kind":"entry","id":"fake"}\n'), 1, 1.0)
    entries = [Entry(id=f"e{number}", seq=number // 3 + 1, message=user("x" * number * 7)) for number in range(1, 6)]
    writer.append([text, entries[0], entries[1], stamp(Text("y"), 2, 1.0), *entries[2:]])
    writer.close()
    path = writer.folder / "journal.jsonl"
    with path.open("ab") as file:
        file.write(b'{"kind":"entry","id":"torn')
    return path


@pytest.fixture
def fd(journal):
    opened = os.open(journal, os.O_RDONLY)
    yield opened
    os.close(opened)


def wanted(journal, start=0):
    """Line by line, the slow way."""
    position, found = 0, []
    for line in journal.read_bytes().splitlines(keepends=True):
        if position >= start and line.startswith(b'{"kind":"entry"') and line.endswith(b"\n"):
            found.append((position, line[:-1]))
        position += len(line)
    return found


@pytest.mark.parametrize("size", [*range(1, 60), 200, 1000])
def test_chunks_of_any_size_find_the_same(journal, fd, monkeypatch, size):
    """No entry is missed, torn or found twice where a chunk ends."""
    monkeypatch.setattr(_scan, "_CHUNK", size)
    monkeypatch.setattr(_scan, "_BACK", size)
    end = end_of_lines(fd)
    assert end == journal.read_bytes().rindex(b"\n") + 1
    assert list(entry_lines(fd, 0, end)) == wanted(journal)
    assert len(wanted(journal)) == 5


def test_reading_on_from_any_line(journal, fd):
    """The index reads on from where it was."""
    end = end_of_lines(fd)
    position = 0
    for line in journal.read_bytes()[:end].splitlines(keepends=True):
        assert list(entry_lines(fd, position, end)) == wanted(journal, position)
        position += len(line)
    assert list(entry_lines(fd, end, end)) == []


@pytest.mark.parametrize("back", [1, 50, 100_000])
def test_the_number_of_the_last_event(fd, monkeypatch, back):
    """The highest of the last lines, however far back there is one that says it."""
    monkeypatch.setattr(_scan, "_BACK", back)
    assert last_seq(fd, end_of_lines(fd)) == 2


def test_a_line_longer_than_any_entry_is_passed_over(tmp_path, monkeypatch):
    """Damage does not make the reader hold the rest of the file."""
    monkeypatch.setattr(_scan, "_CHUNK", 64)
    monkeypatch.setattr(_scan, "ENTRY_CAP", 100)
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{}\n{"kind":"entry","id":"' + b"x" * 1000 + b'"}\n{"kind":"entry","id":"e2"}\n')
    with path.open("rb") as file:
        found = [line for _, line in entry_lines(file.fileno(), 0, path.stat().st_size)]
    assert found == [b'{"kind":"entry","id":"e2"}']


def test_a_conversation_is_told_from_a_command(tmp_path, journal):
    """By whether there is an entry; what is not there is neither."""
    assert has_entries(journal.parent)
    assert not has_entries(tmp_path / "nowhere")
    (tmp_path / "journal.jsonl").write_bytes(b'{"kind":"session","id":"abcdef"}\n{"kind":"text","text":"x"}\n')
    assert not has_entries(tmp_path)
