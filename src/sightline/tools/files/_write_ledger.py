"""Which agent wrote a file, and when: a record of the last writes, where all sessions of a user find it.

Rules:

- One small file for each file that an agent wrote, in our own folder, where no command can reach it, named after the
  real path and the file system it is on.
- A write is recorded before it is made, while the file is locked: a reader of the new content finds it recorded. One
  that fails is taken out again. One that a kill prevented is the record of a content that is nowhere.
- A record costs a write nothing: with a full disk or an unreadable record only the name of the writer is missing.
- What is in a record is compared and displayed, nothing is decided on it alone.
- Who writes is a context variable and not an argument, as in `sightline.handles`: whatever a call replaces, in its task
  or in a thread of asyncio's, is recorded as its own. Without one, as in a program that uses tools by itself, nothing
  is recorded.
- Records are removed when a session starts: those that are a day old, and all but the newest.
"""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path

import msgspec

from sightline.handles import real_path
from sightline.paths import data_folder, private_folder

MAX_WRITES = 8  # of one file
MAX_FILES = 2000
MAX_AGE = 24 * 60 * 60  # seconds
_MAX_BYTES = 64 * 1024  # of a record
_NEW = ".new"


class CallWriter(msgspec.Struct, frozen=True):
    """The call that writes: of which session and agent, and when that agent began to work."""

    session: str
    agent: str  # its path; empty: the session's own
    call: str
    began: float = 0.0


class RecordedWrite(msgspec.Struct, frozen=True):
    session: str
    agent: str
    call: str
    at: float
    before: str  # digests of the content; empty: there was none, or it is not known
    after: str

    def is_by(self, writer: CallWriter) -> bool:
        return (self.session, self.agent) == (writer.session, writer.agent)


_writer: ContextVar[CallWriter | None] = ContextVar("writer", default=None)


@contextmanager
def writing_as(writer: CallWriter) -> Iterator[None]:
    """Until the end of the block, what is written is recorded as written by this call."""
    token = _writer.set(writer)
    try:
        yield
    finally:
        _writer.reset(token)


def current_writer() -> CallWriter | None:
    return _writer.get()


def content_digest(data: bytes) -> str:
    from hashlib import blake2b

    return blake2b(data, digest_size=16).hexdigest()


def writes_of(path: Path) -> list[RecordedWrite]:
    """The last writes of a file that are recorded, the oldest first."""
    try:
        return _read(_record_of(real_path(path)))
    except OSError:
        return []


@contextmanager
def recorded(path: Path, before: bytes | None, after: bytes) -> Iterator[None]:
    """Around the replacement of a file that is locked, by its real path. `before`: its content, where it is known."""
    writer = _writer.get()
    if writer is None:
        yield
        return
    was = "" if before is None else content_digest(before)
    write = RecordedWrite(writer.session, writer.agent, writer.call, time.time(), was, content_digest(after))
    record = _record_of(str(path))
    known: list[RecordedWrite] = []
    with suppress(OSError):
        known = _read(record)
    _store(record, [*known, write][-MAX_WRITES:])
    try:
        yield
    except BaseException:
        _store(record, known)
        raise


def remove_old_writes() -> None:
    """Never fails: what cannot be removed stays."""
    with suppress(OSError):
        with os.scandir(_folder()) as found:
            records = sorted(((entry.stat().st_mtime, entry.path) for entry in found), reverse=True)
        oldest = time.time() - MAX_AGE
        for number, (changed, record) in enumerate(records):
            if number >= MAX_FILES or changed < oldest:
                with suppress(OSError):
                    os.unlink(record)


def _folder() -> Path:
    return data_folder() / "writes"


def _record_of(real: str) -> str:
    """With the file system it is on: at the same path, a working copy has another file."""
    try:
        device = os.stat(os.path.dirname(real)).st_dev
    except OSError:
        device = 0
    return os.path.join(_folder(), f"{content_digest(b'%d:%s' % (device, os.fsencode(real)))}.json")


def _read(record: str) -> list[RecordedWrite]:
    with open(record, "rb") as file:
        data = file.read(_MAX_BYTES)
    try:
        return msgspec.json.decode(data, type=list[RecordedWrite])
    except msgspec.DecodeError:
        return []


def _store(record: str, writes: list[RecordedWrite]) -> None:
    with suppress(OSError):
        folder = _folder()
        if not folder.is_dir():
            private_folder(folder)
        try:
            descriptor = os.open(record + _NEW, os.O_CREAT | os.O_TRUNC | os.O_WRONLY | os.O_CLOEXEC, 0o600)
            with open(descriptor, "wb") as file:
                file.write(msgspec.json.encode(writes))
            os.replace(record + _NEW, record)
        except OSError:
            with suppress(OSError):
                os.unlink(record + _NEW)
