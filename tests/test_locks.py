"""Locks among processes: what a process that may only read can do to them, and that waiting ends."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sightline import locks
from sightline.exceptions import OutsideFailure
from sightline.journal import JobRecord, Store
from sightline.paths import data_folder
from sightline.settings import _files
from sightline.views.console.input import PromptHistory, _history

# Every lock there is, on files and folders that may only be read.
READER = """
import fcntl, os, struct, sys
for path in sys.argv[1:]:
    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX)
    if not os.path.isdir(path):
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqixxxx", fcntl.F_RDLCK, 0, 0, 0, 0))
print("locked", flush=True)
sys.stdin.read()
"""


@contextmanager
def locked_by_a_reader(*paths: Path) -> Iterator[None]:
    argv = [sys.executable, "-c", READER, *map(str, paths)]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"locked\n"
        yield
    finally:
        process.communicate(b"")


@pytest.fixture
def two(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """One file, open twice."""
    opened = [os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT) for _ in range(2)]
    yield opened[0], opened[1]
    for descriptor in opened:
        os.close(descriptor)


def test_an_exclusive_lock_keeps_others_out(two: tuple[int, int]) -> None:
    """Also in the same process; and it can be given up."""
    one, other = two
    assert locks.acquire(one, "exclusive")
    assert not locks.acquire(other, "shared")
    assert locks.is_held(other)
    assert not locks.is_held(one)
    locks.release(one)
    assert locks.acquire(other, "exclusive")


def test_shared_locks_are_had_together(two: tuple[int, int]) -> None:
    """Nobody then has it exclusively, and asking takes none."""
    one, other = two
    assert locks.acquire(one, "shared")
    assert locks.acquire(other, "shared")
    assert not locks.acquire(one, "exclusive")
    assert not locks.is_held(other)


def test_some_bytes_are_locked_without_the_rest(two: tuple[int, int]) -> None:
    """As databases do."""
    one, other = two
    assert locks.acquire(one, "exclusive", start=100, size=10)
    assert locks.acquire(other, "exclusive", start=110, size=5)
    assert not locks.acquire(other, "shared", start=109, size=1)


def test_waiting_has_an_end(two: tuple[int, int]) -> None:
    """Not before the time that was given."""
    one, other = two
    assert locks.acquire(one, "exclusive")
    began = time.monotonic()
    assert not locks.acquire(other, "exclusive", seconds=0.05)
    assert 0.05 <= time.monotonic() - began < 5


def test_a_reader_does_not_keep_jobs_from_being_noted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is noted at once; only to make the list anew has to wait, and then it stays as it is."""
    monkeypatch.setattr("sightline.journal._index._REWRITE_SECONDS", 0.05)
    store = Store(tmp_path)
    store.index.add(JobRecord(id="a-1", session="a"))
    with locked_by_a_reader(tmp_path / "jobs.jsonl", tmp_path):
        store.index.add(JobRecord(id="a-2", session="a"))
        store.index.rewrite(lambda jobs: [])
    assert list(store.index.jobs()) == ["a-1", "a-2"]
    store.index.rewrite(lambda jobs: [])
    assert store.index.jobs() == {}


def test_a_reader_does_not_make_a_session_run(tmp_path: Path) -> None:
    """Whether one runs is whether its journal is being written."""
    store = Store(tmp_path)
    writer = store.create()
    session = writer.folder.name
    assert store.is_running(session)
    writer.close()
    with locked_by_a_reader(writer.folder / "journal.jsonl"):
        assert not store.is_running(session)


def test_a_reader_does_not_keep_prompts_out_of_the_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file that has grown too long is shortened by the next one who can."""
    monkeypatch.setattr(_history, "LARGEST_FILE", 10)
    history = PromptHistory(tmp_path)
    assert history.add("one", "/") == ""
    with locked_by_a_reader(tmp_path / "prompts.jsonl", tmp_path):
        assert history.add("two", "/") == ""
    assert [entry.text for entry in history.entries()] == ["one", "two"]
    assert history.add("three", "/") == ""
    assert history.entries() == []  # ten bytes hold none


def test_a_locked_folder_does_not_keep_settings_from_being_changed(tmp_path: Path) -> None:
    """Everybody may lock a folder that he can read."""
    with locked_by_a_reader(tmp_path), _files.held(tmp_path / "settings.toml"):
        pass


def test_settings_that_are_being_changed_for_too_long_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the file whose lock it is; and the lock cannot be read, let alone locked by who may only read."""
    monkeypatch.setattr(_files, "SECONDS", 0.05)
    said = r"settings\.lock is locked by another process"
    with (
        _files.held(tmp_path / "settings.toml"),
        pytest.raises(OutsideFailure, match=said),
        _files.held(tmp_path / "other.toml"),
    ):
        pass
    assert (data_folder() / "settings.lock").stat().st_mode & 0o777 == 0o200
