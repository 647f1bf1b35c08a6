"""What a selection shows of a database."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.sqlite import parse_selection, read
from sightline.tools.sqlite._selection import TableReading

from .make import make_database, make_users

READ = "read.md/SQLite databases"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return make_users(tmp_path / "users.sqlite")


def shown(path: Path, rest: str) -> TableReading:
    return read(path, parse_selection(rest))


def test_the_tables_are_listed_with_their_rows(users: Path) -> None:
    """read.md/SQLite databases/db.sqlite: kind list; views are marked, the library's own tables left out."""
    make_database(users, "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT)")
    reading = shown(users, "")
    assert reading.kind == "list"
    assert reading.text.splitlines() == [
        *("adults (view)", "codes (3 rows)", "counted (0 rows)", 'it\'s "odd" (1 row)', "pair (1 row)"),
        *("plain (2 rows)", "single (1 row)", "tight (0 rows)", "users (3 rows)"),
    ]


def test_a_long_list_is_cut_at_500(tmp_path: Path) -> None:
    """read.md/Limits & Caps: table list cap."""
    path = make_database(tmp_path / "a.db", *(f"CREATE TABLE t{number:03} (a)" for number in range(501)))
    reading = shown(path, "")
    assert (reading.shown, reading.total, len(reading.text.splitlines())) == (500, 501, 501)
    assert reading.text.endswith("[500 of 501 tables shown]")


def test_an_empty_database_has_no_tables(tmp_path: Path) -> None:
    """Which is no mistake."""
    assert shown(make_database(tmp_path / "a.db", "CREATE TABLE a (b)", "DROP TABLE a"), "").text == "(no tables)"


def test_a_table_is_shown_with_its_making_and_five_rows(tmp_path: Path) -> None:
    """read.md/SQLite databases/db.sqlite:table: kind schema, sample limit 5."""
    inserts = [f"INSERT INTO t VALUES ({number})" for number in range(9)]
    path = make_database(tmp_path / "a.db", "CREATE TABLE t (a INTEGER)", *inserts, "CREATE TABLE empty (b)")
    reading = shown(path, ":T")
    assert (reading.kind, reading.shown) == ("schema", 5)
    assert reading.text == "CREATE TABLE t (a INTEGER)\n\nSample rows:\na\n-\n0\n1\n2\n3\n4"
    assert shown(path, ":empty").text == "CREATE TABLE empty (b)\n\nSample rows:\n(no rows)"


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param(":users:42", "id: 42\nname: Linus\nage: NULL\nactive: 1\nphoto: NULL", id=f"{READ}/primary key"),
        pytest.param(":codes:de", "code: de\nlabel: German", id=f"{READ}/primary key of text"),
        pytest.param(":codes:12", "code: 12\nlabel: twelve", id=f"{READ}/text that looks like a number"),
        pytest.param(":codes:a:b", "code: a:b\nlabel: colon", id=f"{READ}/key with a colon"),
        pytest.param(":plain:2", "word: second", id=f"{READ}/rowid"),
        pytest.param(":pair:1", "a: 1\nb: 2\nc: one-two", id=f"{READ}/rowid of a composite key"),
        pytest.param(":single:x", "k: x\nv: ex", id=f"{READ}/without rowid, one key"),
        pytest.param(""":it's "odd":1""", "a b: v\nselect: 7\nx]y: w", id=f"{READ}/names with quotes"),
        pytest.param(":users:7", "No row '7' in users.", id=f"{READ}/no such row"),
        pytest.param(":users:x' OR 1=1 --", "No row 'x' OR 1=1 --' in users.", id=f"{READ}/injection"),
    ],
)
def test_a_row_is_found_by_its_key(users: Path, rest: str, expected: str) -> None:
    """read.md/SQLite databases/db.sqlite:table:key: the primary key where it is one column, else the rowid."""
    reading = shown(users, rest)
    assert (reading.kind, reading.text) == ("row", expected)


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        pytest.param(":plain:word", "rowid, a whole number", id=f"{READ}/rowid no number"),
        pytest.param(":tight:1", "composite primary key", id=f"{READ}/without rowid, two keys"),
        pytest.param(":adults:1", "is a view", id=f"{READ}/row of a view"),
        pytest.param(":nobody", "Table 'nobody' not found. Tables: adults, codes", id=f"{READ}/no such table"),
        pytest.param(":users?order=height", "has no column 'height'. Columns: id, name", id=f"{READ}/order: no column"),
        pytest.param(":users?order=name:up", "column:asc or column:desc", id=f"{READ}/order: no direction"),
        pytest.param(":users?where=height > 3", "no such column", id=f"{READ}/where: no column"),
        pytest.param(":users?where=age >", "syntax error|incomplete", id=f"{READ}/where: no condition"),
        pytest.param(":users?where=1 LIMIT 3", "LIMIT", id=f"{READ}/where: LIMIT"),
        pytest.param(":users?where=id = ?", "parameters", id=f"{READ}/where: bound parameter"),
        pytest.param("?q=SELEC 1", "syntax error", id=f"{READ}/q: no SQL"),
        pytest.param("?q=SELECT ?", "parameters", id=f"{READ}/q: bound parameter"),
        pytest.param("?q=SELECT :name", "parameters", id=f"{READ}/q: named parameter"),
        pytest.param("?q=SELECT 1; SELECT 2", "one SQL statement", id=f"{READ}/q: two statements"),
        pytest.param("?q=-- nothing", "must be a SELECT", id=f"{READ}/q: only a comment"),
    ],
)
def test_what_goes_wrong_is_said(users: Path, rest: str, said: str) -> None:
    """read.md/Errors: what the database says becomes a ToolError."""
    with pytest.raises(ToolError, match=said):
        shown(users, rest)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param(":users?order=name:desc", ["Linus", "Grace", "Ada"], id=f"{READ}/order desc"),
        pytest.param(":users?order=NAME", ["Ada", "Grace", "Linus"], id=f"{READ}/order"),
        pytest.param(":users?order=name:asc&limit=1&offset=1", ["Grace"], id=f"{READ}/limit and offset"),
        pytest.param(":users?where=age > 40", ["Grace"], id=f"{READ}/where"),
        pytest.param(":users?where=age IS NULL OR name = 'Ada'&order=id", ["Ada", "Linus"], id=f"{READ}/where with OR"),
        pytest.param(":adults?order=age", ["Ada", "Grace"], id=f"{READ}/view"),
    ],
)
def test_rows_are_chosen(users: Path, rest: str, expected: list[str]) -> None:
    """read.md/SQLite databases/db.sqlite:table?…: kind query."""
    reading = shown(users, rest)
    assert reading.kind == "query"
    assert [line.split(" | ")[1].strip() for line in reading.text.splitlines()[2:] if " | " in line] == expected


