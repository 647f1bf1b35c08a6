"""Archive entries and database rows through the tool: which is meant, what is needed, what is told."""

import os
import sqlite3
from pathlib import Path

import pytest

from sightline.tools import Need, ToolError
from sightline.tools.archives import Archive
from sightline.tools.write import WriteTool

from ..archives.make import make_archive
from ..sqlite.make import make_users, rows
from ..support import make_context, run


def needs(folder: Path, path: str) -> list[Need]:
    tool = WriteTool()
    return tool.needs(tool.params(path=path, content=""), make_context(folder))


@pytest.mark.parametrize(
    ("path", "archive", "entry"),
    [
        pytest.param("fix/a.zip:t/email.txt", "fix/a.zip", "t/email.txt", id="write.md/Archive entry write/.zip"),
        pytest.param("b/a.tar.gz:css/app.css", "b/a.tar.gz", "css/app.css", id="write.md/Archive entry write/.tar.gz"),
        pytest.param("a.tgz:./x//y", "a.tgz", "x/y", id="write.md/Archive entry write/normalized"),
        pytest.param("a.tar:x", "a.tar", "x", id="write.md/Archive entry write/.tar"),
        pytest.param("a.zip:x.db:t", "a.zip", "x.db:t", id="write.md/Notes/archive before SQLite"),
        pytest.param("a.tar:b.zip:c", "a.tar:b.zip", "c", id="write.md/Flow 4/the longest archive path"),
    ],
)  # fmt: skip
async def test_an_archive_entry_is_written(tmp_path: Path, path: str, archive: str, entry: str) -> None:
    """The need names the archive; archive and folder are made."""
    context = make_context(tmp_path)
    assert [(need.access, need.what) for need in needs(tmp_path, path)] == [("write", str(context.cwd / archive))]
    outcome = await run(WriteTool(), context, path=path, content="grün\n")
    assert outcome.text == f"Successfully wrote 6 bytes to {archive}:{entry}"
    assert outcome.details == {"ui": {"kind": "resource"}}
    with Archive.open(context.cwd / archive) as opened:
        assert opened.read(entry).decode() == "grün\n"


async def test_an_archive_that_is_there_is_meant(tmp_path: Path) -> None:
    """Before a longer path that is not."""
    context = make_context(tmp_path)
    make_archive(context.cwd / "a.tar", {"x": b""})
    await run(WriteTool(), context, path="a.tar:b.zip:c", content="1")
    assert os.listdir(context.cwd) == ["a.tar"]
    with Archive.open(context.cwd / "a.tar") as opened:
        assert opened.read("b.zip:c") == b"1"


async def test_an_archive_behind_a_link_stays_behind_it(tmp_path: Path) -> None:
    """Outside the workspace too; the need names the real file."""
    context = make_context(tmp_path)
    make_archive(tmp_path / "real.zip", {"x": b""})
    (context.cwd / "a.zip").symlink_to("../real.zip")
    assert needs(tmp_path, "a.zip:x")[0].what == str(tmp_path / "real.zip")
    await run(WriteTool(), context, path="a.zip:x", content="1")
    assert (context.cwd / "a.zip").is_symlink()
    with Archive.open(tmp_path / "real.zip") as opened:
        assert opened.read("x") == b"1"


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("a.zip", "must target a file inside the archive", id="write.md/Errors/archive itself"),
        pytest.param("a.zip:", "must target a file inside the archive", id="write.md/Errors/no entry"),
        pytest.param("a.zip:d/", "must target a file, not a directory", id="write.md/Errors/directory entry"),
        pytest.param("a.zip:../x", r"Archive path cannot contain '\.\.'", id="write.md/Errors/.. in entry"),
        pytest.param("a.zip:x/../../y", r"Archive path cannot contain '\.\.'", id="write.md/Errors/.. deeper in entry"),
    ],
)
async def test_an_entry_that_cannot_be_is_refused_first(tmp_path: Path, path: str, said: str) -> None:
    """Before anyone is asked; no archive is made."""
    context = make_context(tmp_path)
    with pytest.raises(ToolError, match=said):
        needs(tmp_path, path)
    with pytest.raises(ToolError, match=said):
        await run(WriteTool(), context, path=path, content="x")
    assert os.listdir(context.cwd) == []


