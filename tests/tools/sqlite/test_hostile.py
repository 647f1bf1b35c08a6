"""Databases and queries made to do damage: refused or stopped, and nothing is changed."""

import errno
import hashlib
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from sightline.tools import ToolError
from sightline.tools.sqlite import RowTarget, _file, _open, parse_selection, read, write

from .make import make_database, make_interrupted, make_users, rows

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


HOLDER = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1], isolation_level=None)
for statement in sys.argv[2:]:
    connection.execute(statement).fetchall()
print("done", flush=True)
sys.stdin.read()
"""


@contextmanager
def another_process(path: Path, *statements: str) -> Iterator[None]:
    """That has run these statements and stays connected. (A process drops its own locks with any descriptor.)"""
    argv = [sys.executable, "-c", HOLDER, str(path), *statements]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"done\n"
        yield
    finally:
        process.communicate(b"")


def test_a_locked_database_is_said(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process is writing: it is waited for, then given up."""
    monkeypatch.setattr(_file, "BUSY_MS", 50)
    with another_process(users, "BEGIN EXCLUSIVE"):
        with pytest.raises(ToolError, match="locked by another process"):
            shown(users, ":users")
        with pytest.raises(ToolError, match="locked by another process"):
            write(users, RowTarget("plain"), "{word: 'x'}")
    assert write(users, RowTarget("plain"), "{word: 'x'}") == "Inserted row into plain"