def test_the_rest_of_the_rows_is_counted(tmp_path: Path) -> None:
    """read.md/SQLite databases: twenty rows unless asked, and how to go on."""
    fill = "INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 45) SELECT i FROM n"
    path = make_database(tmp_path / "a.db", "CREATE TABLE t (a)", fill)
    first = shown(path, ":t?order=a")
    assert (first.shown, first.total) == (20, 45)
    assert first.text.endswith("\n20\n[rows 1-20 of 45; continue with offset=20]")
    assert shown(path, ":t?offset=40").text.endswith("\n45")
    assert shown(path, ":t?offset=99").text == "No rows from offset 99 on."
    assert shown(path, ":t?where=a > 99").text == "No rows."


def test_a_query_is_run(users: Path) -> None:
    """read.md/SQLite databases/db.sqlite?q=: kind raw; columns of one name are both shown."""
    reading = shown(users, "?q=SELECT count(*) AS n, max(age) AS n FROM users")
    assert (reading.kind, reading.text) == ("raw", "n | n\n--+---\n3 | 85")
    assert shown(users, "?q=SELECT name FROM users WHERE 0").text == "name\n----\n(no rows)"
    assert shown(users, "?q=VALUES (1)").text.endswith("\n1")
    assert "SCAN users" in shown(users, "?q=EXPLAIN QUERY PLAN SELECT * FROM users").text


