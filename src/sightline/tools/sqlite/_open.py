"""Opening a database nobody vouches for.

- For reading it is opened read-only, and an authorizer refuses every action but reading: no ATTACH, no PRAGMA that
  sets something, no extension, no function that touches files. For writing it also lets rows be inserted, updated and
  deleted, triggers included, and nothing else. Functions in the schema that could do harm are refused by the library
  itself (trusted_schema).
- A statement that runs for longer than five seconds is stopped. A value is at most 16 MiB, and
  512 KiB in a statement that uses instr or replace: one call of these could take an hour.
- A database that another process is writing is waited for, three seconds.
- Reading leaves no files behind: one in WAL mode that nobody has open is read as it lies there.
- The library opens files by their names alone. The database is opened here first (see `sightline.handles`), and then it
  is looked up which file the library opened: another one is not read and not written. Its journal and log beside it
  must not be links.
"""

import os
import sqlite3
import stat
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from sightline.handles import Entry, NotRegular, Swapped, entry
from sightline.tools._tool import ToolError

BUSY_MS = 3000
SECONDS = 5.0
VALUE_BYTES = 16 * 1024 * 1024
_STEPS = 2000  # of the database's machine between two looks at the clock

_READING = frozenset({sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE})
_WRITING = frozenset(
    {
        sqlite3.SQLITE_INSERT,
        sqlite3.SQLITE_UPDATE,
        sqlite3.SQLITE_DELETE,
        sqlite3.SQLITE_TRANSACTION,
        sqlite3.SQLITE_SAVEPOINT,
    }
)
# These only tell; full-text tables ask the first two themselves.
_TELLING = frozenset(
    {"data_version", "page_size", "table_info", "table_xinfo", "table_list"}
    | {"index_list", "index_info", "index_xinfo", "foreign_key_list"}
)
_HARMFUL = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "zipfile", "sqlite_log"})
# One call can take minutes, and nothing stops it then: the database's maker may not use them in views and triggers.
_ENDLESS = frozenset({"printf", "format"})
# One call takes the square of its arguments' length and cannot be stopped: values are shorter where these are used.
_SQUARE = frozenset({"instr", "replace"})
_SQUARE_BYTES = 512 * 1024
_WAL = 2
_ONE_AT_A_TIME = threading.Lock()  # of our own openings


class Clock:
    """Stops a connection's statement once its time is over."""

    def __init__(self, connection: sqlite3.Connection, seconds: float | None = None) -> None:
        self.seconds = SECONDS if seconds is None else seconds
        self.renew()
        connection.set_progress_handler(self.is_over, _STEPS)

    def renew(self) -> None:
        self._deadline = time.monotonic() + self.seconds

    def is_over(self) -> bool:
        return time.monotonic() > self._deadline


@contextmanager
def opened(path: Path, *, writing: bool = False) -> Iterator[sqlite3.Connection]:
    """A connection under the rules above. Whatever the library raises in here becomes a ToolError."""
    connection: sqlite3.Connection | None = None
    try:
        with entry(path, "write" if writing else "read") as file:
            _refuse_links_beside(file)
            judged = file.open_regular()
            try:
                connection = _connected(file, judged, writing=writing)
            finally:
                os.close(judged)
        _restrict(connection, writing)
        yield connection
    except (sqlite3.Error, sqlite3.Warning, OSError, UnicodeError, OverflowError, MemoryError) as problem:
        raise ToolError(explain(problem, path)) from problem
    finally:
        if connection is not None:
            connection.close()


def _refuse_links_beside(file: Entry) -> None:
    for ending in ("-journal", "-wal", "-shm"):
        beside = Entry(file.folder, f"{file.name}{ending}", file.path.with_name(f"{file.name}{ending}"))
        status = beside.status()
        if status is not None and not stat.S_ISREG(status.st_mode):
            raise NotRegular(str(beside.path), status.st_mode)


