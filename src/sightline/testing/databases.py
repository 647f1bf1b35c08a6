"""SQLite databases that no program makes on purpose."""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path

_END = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


def interrupted(folder: Path, super_journal: Path) -> tuple[bytes, bytes]:
    """A database in the middle of a change, as a killed writer leaves it, and its journal, which names a file: SQLite
    opens that one when it undoes the change, and deletes it. It has a table `notes`; `folder` is for its making."""
    made, named = folder / "interrupted.db", bytes(super_journal)
    with closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO notes (text) VALUES (?)", [("x" * 200,)] * 2000)
        connection.execute("COMMIT")
        connection.execute("PRAGMA cache_size = 1")  # so that changed pages are written before the end
        connection.execute("BEGIN")
        connection.execute("UPDATE notes SET text = text || 'y'")
        data, journal = made.read_bytes(), Path(f"{made}-journal").read_bytes()
    made.unlink()
    page = struct.unpack(">I", journal[24:28])[0]
    mark = struct.pack(">I", 0x40000000 // page + 1)  # a page that no database has
    return data, journal + mark + named + struct.pack(">II", len(named), sum(named)) + _END