def test_a_query_gives_500_rows_at_most(users: Path) -> None:
    """And says that there are more."""
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT {}) SELECT i FROM n"
    assert shown(users, f"?q={numbers.format(500)}").text.endswith("\n500")
    reading = shown(users, f"?q={numbers.format(100_000)}")
    assert (reading.shown, reading.total) == (500, None)
    assert reading.text.endswith("[the first 500 rows; add LIMIT and OFFSET to the query for others]")


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("NULL", "NULL"),
        ("x''", "<blob 0 bytes>"),
        ("x'00ff'", "<blob 2 bytes: 00ff>"),
        ("x'" + "ab" * 20 + "'", "<blob 20 bytes: abababababababababababa…"),
        ("1.5", "1.5"),
        ("9e999", "inf"),
        ("'two' || char(10) || 'lines' || char(9, 27)", "two\\nlines\\t\\x1b"),
        ("'back\\slash'", "back\\\\slash"),
        ("printf('%.*c', 100, 'x')", "x" * 39 + "…"),
        ("CAST(x'41ff42' AS TEXT)", "A\ufffdB"),
    ],
)
def test_a_value_is_one_line(users: Path, sql: str, expected: str) -> None:
    """read.md/SQLite databases: at most 40 characters in a table; what is not text is named."""
    assert shown(users, f"?q=SELECT {sql} AS v").text.splitlines()[2] == expected


@pytest.mark.parametrize("columns", [2, 10, 17, 18, 60, 400])
def test_a_table_is_never_wider_than_120(tmp_path: Path, columns: int) -> None:
    """Columns get narrower, then the last ones are only named."""
    names = ", ".join(f"column_{number}" for number in range(columns))
    values = ", ".join(["'" + "long text " * 9 + "'"] * columns)
    path = make_database(tmp_path / "a.db", f"CREATE TABLE t ({names})", f"INSERT INTO t VALUES ({values})")
    lines = shown(path, ":t?limit=1").text.splitlines()
    assert max(len(line) for line in lines[:3]) <= 120
    assert max(len(part) for part in lines[2].split(" | ")) <= 40
    assert ("do not fit" in lines[-1]) == (columns >= 18)


def test_a_wal_database_is_read_without_leaving_files(users: Path) -> None:
    """Nobody has it open, so it cannot change while it is read."""
    make_database(users, "PRAGMA journal_mode = WAL")
    assert os.listdir(users.parent) == [users.name]
    assert shown(users, ":plain:1").text == "word: first"
    assert os.listdir(users.parent) == [users.name]


def test_what_a_running_writer_committed_is_seen(users: Path) -> None:
    """A database in WAL mode that another process has open: its log is read too."""
    with closing(sqlite3.connect(users, isolation_level=None)) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
        writer.execute("INSERT INTO plain VALUES ('third')")
        assert shown(users, ":plain:3").text == "word: third"


def test_a_path_may_have_any_characters(tmp_path: Path) -> None:
    """Nothing in a file name is taken for an option."""
    path = make_users(tmp_path / "a?mode=rwc&x#%41 ü.db")
    assert shown(path, ":plain:1").text == "word: first"


def test_full_text_tables_are_read(tmp_path: Path) -> None:
    """Though opening one asks for more than reading."""
    path = make_database(
        tmp_path / "a.db", "CREATE VIRTUAL TABLE f USING fts5(body)", "INSERT INTO f VALUES ('some words')"
    )
    assert shown(path, ":f?where=f MATCH 'words'").text.splitlines()[2] == "some words"


def test_a_column_may_be_named_like_the_rowid(tmp_path: Path) -> None:
    """Another of its names is used, and if none is left it is said."""
    path = make_database(
        tmp_path / "a.db",
        "CREATE TABLE one (rowid TEXT)", "INSERT INTO one VALUES ('x')",
        "CREATE TABLE all_three (rowid, _rowid_, oid)", "INSERT INTO all_three VALUES (1, 2, 3)",
    )  # fmt: skip
    assert shown(path, ":one:1").text == "rowid: x"
    with pytest.raises(ToolError, match="named like the rowid"):
        shown(path, ":all_three:1")


def test_a_key_column_without_a_type_finds_numbers(tmp_path: Path) -> None:
    """There the text 5 and the number 5 are not the same."""
    path = make_database(
        tmp_path / "a.db", "CREATE TABLE t (k PRIMARY KEY, v)", "INSERT INTO t VALUES (5, 'n'), ('6', 't')"
    )
    assert shown(path, ":t:5").text == "k: 5\nv: n"
    assert shown(path, ":t:6").text == "k: 6\nv: t"
