"""Databases and queries made to do damage: refused or stopped, and nothing is changed."""

import hashlib
import os
import random
import sqlite3
import time
from contextlib import closing, suppress
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.sqlite import RowTarget, _open, parse_selection, read, write

from .make import make_database, make_users

READ = "read.md/SQLite databases"
ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return make_users(tmp_path / "users.db")


def shown(path: Path, rest: str) -> str:
    return read(path, parse_selection(rest)).text


@pytest.mark.parametrize(
    "sql",
    [
        pytest.param(sql, id=f"{READ}/q: {sql[:30]}")
        for sql in (
            "DELETE FROM users",
            "INSERT INTO plain VALUES ('x')",
            "UPDATE users SET name = 'x' RETURNING *",
            "DROP TABLE users",
            "CREATE TABLE x (a)",
            "CREATE TEMP TABLE x (a)",
            "CREATE TEMP VIEW x AS SELECT 1",
            "CREATE VIRTUAL TABLE x USING fts5(a)",
            "ALTER TABLE users RENAME TO x",
            "ATTACH 'other.db' AS other",
            "ATTACH ':memory:' AS other",
            "DETACH main",
            "VACUUM",
            "VACUUM INTO 'copy.db'",
            "REINDEX",
            "ANALYZE",
            "BEGIN EXCLUSIVE",
            "SAVEPOINT x",
            "PRAGMA journal_mode = WAL",
            "PRAGMA query_only = OFF",
            "PRAGMA trusted_schema = ON",
            "PRAGMA writable_schema = ON",
            "PRAGMA temp_store_directory = '/'",
            "PRAGMA optimize",
            "UPDATE sqlite_master SET sql = ''",
            "SELECT load_extension('evil')",
            "SELECT fts3_tokenizer('simple')",
            "SELECT writefile('x', 'y')",
            "SELECT readfile('/etc/passwd')",
            "SELECT edit('x', 'vi')",
        )
    ],
)
def test_a_query_only_reads(users: Path, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """The database is as it was, and there is no other file."""
    monkeypatch.chdir(users.parent)
    before = hashlib.sha256(users.read_bytes()).digest()
    with pytest.raises(ToolError):
        shown(users, f"?q={sql}")
    assert hashlib.sha256(users.read_bytes()).digest() == before
    assert os.listdir(users.parent) == [users.name]


@pytest.mark.parametrize(
    "sql",
    [
        ENDLESS,
        "SELECT count(*) FROM plain a, plain b, plain c, plain d, plain e, plain f, plain g, plain h, plain i, plain j,"
        " plain k, plain l, plain m, plain n, plain o, plain p, plain q, plain r, plain s, plain t, plain u, plain v, "
        "plain w, plain x, plain y, plain z",
    ],
    ids=[f"{READ}/endless recursion", f"{READ}/endless join"],
)
def test_an_endless_query_is_stopped(users: Path, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    """After its time; the message says so."""
    monkeypatch.setattr(_open, "SECONDS", 0.2)
    started = time.monotonic()
    with pytest.raises(ToolError, match="was stopped"):
        shown(users, f"?q={sql}")
    assert time.monotonic() - started < 3


@pytest.mark.parametrize("rest", [":evil", ":evil?limit=1", ":evil?where=1"])
def test_an_endless_view_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rest: str) -> None:
    """Listing the tables does not even look into it."""
    path = make_database(tmp_path / "a.db", f"CREATE VIEW evil AS {ENDLESS}")
    monkeypatch.setattr(_open, "SECONDS", 0.2)
    assert shown(path, "") == "evil (view)"
    with pytest.raises(ToolError, match="was stopped"):
        shown(path, rest)


def test_an_endless_trigger_is_stopped_and_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write too has its time."""
    path = make_database(
        tmp_path / "a.db",
        "CREATE TABLE t (a)", "CREATE TABLE log (a)",
        f"CREATE TRIGGER evil AFTER INSERT ON t BEGIN INSERT INTO log {ENDLESS}; END",
    )  # fmt: skip
    monkeypatch.setattr(_open, "SECONDS", 0.2)
    with pytest.raises(ToolError, match="was stopped"):
        write(path, RowTarget("t"), "{a: 1}")
    assert shown(path, "") == "log (0 rows)\nt (0 rows)"


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT zeroblob(1000000000)",
        "SELECT hex(zeroblob(16000000))",
        "SELECT replace(printf('%.*c', 10000, 'x'), 'x', printf('%.*c', 10000, 'y'))",
    ],
)
def test_a_huge_value_is_refused(users: Path, sql: str) -> None:
    """Before there is memory for it."""
    with pytest.raises(ToolError, match="larger than 16 MiB"):
        shown(users, f"?q={sql}")


def test_a_function_that_nothing_stops_is_not_for_views(tmp_path: Path) -> None:
    """One step of the database's machine would take minutes."""
    path = make_database(tmp_path / "a.db", "CREATE VIEW evil AS SELECT printf('%.*c', 2000000000, 'x')")
    with pytest.raises(ToolError, match="Refused"):
        shown(path, ":evil")
    assert shown(path, "?q=SELECT printf('%.2f', 1) AS a").endswith("1.00")


def test_large_values_are_cut(tmp_path: Path) -> None:
    """A row of megabytes is shown as a row."""
    path = make_database(
        tmp_path / "a.db", "CREATE TABLE t (a, b)", "INSERT INTO t VALUES (zeroblob(8000000), hex(zeroblob(2000000)))"
    )
    assert len(shown(path, ":t")) < 500
    assert "<blob 8000000 bytes" in shown(path, ":t:1")
    assert len(shown(path, ":t:1")) < 20_000


def test_a_result_of_too_many_columns_is_refused(users: Path) -> None:
    """They would not be seen anyway."""
    with pytest.raises(ToolError, match="501 columns"):
        shown(users, f"?q=SELECT {', '.join('1' for _ in range(501))}")


def test_a_schema_with_dangerous_functions_is_not_trusted(tmp_path: Path) -> None:
    """What a view or a trigger calls is the maker's choice, not ours."""
    path = make_database(
        tmp_path / "a.db",
        "CREATE VIEW evil AS SELECT load_extension('x') AS a", "CREATE TABLE t (a)",
        "CREATE TRIGGER evil_too AFTER INSERT ON t BEGIN SELECT load_extension('x'); END",
    )  # fmt: skip
    with pytest.raises(ToolError):
        shown(path, ":evil")
    with pytest.raises(ToolError):
        write(path, RowTarget("t"), "{a: 1}")


def test_harmless_triggers_and_views_work(users: Path) -> None:
    """They are what databases are made of."""
    make_database(
        users,
        "CREATE TABLE log (who TEXT)",
        "CREATE TRIGGER t AFTER INSERT ON users BEGIN INSERT INTO log VALUES (new.name); END",
    )
    write(users, RowTarget("users"), "{name: 'Alan'}")
    assert shown(users, ":log:1") == "who: Alan"


def test_names_in_a_schema_are_quoted(tmp_path: Path) -> None:
    """A table or column name can be a statement; it stays a name."""
    name, column = 'x"; DROP TABLE y; --', 'c") FROM y; --'
    quoted = [part.replace('"', '""') for part in (name, column)]
    path = make_database(tmp_path / "a.db", "CREATE TABLE y (a)", f'CREATE TABLE "{quoted[0]}" ("{quoted[1]}" TEXT)')
    write(path, RowTarget(name), '{\'c") FROM y; --\': "v"}')
    assert shown(path, "") == f"{name} (1 row)\ny (0 rows)"
    assert shown(path, f":{name}?order={column}").splitlines()[2] == "v"


def test_a_locked_database_is_said(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is writing: it is waited for, then given up."""
    monkeypatch.setattr(_open, "BUSY_MS", 50)
    with closing(sqlite3.connect(users, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(ToolError, match="locked by another process"):
            shown(users, ":users")
        with pytest.raises(ToolError, match="locked by another process"):
            write(users, RowTarget("plain"), "{word: 'x'}")
        other.execute("ROLLBACK")
    assert write(users, RowTarget("plain"), "{word: 'x'}") == "Inserted row into plain"


def test_a_lock_is_waited_for_three_seconds() -> None:
    """read.md/Limits & Caps: busy timeout."""
    assert _open.BUSY_MS == 3000


@pytest.mark.parametrize("size", [16, 99, 100, 512, 4096, 5000])
def test_a_file_cut_short_is_said(users: Path, size: int) -> None:
    """It still starts like a database."""
    users.write_bytes(users.read_bytes()[:size])
    with pytest.raises(ToolError):
        shown(users, ":users")


def test_damage_anywhere_raises_nothing_but_tool_errors(users: Path) -> None:
    """Random bytes changed; every selection tried."""
    chance = random.Random(3)
    whole = users.read_bytes()
    for _ in range(60):
        data = bytearray(whole)
        for _ in range(chance.randint(1, 200)):
            data[chance.randrange(16, len(data))] = chance.randrange(256)
        users.write_bytes(data)
        for rest in ("", ":users", ":codes:de", ":pair?where=a > 0&order=b", "?q=SELECT * FROM users, pair"):
            with suppress(ToolError):
                shown(users, rest)
        with suppress(ToolError):
            write(users, RowTarget("users", "1"), "{name: 'x'}")


@pytest.mark.parametrize("ending", ["-journal", "-wal", "-shm"])
def test_a_link_beside_the_database_is_not_written_through(users: Path, tmp_path: Path, ending: str) -> None:
    """The library would put its journal wherever that leads."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"theirs")
    (tmp_path / f"users.db{ending}").symlink_to(outside)
    with pytest.raises(ToolError, match="not a regular file"):
        write(users, RowTarget("plain", None), "{word: 'x'}")
    with pytest.raises(ToolError, match="not a regular file"):
        shown(users, ":plain")
    assert outside.read_bytes() == b"theirs"


def test_another_database_in_its_place_is_not_read(
    users: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Put there after the look and before the library opens it by its name."""
    other = make_database(tmp_path / "other.db", "CREATE TABLE plain (word)", "INSERT INTO plain VALUES ('secret')")
    real = sqlite3.connect

    def late(*args: object, **options: object) -> sqlite3.Connection:
        users.rename(tmp_path / "before.db")
        users.symlink_to(other)
        return real(*args, **options)  # type: ignore[call-overload, no-any-return]

    monkeypatch.setattr(sqlite3, "connect", late)
    with pytest.raises(ToolError, match="leads elsewhere"):
        shown(users, ":plain")
