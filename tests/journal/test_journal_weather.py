"""Bad weather for a journal as it begins: no room, a folder that is not text, others who look at the same moment."""

import os
import resource
import threading
from contextlib import contextmanager

import pytest

from sightline import locks
from sightline.exceptions import OutsideFailure
from sightline.journal import JobRecord, JournalHeader, JournalWriter, Store, prune


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@contextmanager
def files_at_most(size):
    """As on a disk that is nearly full: what goes beyond is written in part, or not at all."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_session_there_is_no_room_for_leaves_nothing_behind(store):
    """It is said what to do, and no empty session is found later."""
    with files_at_most(10), pytest.raises(OutsideFailure) as failure:
        store.create()
    assert "SIGHTLINE_HOME" in failure.value.hint
    assert store.sessions() == []


def test_a_folder_whose_name_is_not_text_can_have_a_session(store):
    """What cannot be said of it is replaced; the session is as good as any."""
    writer = store.create(cwd=os.fsdecode(b"/caf\xe9"))
    assert store.read(writer.folder.name).header.cwd == "/caf\ufffd"
    writer.close()


def test_half_a_line_in_the_index_does_not_cost_the_next(store, tmp_path):
    """The disk was full in the middle of a line: the job after that is listed all the same."""
    store.index.add(JobRecord(id="aaaaaa-1", session="aaaaaa"))
    with files_at_most((tmp_path / "jobs.jsonl").stat().st_size + 10):
        store.index.add(JobRecord(id="aaaaaa-2", session="aaaaaa"))
    store.index.add(JobRecord(id="aaaaaa-3", session="aaaaaa"))
    assert list(store.index.jobs()) == ["aaaaaa-1", "aaaaaa-3"]


def test_pruning_leaves_a_session_alone_that_is_just_beginning(store):
    """Its folder is there before its journal; it is not old because nothing in it is new."""
    beginning = store.folder("abcdef")
    beginning.mkdir(parents=True)
    assert prune(store).sessions == 0
    os.utime(beginning, (1, 1))
    assert prune(store).sessions == 1


def test_being_asked_whether_it_runs_does_not_keep_a_session_from_beginning(tmp_path):
    """Who asks holds the lock for a moment; a new session waits that moment out."""
    looking = os.open(tmp_path / "journal.jsonl", os.O_RDONLY | os.O_CREAT, 0o600)
    assert locks.acquire(looking, "shared")
    begun = []
    beginning = threading.Thread(target=lambda: begun.append(JournalWriter(tmp_path, JournalHeader("abcdef"))))
    beginning.start()
    os.close(looking)
    beginning.join(20)
    assert len(begun) == 1
    begun[0].close()
