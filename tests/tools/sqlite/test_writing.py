"""Rows inserted, updated and deleted; every way it can go wrong leaves the database as it was."""

import hashlib
from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.sqlite import RowTarget, parse_target, write

from .make import make_database, make_users, rows

INSERT = "write.md/SQLite table insert"
CHANGE = "write.md/SQLite row update / delete"


@pytest.fixture
def users(tmp_path: Path) -> Path:
    return make_users(tmp_path / "users.db")


@pytest.mark.parametrize(
    ("rest", "content", "said", "check", "expected"),
    [
        pytest.param(
            ":users", "{name: 'Ada', active: true}", "Inserted row into users",
            "SELECT name, active, age FROM users WHERE id = 43", [("Ada", 1, None)], id=f"{INSERT}/JSON5",
        ),
        pytest.param(
            ":users", '{"name": "x", "age": 1.5, "active": null, // why\n}', "Inserted row into users",
            "SELECT name, age, active FROM users WHERE id = 43", [("x", 1.5, None)], id=f"{INSERT}/comment and comma",
        ),
        pytest.param(
            ":plain", "{}", "Inserted row into plain", "SELECT count(*) FROM plain WHERE word IS NULL", [(1,)],
            id=f"{INSERT}/empty object",
        ),
        pytest.param(
            ":USERS", "{NAME: 'x'}", "Inserted row into users", "SELECT count(*) FROM users", [(4,)],
            id=f"{INSERT}/names in capitals",
        ),
        pytest.param(
            ":tight", "{a: 1, b: 2, c: 'x'}", "Inserted row into tight", "SELECT * FROM tight", [(1, 2, "x")],
            id=f"{INSERT}/without rowid",
        ),
        pytest.param(
            ":plain", "{word: \"'); DROP TABLE plain; --\"}", "Inserted row into plain",
            "SELECT word FROM plain WHERE rowid = 3", [("'); DROP TABLE plain; --",)], id=f"{INSERT}/values are bound",
        ),
        pytest.param(
            ":users:42", "{name: 'Torvalds', age: 55}", "Updated row '42' in users",
            "SELECT name, age FROM users WHERE id = 42", [("Torvalds", 55)], id=f"{CHANGE}/update by primary key",
        ),
        pytest.param(
            ":plain:2", "{word: 'zwei'}", "Updated row '2' in plain", "SELECT word FROM plain", [("first",), ("zwei",)],
            id=f"{CHANGE}/update by rowid",
        ),
        pytest.param(
            ":codes:a:b", "{label: 'x'}", "Updated row 'a:b' in codes", "SELECT label FROM codes WHERE code = 'a:b'",
            [("x",)], id=f"{CHANGE}/key with a colon",
        ),
        pytest.param(
            ":users:99", "{name: 'x'}", "No row updated: users has no row '99'", "SELECT count(*) FROM users", [(3,)],
            id=f"{CHANGE}/no row to update",
        ),
        pytest.param(
            ":users:42", "", "Deleted row '42' from users", "SELECT id FROM users", [(1,), (2,)], id=f"{CHANGE}/delete",
        ),
        pytest.param(
            ":users:42", " \n\t", "Deleted row '42' from users", "SELECT id FROM users", [(1,), (2,)],
            id=f"{CHANGE}/delete with blanks",
        ),
        pytest.param(
            ":users:99", "", "No row deleted: users has no row '99'", "SELECT count(*) FROM users", [(3,)],
            id=f"{CHANGE}/no row to delete",
        ),
        pytest.param(
            ":users:1 OR 1=1", "", "No row deleted: users has no row '1 OR 1=1'", "SELECT count(*) FROM users", [(3,)],
            id=f"{CHANGE}/keys are bound",
        ),
    ],
)  # fmt: skip
def test_a_row_is_written(
    users: Path, rest: str, content: str, said: str, check: str, expected: list[tuple[object, ...]]
) -> None:
    """What was done is said in the words of the document."""
    assert write(users, parse_target(rest), content) == said
    assert rows(users, check) == expected


