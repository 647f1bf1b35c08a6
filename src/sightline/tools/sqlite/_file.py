"""A database as a file that is open: its bytes to read and change, under the locks that SQLite itself would take.

The library opens files by their names alone, and more of them than the one it was given: a journal or log beside it,
and whatever file that journal names. So it is given none. Here the file is opened where it was judged (see
`sightline.handles`), read whole into memory, and what the library makes of that is written back in place.

Rules:

- The locks are SQLite's: readers have the shared one while they read, a writer has all of them from before it reads
  until what it changed is on the disk. No change of another process is lost or seen by half.
- Changed pages are written in place, so that programs that have the database open see them. Until all of them are on
  the disk, their old content is in a rollback journal beside it: who opens the database after a crash undoes what is
  half done, as with any other writer.
- The journal of an interrupted change is not played back, because it names files to delete: that is for a command in
  the sandbox. Of a log (WAL) the committed pages are read; to write, there must be none.
- A file with a second name is not written: the other may be anywhere, and SQLite could not find the journal by it.
"""

import errno
import os
import stat
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager

from sightline import locks
from sightline.handles import FolderEntry, NotRegular, Swapped, read_bytes
from sightline.tools._tool import ToolError
from sightline.tools.sqlite._log import HEADER as LOG_HEADER
from sightline.tools.sqlite._log import bring_in

LARGEST = 256 * 1024 * 1024
LARGEST_LOG = 64 * 1024 * 1024
BUSY_MS = 3000
_BESIDE = ("-journal", "-wal", "-shm")
_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"
_SECTOR = 512
# Bytes that are locked and never written: SQLite's file format has the page they are in left out.
_PENDING, _RESERVED, _SHARED, _SHARED_SIZE = 0x40000000, 0x40000001, 0x40000002, 510
_ROLLBACK, _WAL = 1, 2
_ATTEMPTS = 5


class DatabaseFile:
    """One file that is open, with the locks to read it or to write it."""

    def __init__(self, file: FolderEntry, *, writing: bool) -> None:
        self._file = file
        _refuse_specials(file)
        os.close(file.open_regular())  # NotRegular for what must not even be opened for writing
        self._descriptor = file.open(os.O_RDWR if writing else os.O_RDONLY)
        try:
            status = os.fstat(self._descriptor)
            if not stat.S_ISREG(status.st_mode):
                raise NotRegular(str(file.path), status.st_mode)
            if writing and status.st_nlink > 1:
                raise ToolError(f"{file.name} has several names (hard links). Change it with a command.")
            self._lock(writing=writing)
            self._refuse_replaced()
            self._refuse_interrupted()
        except BaseException:
            os.close(self._descriptor)
            raise

    def close(self) -> None:
        os.close(self._descriptor)

    def image(self) -> bytearray:
        """What the database holds, as a file in rollback mode."""
        for _ in range(_ATTEMPTS):
            before = self._log(LOG_HEADER)
            image = bytearray(self._content())
            log = self._log(LARGEST_LOG + 1)
            if log[:LOG_HEADER] == before:
                break  # else the log was begun anew, and pages of the old one came into the file meanwhile
        else:
            raise _locked(self._file)
        if len(log) > LARGEST_LOG:
            raise ToolError(f"{self._file.name}-wal is larger than {LARGEST_LOG // 2**20} MiB. Use a command.")
        try:
            bring_in(image, log, LARGEST)
        except OverflowError:
            raise _too_large(self._file) from None
        self._versions = bytes(image[18:20])
        if self._versions == bytes((_WAL, _WAL)):
            image[18:20] = bytes((_ROLLBACK, _ROLLBACK))
        return image

    def refuse_log(self) -> None:
        """For a writer, whose locks prove that no process has the database open."""
        if self._log(1):
            name = self._file.name
            raise ToolError(
                f"{name}-wal holds changes that are not in {name} yet. Bring them in with a command, such as "
                f"sqlite3 {name} 'PRAGMA wal_checkpoint(TRUNCATE)', and make the call again."
            )

    def stamp(self) -> tuple[int, int, int]:
        """Differs once another program has written the file."""
        status = os.fstat(self._descriptor)
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns

    def commit(self, after: bytearray, stamp: tuple[int, int, int]) -> None:
        """Make this the content, all of it or nothing. `stamp`: of the file when it was read."""
        after[18:20] = self._versions
        size, page = stamp[0], _page_size(after)
        before = range(_pages(size, page))
        changed = [number for number in before if self._page(number, page) != _part(after, number, page)]
        grown = range(len(before), _pages(len(after), page))
        if not changed and not grown:
            return
        if self.stamp() != stamp:
            raise ToolError(f"{self._file.name} was changed by another program meanwhile. Make the call again.")
        self._refuse_replaced()
        with _Journal(self._file, os.fstat(self._descriptor)) as journal:
            journal.write(page, len(before), {number: self._page(number, page) for number in changed})
            try:
                for number in (*changed, *grown):
                    _write_all(self._descriptor, _part(after, number, page), number * page)
                os.ftruncate(self._descriptor, len(after))
                os.fsync(self._descriptor)
            except BaseException:
                journal.play_back(self._descriptor, size)
                raise

    def _lock(self, *, writing: bool) -> None:
        deadline = time.monotonic() + BUSY_MS / 1000

        def has(kind: locks.Kind, start: int, size: int = 1) -> bool:
            left = deadline - time.monotonic()
            return locks.acquire(self._descriptor, kind, seconds=left, start=start, size=size)

        if writing:
            done = has("exclusive", _RESERVED) and has("exclusive", _PENDING)
            done = done and has("exclusive", _SHARED, _SHARED_SIZE)
        else:  # a writer that waits for readers to end has the first
            done = has("shared", _PENDING) and has("shared", _SHARED, _SHARED_SIZE)
            locks.release(self._descriptor, start=_PENDING, size=1)
        if not done:
            if writing and os.pread(self._descriptor, 20, 0)[19:] == bytes((_WAL,)):
                raise ToolError(f"{self._file.name} is open in another process (WAL mode). Change it with a command.")
            raise _locked(self._file)

    def _refuse_replaced(self) -> None:
        status = self._file.status()
        if status is None or not os.path.samestat(status, os.fstat(self._descriptor)):
            raise Swapped(str(self._file.path))

    def _refuse_interrupted(self) -> None:
        """A journal that begins with zeros, or that a writer still holds, is none of an interruption."""
        if _begins(_beside(self._file, "-journal")) and not locks.is_held(self._descriptor, start=_RESERVED, size=1):
            name = self._file.name
            raise ToolError(
                f"A change of {name} was interrupted and must be undone first, from {name}-journal. "
                f"Recover it with a command, such as sqlite3 {name} .tables, and make the call again."
            )

    def _content(self) -> bytes:
        data = read_bytes(self._descriptor, LARGEST + 1)
        if len(data) > LARGEST:
            raise _too_large(self._file)
        return data

    def _log(self, most: int) -> bytes:
        with _opened(_beside(self._file, "-wal")) as descriptor:
            return b"" if descriptor is None else read_bytes(descriptor, most)

    def _page(self, number: int, size: int) -> bytes:
        """The last may be cut short."""
        return os.pread(self._descriptor, size, number * size)


