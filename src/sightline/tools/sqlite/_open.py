"""Opening an untrusted database.

- The library opens no file: it works on the database's bytes, in memory (see `_file`). Whatever it makes of them, or is
  made to do by them, nothing on the disk is touched but the database, and that only by a change that went well.
- For reading, an authorizer refuses every action but reading: no ATTACH, no PRAGMA that
  sets something, no extension, no function that touches files. For writing it also lets rows be inserted, updated and
  deleted, triggers included, and nothing else. Functions in the schema that could do harm are refused by the library
  itself (trusted_schema).
- A statement that runs for longer than five seconds is stopped. A value is at most 16 MiB, and
  512 KiB in a statement that uses instr or replace: one call of these could take an hour.
- A database that another process is writing is waited for, three seconds.
"""

import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sightline.handles import entry
from sightline.tools._tool import ToolError
from sightline.tools.files._file_lock import locked
from sightline.tools.sqlite._file import LARGEST, DatabaseFile

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
# These only read; full-text tables use the first two themselves.
_READING_PRAGMAS = frozenset(
    {"data_version", "page_size", "table_info", "table_xinfo", "table_list"}
    | {"index_list", "index_info", "index_xinfo", "foreign_key_list"}
)
_HARMFUL = frozenset({"load_extension", "fts3_tokenizer", "readfile", "writefile", "edit", "zipfile", "sqlite_log"})
# One call can take minutes, and nothing stops it then: the database's maker may not use them in views and triggers.
_ENDLESS = frozenset({"printf", "format"})
# One call takes the square of its arguments' length and cannot be stopped: values are shorter where these are used.
_SQUARE = frozenset({"instr", "replace"})
_SQUARE_BYTES = 512 * 1024


class StatementDeadline:
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
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection under the rules above. Whatever the library raises in here becomes a ToolError."""
    with _explained(path), entry(path, "read") as file:
        with closing(DatabaseFile(file, writing=False)) as database:
            image = database.image()
        with _loaded(image, file.name) as connection:
            del image
            _restrict(connection, writing=False)
            yield connection


@contextmanager
def changing(path: Path) -> Iterator[sqlite3.Connection]:
    """The same, for changing rows: what they are at the end of the block is in the file then."""
    with (
        _explained(path),
        entry(path, "write") as file,
        locked(file),
        closing(DatabaseFile(file, writing=True)) as database,
    ):
        database.refuse_log()
        stamp, image = database.stamp(), database.image()
        with _loaded(image, file.name) as connection:
            del image
            _restrict(connection, writing=True)
            yield connection
            connection.set_authorizer(None)
            after = bytearray(connection.serialize()) if connection.total_changes else None
        if after is not None:
            database.commit(after, stamp)


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except (sqlite3.Error, sqlite3.Warning, OSError, UnicodeError, OverflowError, MemoryError) as problem:
        raise ToolError(explain(problem, path)) from problem


@contextmanager
def _loaded(image: bytearray, name: str) -> Iterator[sqlite3.Connection]:
    if not hasattr(sqlite3.Connection, "deserialize"):
        raise ToolError(f"{name} cannot be opened: this Python's SQLite has no deserialize. Use a command.")
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.deserialize(image)
        del image  # the library has its own
        yield connection


def _restrict(connection: sqlite3.Connection, *, writing: bool) -> None:
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, VALUE_BYTES)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, 1000)
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA journal_mode = MEMORY")
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    if writing:
        page = connection.execute("PRAGMA page_size").fetchone()[0]
        connection.execute(f"PRAGMA max_page_count = {LARGEST // page}")
    else:
        connection.execute("PRAGMA query_only = ON")
    StatementDeadline(connection)
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
            return sqlite3.SQLITE_OK  # required when a virtual table is opened; really changing it is refused elsewhere
        if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() in _READING_PRAGMAS:
            return sqlite3.SQLITE_OK
        return sqlite3.SQLITE_DENY

    connection.set_authorizer(judge)


def _judge_function(name: str, *, in_schema: bool) -> int:
    refused = name in _HARMFUL or (in_schema and name in _ENDLESS)
    return sqlite3.SQLITE_DENY if refused else sqlite3.SQLITE_OK


def explain(problem: BaseException, path: Path) -> str:
    """What went wrong with a database, and what to do."""
    reason = (isinstance(problem, OSError) and problem.strerror) or str(problem) or type(problem).__name__
    for sign, message in _EXPLAINED.items():
        if sign in reason:
            return message.format(name=path.name, reason=reason)
    return (
        f"SQLite could not do this with {path.name}: {reason}. Check the statement, or read {path.name} for its tables."
    )


_REFUSED = "Refused: here {name} can only be read, and its rows written."
_SCHEMA = "Read {name}:TABLE to see its columns, or {name} for its tables."
_UNBOUND = "The query has parameters (?, :name), and nothing is bound to them. Write the values into it."
_EXPLAINED = {
    "interrupted": f"The query on {{name}} took more than {SECONDS:.0f} seconds and was stopped. Ask for less.",
    "not authorized": _REFUSED,
    "authorization denied": _REFUSED,
    "is prohibited": _REFUSED + " {reason}.",
    "too big": f"A value in {{name}} is larger than {VALUE_BYTES // 2**20} MiB ({_SQUARE_BYTES // 2**10} KiB beside "
    "instr or replace). Choose other columns with ?q=SELECT …",
    "no such column": "{name} has {reason}. " + _SCHEMA,
    "no such table": "{name} has {reason}. " + _SCHEMA,
    "no such function": "SQLite has {reason} here ({name}). Use another one, or compute it from the rows.",
    "syntax error": "The SQL for {name} has a mistake: {reason}. Correct it there.",
    "incomplete input": "The SQL for {name} ends too early: {reason}. Complete it.",
    "unrecognized token": "The SQL for {name} has a mistake: {reason}. Correct it there.",
    "constraint failed": "The row was not written to {name}: {reason}. Give values that the table allows.",
    "attempt to write a readonly": "{name} is read-only. Change its permissions, or write to a copy.",
    "unable to open": "{name} could not be opened: {reason}. Check that it exists and can be read.",
    "malformed": "{name} is damaged: {reason}.",
    "not a database": "{name} is not a SQLite database, or it is encrypted.",
    "one statement": "Only one SQL statement at a time.",
    "number of bindings": _UNBOUND,
    "did not supply a value": _UNBOUND,
    "is full": f"{{name}} would become larger than {LARGEST // 2**20} MiB. Use a command.",
}