@pytest.mark.parametrize(
    ("rest", "content", "said"),
    [
        pytest.param(":users", "{name: ", "not valid JSON5", id="write.md/Errors/invalid JSON5"),
        pytest.param(":users", "name = 'x'", "not valid JSON5", id="write.md/Errors/no JSON5 at all"),
        pytest.param(":users", "[" * 5000, "not valid JSON5", id="write.md/Errors/nested JSON5"),
        pytest.param(":users", "['x']", "must be a JSON5 object", id="write.md/Errors/array"),
        pytest.param(":users", "'x'", "must be a JSON5 object", id="write.md/Errors/string"),
        pytest.param(":users", "null", "must be a JSON5 object", id="write.md/Errors/null"),
        pytest.param(":users", "", "row is empty", id="write.md/Errors/nothing to insert"),
        pytest.param(
            ":users", "{height: 3}", "no column 'height'. Columns: id, name", id="write.md/Errors/unknown column"
        ),
        pytest.param(":users:1", "{height: 3}", "no column 'height'", id="write.md/Errors/unknown column in update"),
        pytest.param(":users", "{name: {a: 1}}", "not an object", id="write.md/Errors/object as value"),
        pytest.param(":users", "{name: [1]}", "not an array", id="write.md/Errors/array as value"),
        pytest.param(":users", "{age: NaN}", "not a finite number", id="write.md/Errors/NaN"),
        pytest.param(":users", "{age: Infinity}", "not a finite number", id="write.md/Errors/Infinity"),
        pytest.param(":users", "{age: 99999999999999999999}", "64 bits", id="write.md/Errors/integer too large"),
        pytest.param(":users", "{name: '\\ud800'}", "SQLite|JSON5", id="write.md/Errors/half a character"),
        pytest.param(":users:1", "{}", "update is empty", id="write.md/Errors/empty update"),
        pytest.param(":pair:1", "{c: 'x'}", "composite primary key", id="write.md/Errors/composite key"),
        pytest.param(":pair:1", "", "composite primary key", id="write.md/Errors/composite key, delete"),
        pytest.param(":tight:1", "{c: 'x'}", "composite primary key", id="write.md/Errors/composite key without rowid"),
        pytest.param(":single:x", "{v: 'y'}", "WITHOUT ROWID", id="write.md/Errors/without rowid"),
        pytest.param(":single:x", "", "WITHOUT ROWID", id="write.md/Errors/without rowid, delete"),
        pytest.param(":plain:word", "{word: 'x'}", "rowid, a whole number", id="write.md/Errors/rowid no number"),
        pytest.param(":plain:--1", "", "rowid, a whole number", id="write.md/Errors/rowid with two signs"),
        pytest.param(":plain:1_0", "", "rowid, a whole number", id="write.md/Errors/rowid with underscore"),
        pytest.param(":nobody", "{a: 1}", "Table 'nobody' not found", id="write.md/Errors/no such table"),
        pytest.param(":adults", "{name: 'x'}", "cannot modify adults", id="write.md/Errors/insert into a view"),
        pytest.param(":adults:1", "{name: 'x'}", "is a view", id="write.md/Errors/row of a view"),
        pytest.param(":users", "{age: 3}", "NOT NULL", id="write.md/Errors/constraint"),
        pytest.param(":users", "{id: 1, name: 'x'}", "UNIQUE", id="write.md/Errors/key taken"),
        pytest.param(":sqlite_master", "{name: 'x'}", "not found", id="write.md/Errors/the library's own table"),
    ],
)
def test_what_goes_wrong_is_said_and_changes_nothing(users: Path, rest: str, content: str, said: str) -> None:
    """Each is an error the model can act on."""
    before = hashlib.sha256(users.read_bytes()).digest()
    with pytest.raises(ToolError, match=said):
        write(users, parse_target(rest), content)
    assert hashlib.sha256(users.read_bytes()).digest() == before


@pytest.mark.parametrize("content", [None, "", "words"], ids=["missing", "empty", "no database"])
def test_a_database_is_never_made(tmp_path: Path, content: str | None) -> None:
    """write.md/Errors: missing databases."""
    path = tmp_path / "a.db"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ToolError, match="not found"):
        write(path, RowTarget("t"), "{a: 1}")
    assert path.exists() == (content is not None)


def test_only_the_row_of_that_very_key_is_deleted(tmp_path: Path) -> None:
    """In a column without a type a key is also tried as a number, but only one that is written as such."""
    path = make_database(tmp_path / "a.db", "CREATE TABLE t (k PRIMARY KEY)", "INSERT INTO t VALUES (1000), (1.5)")
    for key in ("1_000", "1e3", " 1000", "1000x", "nan", "１０００"):
        assert write(path, RowTarget("t", key), "").startswith("No row deleted")
    assert write(path, RowTarget("t", "1.5"), "") == "Deleted row '1.5' from t"
    assert rows(path, "SELECT k FROM t") == [(1000,)]


def test_a_generated_column_is_not_written(tmp_path: Path) -> None:
    """The database says so."""
    path = make_database(tmp_path / "a.db", "CREATE TABLE t (a, b GENERATED ALWAYS AS (a + 1))")
    assert write(path, RowTarget("t"), "{a: 1}") == "Inserted row into t"
    with pytest.raises(ToolError, match="generated column"):
        write(path, RowTarget("t"), "{b: 1}")
