"""The SQLite file behind the list of conversations: opened, made anew when it is of no use, shared by many processes.

Rules:

- A cache: all of it comes out of the journals. One that is missing, damaged or of another version is made again, and
  where none can be stored (a disk that is full or may not be written) one in memory does for this process.
- Many processes use it at once (WAL): a reader never waits, a writer waits a moment for another.
- Only the owner may read it (0600).
- A connection is used by one thread at a time, and never by a process that was forked off after it was made.
"""

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from sightline.paths import private_folder

T = TypeVar("T")

_VERSION = 4
_SECONDS_TO_WAIT = 3.0

_SCHEMA = """
CREATE TABLE sessions (
    id TEXT PRIMARY KEY, cwd TEXT, title TEXT, created REAL, changed REAL, messages INTEGER, provider TEXT, model TEXT,
    first_prompt TEXT, last_text TEXT, parent_session TEXT,
    read_to INTEGER, size INTEGER, mtime INTEGER
) WITHOUT ROWID;
CREATE INDEX by_change ON sessions (changed) WHERE messages > 0;
CREATE TABLE places (rowid INTEGER PRIMARY KEY, session TEXT, entry TEXT);
CREATE INDEX by_session ON places (session);
CREATE VIRTUAL TABLE words USING fts5 (title, text, tokenize = "unicode61 remove_diacritics 2");
"""


class CatalogueFile:
    """One connection, made when it is first needed."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection: sqlite3.Connection | None = None
        self._process = 0  # whose it is
        self._inherited: sqlite3.Connection | None = None  # of the process we were forked off: left alone
        self._taken = threading.Lock()
        self.remade = 0  # how often it was damaged, so that all that was known is to be read again

    def use(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """Ask it something; a file that turns out to be damaged is made anew, once."""
        with self._taken:
            try:
                return ask(self._connected())
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    raise
                self.close()
                self._delete()
                self.remade += 1
            return ask(self._connected())

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> sqlite3.Connection:
        if self._process != os.getpid():
            self._inherited, self._connection = self._connection, None
        if self._connection is None:
            self._connection = self._opened() or self._made(":memory:")
            self._process = os.getpid()
        return self._connection

    def _opened(self) -> sqlite3.Connection | None:
        for _ in range(2):
            try:
                private_folder(self._path.parent)
                os.close(os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
                return self._made(str(self._path))
            except sqlite3.DatabaseError as error:
                if not _is_damage(error):
                    return None
                self._delete()
            except OSError:
                return None
        return None

    def _made(self, name: str) -> sqlite3.Connection:
        # Autocommit: transactions are begun where they are meant.
        connection = sqlite3.connect(name, _SECONDS_TO_WAIT, isolation_level=None, check_same_thread=False)
        try:
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version not in (0, _VERSION):
                raise sqlite3.DatabaseError("made by another version")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = OFF")  # what a power cut costs is made again
            if version == 0:
                self._fill(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _fill(self, connection: sqlite3.Connection) -> None:
        connection.execute("BEGIN IMMEDIATE")
        try:
            if connection.execute("PRAGMA user_version").fetchone()[0] == 0:  # no other process was quicker
                for statement in filter(str.strip, _SCHEMA.split(";")):
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        finally:
            connection.execute("COMMIT")

    def _delete(self) -> None:
        for suffix in ("", "-wal", "-shm"):
            try:
                os.unlink(f"{self._path}{suffix}")
            except OSError:
                pass


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether a new file would help. A busy, full or locked one is not damaged."""
    if type(error) is not sqlite3.OperationalError:
        return True
    message = str(error)  # SQLite's
    return any(sign in message for sign in ("malformed", "no such", "disk I/O", "decode to UTF-8"))