def _connected(file: Entry, judged: int, *, writing: bool) -> sqlite3.Connection:
    with _ONE_AT_A_TIME:
        before = _opened_files()
        uri = _uri(file, judged, writing=writing)
        connection = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=BUSY_MS / 1000)
        if not _has_opened(judged, _opened_files() - before, file):
            connection.close()
            raise Swapped(str(file.path))
    return connection


def _opened_files() -> set[tuple[int, int, int]]:
    """The descriptors of this process, each with the file it is of; none where that cannot be told."""
    found = set()
    try:
        names = os.listdir("/proc/self/fd")
    except OSError:
        return set()
    for name in names:
        try:
            status = os.fstat(int(name))
        except OSError:  # closed meanwhile: that of the listing itself, or another thread's
            continue
        found.add((int(name), status.st_dev, status.st_ino))
    return found


def _has_opened(judged: int, new: set[tuple[int, int, int]], file: Entry) -> bool:
    wanted = os.fstat(judged)
    if not os.path.isdir("/proc/self/fd"):
        status = file.status()
        return status is not None and os.path.samestat(status, wanted)
    return any((device, number) == (wanted.st_dev, wanted.st_ino) for _, device, number in new)


def _uri(file: Entry, judged: int, *, writing: bool) -> str:
    if writing:
        return f"{file.path.as_uri()}?mode=rw"
    return f"{file.path.as_uri()}?mode=ro" + ("&immutable=1" if _is_idle_wal(file, judged) else "")


def _is_idle_wal(file: Entry, judged: int) -> bool:
    """Nobody has it open: then it has no log beside it, and cannot change without getting one."""
    head = os.pread(judged, 20, 0)
    if len(head) < 20 or head[19] != _WAL:
        return False
    return Entry(file.folder, f"{file.name}-wal", file.path).status() is None


def _restrict(connection: sqlite3.Connection, writing: bool) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.execute("PRAGMA mmap_size = 0")  # a file cut short by another process would end ours
    if not writing:
        connection.execute("PRAGMA query_only = ON")
    Clock(connection)
    allowed = _READING | _WRITING if writing else _READING

    def judge(action: int, first: str | None, second: str | None, database: str | None, trigger: str | None) -> int:
        if action in allowed:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            name = (second or "").lower()
            if name in _SQUARE:
                connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _SQUARE_BYTES)
            return _judge_function(name, in_schema=trigger is not None)
        if action == sqlite3.SQLITE_UPDATE and first == "sqlite_master":
            return sqlite3.SQLITE_OK  # asked when a virtual table is opened; really changing it is refused elsewhere
        if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _TELLING:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(judge)


def _judge_function(name: str, *, in_schema: bool) -> int:
    refused = name in _HARMFUL or (in_schema and name in _ENDLESS)
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def explain(problem: BaseException, path: Path) -> str:
    """What went wrong with a database, and what to do."""
    said = str(problem) or type(problem).__name__
    for sign, message in _EXPLAINED.items():
        if sign in said:
            return message.format(name=path.name, said=said)
    return f"SQLite: {said} ({path.name})."


_REFUSED = "Refused: here {name} can only be read, and its rows written."
_UNBOUND = "The query has parameters (?, :name), and nothing is bound to them. Write the values into it."
_EXPLAINED = {
    "interrupted": f"The query on {{name}} took more than {SECONDS:.0f} seconds and was stopped. Ask for less.",
    "not authorized": _REFUSED,
    "authorization denied": _REFUSED,
    "is prohibited": _REFUSED + " {said}.",
    "locked": f"{{name}} is locked by another process (waited {BUSY_MS} ms). Try again later.",
    "too big": f"A value in {{name}} is larger than {VALUE_BYTES // 2**20} MiB ({_SQUARE_BYTES // 2**10} KiB beside "
    "instr or replace). Choose other columns with ?q=SELECT …",
    "malformed": "{name} is damaged: {said}.",
    "not a database": "{name} is not a SQLite database, or it is encrypted.",
    "one statement": "Only one SQL statement at a time.",
    "number of bindings": _UNBOUND,
    "did not supply a value": _UNBOUND,
    "readonly database": "{name} cannot be written, or an interrupted change must be undone first: {said}.",
}