class _Journal:
    """The rollback journal of one change, in SQLite's format; removed at the end, unless the change could neither be
    made nor undone."""

    def __init__(self, file: FolderEntry, like: os.stat_result) -> None:
        self._entry = _beside(file, "-journal")
        self._like = like
        self._old: dict[int, bytes] = {}
        self._page = 0
        self._is_needed = False

    def __enter__(self) -> "_Journal":
        folder, name = self._entry.folder, self._entry.name
        if self._entry.status() is not None:  # one that is over, and was left for the next change
            os.unlink(name, dir_fd=folder)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._descriptor = self._entry.open(flags, stat.S_IMODE(self._like.st_mode) & 0o666)
        return self

    def __exit__(self, *_: object) -> None:
        status = self._entry.status()
        if status is not None and not self._is_needed and os.path.samestat(status, os.fstat(self._descriptor)):
            os.unlink(self._entry.name, dir_fd=self._entry.folder)
        os.close(self._descriptor)

    def write(self, page: int, pages: int, old: dict[int, bytes]) -> None:
        """The content of these pages, counted from 0, and how many there are in all."""
        self._old, self._page = old, page
        nonce = int.from_bytes(os.urandom(4))
        head = _JOURNAL + struct.pack(">5I", len(old), nonce, pages, _SECTOR, page)
        _write_all(self._descriptor, head.ljust(_SECTOR, b"\0"), 0)
        at = _SECTOR
        for number, data in old.items():
            data = data.ljust(page, b"\0")
            record = struct.pack(">I", number + 1) + data + struct.pack(">I", _checksum(nonce, data))
            _write_all(self._descriptor, record, at)
            at += len(record)
        if os.geteuid() == 0:
            os.fchown(self._descriptor, self._like.st_uid, self._like.st_gid)
        os.fsync(self._descriptor)
        _sync_folder(self._entry.folder)

    def play_back(self, database: int, size: int) -> None:
        """Undo. Where that fails too, it is left for the next program that opens the database."""
        self._is_needed = True
        for number, data in self._old.items():
            _write_all(database, data, number * self._page)
        os.ftruncate(database, size)
        os.fsync(database)
        self._is_needed = False


def _checksum(nonce: int, page: bytes) -> int:
    return (nonce + sum(page[len(page) - 200 : 0 : -200])) & 0xFFFFFFFF


def _page_size(image: bytearray) -> int:
    size = int.from_bytes(image[16:18])
    return 65536 if size == 1 else size


def _pages(size: int, page: int) -> int:
    return -(-size // page)


def _part(image: bytearray, number: int, page: int) -> bytes:
    return bytes(image[number * page : (number + 1) * page])


def _beside(file: FolderEntry, ending: str) -> FolderEntry:
    return FolderEntry(file.folder, f"{file.name}{ending}", file.path.with_name(f"{file.name}{ending}"))


def _refuse_specials(file: FolderEntry) -> None:
    for entry in (_beside(file, ending) for ending in _BESIDE):
        status = entry.status()
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise NotRegular(str(entry.path), status.st_mode)


@contextmanager
def _opened(entry: FolderEntry) -> Iterator[int | None]:
    try:
        descriptor = entry.open_regular()
    except FileNotFoundError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _begins(entry: FolderEntry) -> bool:
    with _opened(entry) as descriptor:
        return descriptor is not None and os.pread(descriptor, 1, 0) not in (b"", b"\0")


def _write_all(descriptor: int, data: bytes, at: int) -> None:
    rest = memoryview(data)
    while rest:
        written = os.pwrite(descriptor, rest, at)
        rest, at = rest[written:], at + written


def _sync_folder(folder: int) -> None:
    try:
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=folder)
    except PermissionError:  # one that may be entered and not listed
        return
    try:
        os.fsync(descriptor)
    except OSError as problem:
        if problem.errno != errno.EINVAL:  # some file systems have nothing to sync
            raise
    finally:
        os.close(descriptor)


def _locked(file: FolderEntry) -> ToolError:
    return ToolError(f"{file.name} is locked by another process (waited {BUSY_MS} ms). Try again later.")


def _too_large(file: FolderEntry) -> ToolError:
    return ToolError(f"{file.name} is larger than {LARGEST // 2**20} MiB. Use a command, such as sqlite3.")