async def test_a_damaged_archive_is_left(tmp_path: Path) -> None:
    """write.md/Errors: archive failures become a ToolError."""
    context = make_context(tmp_path)
    (context.cwd / "a.zip").write_bytes(b"no zip")
    with pytest.raises(ToolError, match="damaged"):
        await run(WriteTool(), context, path="a.zip:x", content="x")
    assert (context.cwd / "a.zip").read_bytes() == b"no zip"


@pytest.mark.parametrize(
    ("path", "content", "said", "check", "expected"),
    [
        pytest.param(
            "d/app.db:users", "{name: 'Ada', active: true}", "Inserted row into users", "SELECT count(*) FROM users", 4,
            id="write.md/SQLite table insert",
        ),
        pytest.param(
            "d/app.db:users:42", "{name: 'x'}", "Updated row '42' in users", "SELECT name FROM users WHERE id=42", "x",
            id="write.md/SQLite row update",
        ),
        pytest.param(
            "d/app.db:users:42", "", "Deleted row '42' from users", "SELECT count(*) FROM users", 2,
            id="write.md/SQLite row delete",
        ),
        pytest.param(
            "d/app.db:users:7", "", "No row deleted: users has no row '7'", "SELECT count(*) FROM users", 3,
            id="write.md/SQLite row delete/none",
        ),
    ],
)  # fmt: skip
async def test_a_row_is_written(
    tmp_path: Path, path: str, content: str, said: str, check: str, expected: object
) -> None:
    """The need and the source name the database."""
    context = make_context(tmp_path)
    (context.cwd / "d").mkdir()
    database = make_users(context.cwd / "d/app.db")
    assert [(need.access, need.what) for need in needs(tmp_path, path)] == [("write", str(database))]
    outcome = await run(WriteTool(), context, path=path, content=content)
    assert outcome.text == said
    assert outcome.details["meta"] == {"source_path": "d/app.db"}
    assert rows(database, check) == [(expected,)]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        pytest.param("no.db:t", r"SQLite database 'no\.db' not found", id="write.md/Errors/missing database"),
        pytest.param("no.sqlite:t:1", "SQLite database .* not found", id="write.md/Errors/missing, row"),
        pytest.param("app.db", "must target a table", id="write.md/Errors/database itself"),
        pytest.param("no.db", "must target a table", id="write.md/Errors/missing database itself"),
        pytest.param("app.db:users?limit=1", "do not support query parameters", id="write.md/Errors/parameters"),
        pytest.param("app.db:users:", "require a non-empty row key", id="write.md/Errors/empty key"),
        pytest.param("app.db:", "must target a table", id="write.md/Errors/no table"),
    ],
)
async def test_a_row_that_cannot_be_is_refused_first(tmp_path: Path, path: str, said: str) -> None:
    """Before anyone is asked; no database is made."""
    context = make_context(tmp_path)
    make_users(context.cwd / "app.db")
    with pytest.raises(ToolError, match=said):
        needs(tmp_path, path)
    with pytest.raises(ToolError, match=said):
        await run(WriteTool(), context, path=path, content="{}")
    assert os.listdir(context.cwd) == ["app.db"]


async def test_a_file_with_the_name_of_a_database_is_a_file(tmp_path: Path) -> None:
    """write.md/Notes: an existing file without the magic bytes is written as a plain file."""
    context = make_context(tmp_path)
    (context.cwd / "notes.db").write_text("words")
    await run(WriteTool(), context, path="notes.db", content="other words")
    assert (context.cwd / "notes.db").read_text() == "other words"


async def test_a_database_is_never_overwritten_with_text(tmp_path: Path) -> None:
    """A path without a table is a mistake, not a file."""
    context = make_context(tmp_path)
    database = make_users(context.cwd / "app.db")
    with pytest.raises(ToolError):
        await run(WriteTool(), context, path="app.db", content="words")
    assert rows(database, "SELECT count(*) FROM users") == [(3,)]


async def test_the_error_of_a_database_reaches_the_model(tmp_path: Path) -> None:
    """write.md/Errors: unexpected exceptions are wrapped."""
    context = make_context(tmp_path)
    make_users(context.cwd / "app.db")
    with pytest.raises(ToolError, match="NOT NULL constraint failed") as caught:
        await run(WriteTool(), context, path="app.db:users", content="{age: 1}")
    assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)
