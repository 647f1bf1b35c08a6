"""Databases for tests."""

import sqlite3
import struct
from contextlib import closing
from pathlib import Path


def make_database(path: Path, *statements: str) -> Path:
    with closing(sqlite3.connect(path)) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()
    return path


def make_users(path: Path) -> Path:
    """Three people and a few tables of other forms."""
    return make_database(
        path,
        "CREATE TABLE users (id INTEGER PRIMARY KEY, name TEXT NOT NULL, age INTEGER, active, photo BLOB)",
        "INSERT INTO users VALUES (1, 'Ada', 36, 1, x'00ff10'), (2, 'Grace', 85, 0, NULL)",
        "INSERT INTO users VALUES (42, 'Linus', NULL, 1, NULL)",
        "CREATE TABLE codes (code TEXT PRIMARY KEY, label TEXT)",
        "INSERT INTO codes VALUES ('de', 'German'), ('12', 'twelve'), ('a:b', 'colon')",
        "CREATE TABLE plain (word TEXT)",
        "INSERT INTO plain VALUES ('first'), ('second')",
        "CREATE TABLE pair (a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b))",
        "INSERT INTO pair VALUES (1, 2, 'one-two')",
        "CREATE TABLE tight (a INTEGER, b INTEGER, c TEXT, PRIMARY KEY (a, b)) WITHOUT ROWID",
        "CREATE TABLE single (k TEXT PRIMARY KEY, v TEXT) WITHOUT ROWID",
        "INSERT INTO single VALUES ('x', 'ex')",
        'CREATE TABLE "it\'s ""odd""" ("a b" TEXT, "select" INTEGER, "x]y" TEXT)',
        'INSERT INTO "it\'s ""odd""" VALUES (\'v\', 7, \'w\')',
        "CREATE VIEW adults AS SELECT * FROM users WHERE age > 18",
    )


def rows(path: Path, sql: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(sql).fetchall()


def make_interrupted(path: Path, super_journal: Path) -> Path:
    """A database in the middle of a change, as a killed writer leaves it, whose journal names another file: SQLite
    deletes that one when it has undone the change."""
    made, victim = path.with_name("made.db"), bytes(super_journal)
    with closing(sqlite3.connect(made, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)")
        connection.execute("BEGIN")
        connection.executemany("INSERT INTO notes (text) VALUES (?)", [("x" * 200,)] * 2000)
        connection.execute("COMMIT")
        connection.execute("PRAGMA cache_size = 1")
        connection.execute("BEGIN")
        connection.execute("UPDATE notes SET text = text || 'y'")
        path.write_bytes(made.read_bytes())
        journal = Path(f"{made}-journal").read_bytes()
    made.unlink()
    page = struct.unpack(">I", journal[24:28])[0]
    end = struct.pack(">I", 0x40000000 // page + 1) + victim + struct.pack(">II", len(victim), sum(victim))
    Path(f"{path}-journal").write_bytes(journal + end + b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7")
    return path
