"""Databases for tests."""

import sqlite3
from contextlib import closing
from pathlib import Path

from sightline.testing.databases import interrupted


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
    """A database and the journal of a change that was not finished."""
    data, journal = interrupted(path.parent, super_journal)
    path.write_bytes(data)
    Path(f"{path}-journal").write_bytes(journal)
    return path
