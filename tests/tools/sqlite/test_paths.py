"""What a path with a database in it selects."""

from pathlib import Path

import pytest

from sightline.tools import ToolError
from sightline.tools.sqlite._read import validate_where
from sightline.tools.sqlite._selection import (
    DatabasePath,
    DatabaseQuery,
    RowTarget,
    Schema,
    Selection,
    Statement,
    TableRow,
    Tables,
    candidates,
    is_sqlite_file,
    parse_selection,
    parse_target,
)

from .make import make_users

READ = "read.md/SQLite databases"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        pytest.param("a.sqlite", [DatabasePath("a.sqlite", "")], id=f"{READ}/.sqlite"),
        pytest.param("a.sqlite3:t", [DatabasePath("a.sqlite3", ":t")], id=f"{READ}/.sqlite3"),
        pytest.param("d/a.db:t:k", [DatabasePath("d/a.db", ":t:k")], id=f"{READ}/.db"),
        pytest.param("a.DB3?q=x", [DatabasePath("a.DB3", "?q=x")], id=f"{READ}/.db3"),
        pytest.param(
            "a.db:x.db:k", [DatabasePath("a.db:x.db", ":k"), DatabasePath("a.db", ":x.db:k")], id=f"{READ}/two"
        ),
        pytest.param("a.dbx:t", [], id=f"{READ}/longer suffix"),
        pytest.param("a.db/x", [], id=f"{READ}/folder named so"),
        pytest.param("a.txt:5", [], id=f"{READ}/plain file"),
    ],
)
def test_a_path_is_cut_after_a_database(path: str, expected: list[DatabasePath]) -> None:
    """Every place where that is possible, the longest first."""
    assert candidates(path) == expected


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param("", Tables(), id=f"{READ}/db.sqlite"),
        pytest.param("?", Tables(), id=f"{READ}/db.sqlite?"),
        pytest.param(":", Tables(), id=f"{READ}/db.sqlite:"),
        pytest.param(":t", Schema("t"), id=f"{READ}/db.sqlite:table"),
        pytest.param(":t?", Schema("t"), id=f"{READ}/db.sqlite:table?"),
        pytest.param(":t:42", TableRow("t", "42"), id=f"{READ}/db.sqlite:table:key"),
        pytest.param(":t:a:b", TableRow("t", "a:b"), id=f"{READ}/key with a colon"),
        pytest.param(":t?limit=5", DatabaseQuery("t", limit=5), id=f"{READ}/limit"),
        pytest.param(":t?limit=900", DatabaseQuery("t", limit=500), id=f"{READ}/limit is capped at 500"),
        pytest.param(":t?offset=7", DatabaseQuery("t", limit=20, offset=7), id=f"{READ}/default limit 20"),
        pytest.param(":t?order=a:desc&limit=1", DatabaseQuery("t", limit=1, order="a:desc"), id=f"{READ}/order"),
        pytest.param(":t?where=a%20%3D%201", DatabaseQuery("t", where="a = 1"), id=f"{READ}/where encoded"),
        pytest.param(":t?where=a+%3E+1", DatabaseQuery("t", where="a > 1"), id=f"{READ}/where with plus"),
        pytest.param(
            ":t?where=a LIKE '%ab%'", DatabaseQuery("t", where="a LIKE '%ab%'"), id=f"{READ}/where as written"
        ),
        pytest.param(
            ":t?where=a & b = 1&limit=2", DatabaseQuery("t", limit=2, where="a & b = 1"), id=f"{READ}/where with &"
        ),
        pytest.param("?q=SELECT 1 + 1", Statement("SELECT 1 + 1"), id=f"{READ}/q"),
        pytest.param("?q=SELECT+1", Statement("SELECT 1"), id=f"{READ}/q encoded"),
        pytest.param("?q=SELECT '?' AS a", Statement("SELECT '?' AS a"), id=f"{READ}/q with a question mark"),
    ],
)
def test_what_follows_selects(rest: str, expected: Selection) -> None:
    """All forms of the document."""
    assert parse_selection(rest) == expected


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        pytest.param(":t:1?limit=2", "row lookups take no query parameters", id=f"{READ}/row with parameters"),
        pytest.param(":t:", "row key is empty", id=f"{READ}/empty key"),
        pytest.param(":t?colour=red", "Unknown SQLite query parameter 'colour'", id=f"{READ}/unknown parameter"),
        pytest.param(":t?limit", "must be a whole number", id=f"{READ}/limit without value"),
        pytest.param(":t?limit=x", "must be a whole number of at least 1", id=f"{READ}/limit no number"),
        pytest.param(":t?limit=0", "must be a whole number of at least 1", id=f"{READ}/limit 0"),
        pytest.param(":t?limit=-1", "must be a whole number", id=f"{READ}/limit negative"),
        pytest.param(":t?offset=-1", "must be a whole number of at least 0", id=f"{READ}/offset negative"),
        pytest.param(":t?limit=1&limit=2", "given twice", id=f"{READ}/given twice"),
        pytest.param("?limit=5", "need a table", id=f"{READ}/limit without table"),
        pytest.param("?q=", "query is empty", id=f"{READ}/empty q"),
        pytest.param("?q=%20", "query is empty", id=f"{READ}/blank q"),
        pytest.param(":t?q=SELECT 1", "cannot be combined with a table", id=f"{READ}/q with table"),
        pytest.param("?q=SELECT 1&limit=2", "cannot be combined with other", id=f"{READ}/q with limit"),
    ],
)
def test_what_cannot_be_selected_is_said_early(rest: str, said: str) -> None:
    """read.md/Errors: unsupported parameter combinations are rejected before the database is opened."""
    with pytest.raises(ToolError, match=said):
        parse_selection(rest)