def test_a_reader_is_waited_for_before_something_is_written(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would see half a change; and a writer that has not begun to write does not keep readers out."""
    monkeypatch.setattr(_file, "BUSY_MS", 50)
    with another_process(users, "BEGIN", "SELECT * FROM plain"):
        assert shown(users, ":plain:1") == "word: first"
        with pytest.raises(ToolError, match="locked by another process"):
            write(users, RowTarget("plain"), "{word: 'x'}")
    with another_process(users, "BEGIN IMMEDIATE", "INSERT INTO plain VALUES ('third')"):
        assert shown(users, "").splitlines()[4] == "plain (2 rows)"
        with pytest.raises(ToolError, match="locked by another process"):
            write(users, RowTarget("plain"), "{word: 'x'}")


def test_a_program_that_has_it_open_sees_the_change(users: Path) -> None:
    """The file stays the one it was, and so do its mode and its other users."""
    before = os.stat(users)
    with closing(sqlite3.connect(users, isolation_level=None)) as other:
        assert other.execute("SELECT count(*) FROM plain").fetchone() == (2,)
        write(users, RowTarget("plain"), "{word: 'x'}")
        assert other.execute("SELECT count(*) FROM plain").fetchone() == (3,)
        other.execute("INSERT INTO plain VALUES ('theirs')")
    write(users, RowTarget("plain"), "{word: 'y'}")
    assert rows(users, "SELECT word FROM plain") == [("first",), ("second",), ("x",), ("theirs",), ("y",)]
    assert os.path.samestat(before, os.stat(users))
    assert os.listdir(users.parent) == [users.name]


def test_a_lock_is_waited_for_three_seconds() -> None:
    """read.md/Limits & Caps: busy timeout."""
    assert _file.BUSY_MS == 3000


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


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_another_file_in_its_place_is_not_opened(
    users: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """Put there after the last look: what was judged is what is read, and what is written."""
    other = make_database(tmp_path / "other.db", "CREATE TABLE plain (word)", "INSERT INTO plain VALUES ('secret')")
    untouched = other.read_bytes()
    real = _file.DatabaseFile._content

    def late(self: _file.DatabaseFile) -> bytes:
        users.rename(tmp_path / "before.db")
        users.symlink_to(other) if kind == "link" else os.mkfifo(users)
        return real(self)

    monkeypatch.setattr(_file.DatabaseFile, "_content", late)
    assert shown(users, ":plain:1") == "word: first"
    users.unlink()
    (tmp_path / "before.db").rename(users)
    with pytest.raises(ToolError, match=r"leads to another place|changed by another program"):
        write(users, RowTarget("plain"), "{word: 'x'}")
    assert other.read_bytes() == untouched
    assert sorted(os.listdir(tmp_path)) == ["before.db", "other.db", "users.db"]


def test_a_folder_swapped_meanwhile_leads_nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of the same names in the other folder stay as they are, the journal too."""
    for name in ("place", "outside"):
        (tmp_path / name).mkdir()
    users = make_users(tmp_path / "place" / "users.db")
    theirs = [tmp_path / "outside" / f"users.db{ending}" for ending in ("", "-journal", "-wal", "-shm")]
    for path in theirs:
        path.write_bytes(b"theirs")
    real = _file.DatabaseFile.commit

    def late(self: _file.DatabaseFile, *args: Any) -> None:
        (tmp_path / "place").rename(tmp_path / "moved")
        (tmp_path / "place").symlink_to("outside")
        real(self, *args)

    monkeypatch.setattr(_file.DatabaseFile, "commit", late)
    write(users, RowTarget("plain"), "{word: 'x'}")
    assert [path.read_bytes() for path in theirs] == [b"theirs"] * 4
    assert rows(tmp_path / "moved" / "users.db", "SELECT count(*) FROM plain") == [(3,)]
    assert os.listdir(tmp_path / "moved") == ["users.db"]


@pytest.mark.parametrize("kind", ["file", "pipe"])
def test_the_journal_of_an_interrupted_change_is_not_played_back(tmp_path: Path, kind: str) -> None:
    """It names a file that SQLite deletes afterwards, or opens: any file of the person's, or a pipe that never ends."""
    victim = tmp_path / "victim"
    victim.write_text("precious") if kind == "file" else os.mkfifo(victim)
    path = make_interrupted(tmp_path / "a.db", super_journal=victim)
    files = {name: (tmp_path / name).read_bytes() for name in ("a.db", "a.db-journal")}
    with pytest.raises(ToolError, match=r"interrupted and must be undone first.*Recover it with a command"):
        write(path, RowTarget("notes"), "{text: 'y'}")
    with pytest.raises(ToolError, match="interrupted and must be undone first"):
        shown(path, ":notes")
    assert victim.exists()
    assert {name: (tmp_path / name).read_bytes() for name in files} == files


@pytest.mark.parametrize("content", [b"", bytes(600)], ids=["truncated", "persistent"])
def test_the_journal_of_a_change_that_is_over_is_no_obstacle(users: Path, content: bytes) -> None:
    """Some programs leave it for their next change."""
    journal = users.with_name("users.db-journal")
    journal.write_bytes(content)
    assert shown(users, ":plain:1") == "word: first"
    assert write(users, RowTarget("plain"), "{word: 'x'}") == "Inserted row into plain"
    assert not journal.exists()


def test_a_log_that_is_not_in_the_database_yet_is_not_written_over(users: Path, tmp_path: Path) -> None:
    """A program that was killed left it: it is read, and to write it is brought in by a command first."""
    with another_process(users, "PRAGMA journal_mode = WAL", "INSERT INTO plain VALUES ('third')"):
        assert shown(users, ":plain:3") == "word: third"
        for ending in ("", "-wal"):
            shutil.copyfile(f"{users}{ending}", tmp_path / f"left.db{ending}")
    left = tmp_path / "left.db"
    assert shown(left, ":plain:3") == "word: third"
    with pytest.raises(ToolError, match=r"left\.db-wal holds changes .*wal_checkpoint"):
        write(left, RowTarget("plain"), "{word: 'x'}")
    assert rows(left, "SELECT count(*) FROM plain") == [(3,)]
    assert write(left, RowTarget("plain"), "{word: 'x'}") == "Inserted row into plain"


def test_a_database_in_wal_mode_is_written_when_nobody_has_it_open(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It stays in that mode. One that is open somewhere is not written here."""
    monkeypatch.setattr(_file, "BUSY_MS", 50)
    make_database(users, "PRAGMA journal_mode = WAL")
    assert write(users, RowTarget("plain"), "{word: 'x'}") == "Inserted row into plain"
    assert rows(users, "PRAGMA journal_mode") == [("wal",)]
    said = r"open in another process \(WAL mode\)"
    with another_process(users, "SELECT * FROM plain"), pytest.raises(ToolError, match=said):
        write(users, RowTarget("plain"), "{word: 'y'}")
    assert rows(users, "SELECT word FROM plain") == [("first",), ("second",), ("x",)]


@pytest.mark.parametrize("frames", [1, 3])
def test_a_log_is_read_as_sqlite_reads_it(users: Path, tmp_path: Path, frames: int) -> None:
    """What was not committed is left out, and so is everything from the first damage on."""
    statements = [f"INSERT INTO plain VALUES ('{number}' || zeroblob(9000))" for number in range(12)]
    with another_process(users, "PRAGMA journal_mode = WAL", *statements, "DELETE FROM users", "BEGIN", *statements):
        data, log = users.read_bytes(), bytearray(Path(f"{users}-wal").read_bytes())
    for cut in range(0, len(log), max(1, len(log) // (20 * frames))):
        damaged = log[:cut] if frames == 1 else log[:cut] + b"\xff" + log[cut + 1 :]
        path, copy = tmp_path / "a.db", tmp_path / "b.db"
        for each in (path, copy):
            each.write_bytes(data)
            Path(f"{each}-wal").write_bytes(damaged)
        seen = shown(path, "?q=SELECT count(*) AS n, sum(length(word)), (SELECT count(*) FROM users) FROM plain")
        found = rows(copy, "SELECT count(*), sum(length(word)), (SELECT count(*) FROM users) FROM plain")[0]
        assert [part.strip() for part in seen.splitlines()[2].split("|")] == [str(value) for value in found]


def test_a_log_without_bounds_is_refused(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A page number is a claim about the size of the database."""
    with another_process(users, "PRAGMA journal_mode = WAL", "INSERT INTO plain VALUES (zeroblob(100000))"):
        monkeypatch.setattr(_file, "LARGEST", 90_000)
        with pytest.raises(ToolError, match="is larger than"):
            shown(users, ":plain")
        monkeypatch.undo()
        monkeypatch.setattr(_file, "LARGEST_LOG", 50_000)
        with pytest.raises(ToolError, match=r"users\.db-wal is larger than"):
            shown(users, ":plain")


def test_a_large_database_is_for_a_command(users: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is read into memory."""
    monkeypatch.setattr(_file, "LARGEST", 4096)
    for call in (lambda: shown(users, ":plain"), lambda: write(users, RowTarget("plain"), "{word: 'x'}")):
        with pytest.raises(ToolError, match="Use a command"):
            call()


def test_a_database_with_a_second_name_is_not_written(users: Path, tmp_path: Path) -> None:
    """It may be anywhere."""
    os.link(users, tmp_path / "second.db")
    with pytest.raises(ToolError, match="several names"):
        write(users, RowTarget("plain"), "{word: 'x'}")


KILLED = """
import os, sys
from pathlib import Path
from sightline.tools.sqlite import RowTarget, _file, write
path, left = Path(sys.argv[1]), [int(sys.argv[2])]
real = _file._write_all
def late(descriptor, data, at):
    left[0] -= 1
    if left[0] < 0:
        os.pwrite(descriptor, data[: len(data) // 2], at)
        os._exit(9)
    real(descriptor, data, at)
_file._write_all = late
write(path, RowTarget("t"), "{a: 'new'}")
print("written")
"""


def _with_triggers(path: Path) -> Path:
    """A database of which one insert changes many pages, shrinks some tables and grows others."""
    return make_database(
        path,
        "PRAGMA auto_vacuum = FULL",
        "CREATE TABLE t (a)", "CREATE TABLE gone (a)", "CREATE TABLE log (a)",
        "WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 60) INSERT INTO gone SELECT zeroblob(3000) FROM n",
        "CREATE TRIGGER much AFTER INSERT ON t BEGIN DELETE FROM gone; INSERT INTO log VALUES (randomblob(20000)); END",
    )  # fmt: skip


def test_one_that_is_killed_leaves_a_change_that_is_undone(tmp_path: Path) -> None:
    """At any moment: who opens the database next finds all of the change or nothing of it."""
    whole = _with_triggers(tmp_path / "whole.db").read_bytes()
    path, step, ended = tmp_path / "a.db", 0, b""
    counts = set()
    while b"written" not in ended:
        path.write_bytes(whole)
        argv = [sys.executable, "-c", KILLED, str(path), str(step)]
        ended = subprocess.run(argv, stdout=subprocess.PIPE, check=False).stdout
        found = rows(path, "SELECT (SELECT count(*) FROM t), (SELECT count(*) FROM gone), (SELECT count(*) FROM log)")
        assert rows(path, "PRAGMA integrity_check") == [("ok",)]
        counts.add(found[0])
        assert sorted(os.listdir(tmp_path)) == ["a.db", "whole.db"]
        step += 1 if step < 4 else 9
    assert counts == {(0, 60, 0), (1, 0, 1)}
    assert path.stat().st_size < len(whole)


def test_a_change_that_fails_half_way_is_undone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a disk that is full; and when not even that is possible, the journal stays for whoever opens it next."""
    path = _with_triggers(tmp_path / "a.db")
    whole, real = path.read_bytes(), os.ftruncate

    def full(descriptor: int, size: int) -> None:
        if size != len(whole):
            raise OSError(errno.ENOSPC, "No space left on device")
        real(descriptor, size)

    monkeypatch.setattr(_file.os, "ftruncate", full)
    with pytest.raises(ToolError, match="No space left"):
        write(path, RowTarget("t"), "{a: 'new'}")
    assert path.read_bytes() == whole
    assert os.listdir(tmp_path) == ["a.db"]

    def fail(descriptor: int, size: int) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(_file.os, "ftruncate", fail)
    with pytest.raises(ToolError, match="Input/output error"):
        write(path, RowTarget("t"), "{a: 'new'}")
    assert sorted(os.listdir(tmp_path)) == ["a.db", "a.db-journal"]
    assert rows(path, "SELECT count(*) FROM gone") == [(60,)]


def test_a_file_that_another_program_writes_meanwhile_is_left_alone(
    users: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that takes no locks, such as cp."""
    real = _file.DatabaseFile.commit

    def late(self: _file.DatabaseFile, *args: Any) -> None:
        users.write_bytes(b"something else")
        real(self, *args)

    monkeypatch.setattr(_file.DatabaseFile, "commit", late)
    with pytest.raises(ToolError, match="changed by another program"):
        write(users, RowTarget("plain"), "{word: 'x'}")
    assert users.read_bytes() == b"something else"


@pytest.mark.slow
def test_no_row_that_was_reported_is_lost(tmp_path: Path) -> None:
    """While other processes write the same database, through SQLite and through the tool."""
    path = make_database(tmp_path / "a.db", "CREATE TABLE t (a)")
    ours = "import sys; from pathlib import Path; from sightline.tools.sqlite import RowTarget, write\n"
    ours += "for n in range(100): write(Path(sys.argv[1]), RowTarget('t'), '{a: 1}')"
    theirs = "import sys, sqlite3; c = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)\n"
    theirs += "for n in range(100): c.execute('INSERT INTO t VALUES (2)')"
    started = [subprocess.Popen([sys.executable, "-c", code, str(path)]) for code in (ours, theirs, ours, theirs)]
    assert [process.wait(120) for process in started] == [0] * 4
    assert rows(path, "SELECT a, count(*) FROM t GROUP BY a") == [(1, 200), (2, 200)]
    assert rows(path, "PRAGMA integrity_check") == [("ok",)]