@pytest.mark.parametrize(
    ("rest", "expected"),
    [
        pytest.param(":t", RowTarget("t"), id="write.md/SQLite table insert/db.sqlite:table"),
        pytest.param(":t:4", RowTarget("t", "4"), id="write.md/SQLite row update/db.sqlite:table:key"),
        pytest.param(":t:a:b", RowTarget("t", "a:b"), id="write.md/SQLite row update/key with a colon"),
    ],
)
def test_a_row_to_write_is_named(rest: str, expected: RowTarget) -> None:
    """A table to insert into, or a row of it."""
    assert parse_target(rest) == expected


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        pytest.param(
            ":t?limit=1", "SQLite write paths do not support query parameters", id="write.md/Errors/parameters"
        ),
        pytest.param("?q=DELETE", "SQLite write paths do not support query parameters", id="write.md/Errors/q"),
        pytest.param("", "SQLite write path must target a table", id="write.md/Errors/no table"),
        pytest.param(":", "SQLite write path must target a table", id="write.md/Errors/empty table"),
        pytest.param("::4", "SQLite write path must target a table", id="write.md/Errors/only a key"),
        pytest.param(":t:", "SQLite row writes require a non-empty row key", id="write.md/Errors/empty key"),
        pytest.param(":t:  ", "SQLite row writes require a non-empty row key", id="write.md/Errors/blank key"),
    ],
)
def test_what_is_no_row_to_write_is_refused(rest: str, said: str) -> None:
    """Before the database is opened."""
    with pytest.raises(ToolError, match=said):
        parse_target(rest)


@pytest.mark.parametrize(
    "clause",
    [
        "a = 1",
        "name = 'a; -- LIMIT /* union'",
        '"limit" = 3 AND [order] = 4 AND `group` > 5',
        "a IN (SELECT b FROM other WHERE c = 'x')",
        "replace(a, 'x', 'y') = 'z'",
        "a LIKE 'it''s%' AND (b OR (c))",
        "limits > 3 AND borderline < 4",
    ],
)
def test_a_condition_passes(clause: str) -> None:
    """Words in quotes and in longer words are no keywords."""
    validate_where(clause)


@pytest.mark.parametrize(
    ("clause", "said"),
    [
        pytest.param("a = 1 -- x", "comments", id=f"{READ}/where: -- comment"),
        pytest.param("a = 1 /* x */", "comments", id=f"{READ}/where: /* comment"),
        pytest.param("a = 1; DROP TABLE t", "semicolon", id=f"{READ}/where: semicolon"),
        pytest.param("a = 1 LIMIT 5", "LIMIT", id=f"{READ}/where: LIMIT"),
        pytest.param("a = 1 oFFset 5", "OFFSET", id=f"{READ}/where: OFFSET"),
        pytest.param("1) UNION SELECT * FROM (x", "brackets|UNION", id=f"{READ}/where: UNION"),
        pytest.param("1 union all select 2", "UNION", id=f"{READ}/where: union"),
        pytest.param("ATTACH 'x'", "ATTACH", id=f"{READ}/where: ATTACH"),
        pytest.param("PRAGMA x", "PRAGMA", id=f"{READ}/where: PRAGMA"),
        pytest.param("1 ORDER BY a", "ORDER", id=f"{READ}/where: ORDER"),
        pytest.param("replace INTO t", "REPLACE", id=f"{READ}/where: REPLACE"),
        pytest.param("a = (1", "brackets", id=f"{READ}/where: bracket not closed"),
        pytest.param("a = 1) OR (1", "brackets", id=f"{READ}/where: brackets the wrong way"),
        pytest.param("a = 'x", "not closed", id=f"{READ}/where: quote not closed"),
        pytest.param('a = "x', "not closed", id=f"{READ}/where: name not closed"),
        pytest.param(" ", "empty", id=f"{READ}/where: empty"),
        pytest.param("a = \0", "NUL", id=f"{READ}/where: NUL"),
    ],
)
def test_more_than_a_condition_is_refused(clause: str, said: str) -> None:
    """With the word that is too much."""
    with pytest.raises(ToolError, match=said):
        validate_where(clause)


def test_a_database_is_told_by_its_first_bytes(tmp_path: Path) -> None:
    """read.md/SQLite databases: the suffix alone does not make one."""
    (tmp_path / "b.db").write_text("words")
    (tmp_path / "c.db").mkdir()
    assert is_sqlite_file(make_users(tmp_path / "a.db"))
    assert not any(is_sqlite_file(tmp_path / name) for name in ("b.db", "c.db", "d.db", "x" * 300, "a.db/x"))
