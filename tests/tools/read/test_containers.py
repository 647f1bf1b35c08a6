"""What is in archives, databases, notebooks and conflicts, through the read tool."""

import io
import json
import sqlite3
import tarfile
import zipfile
from pathlib import Path

import pytest

from sightline.tools import Outcome, ToolContext, ToolError
from sightline.tools.read import ReadTool
from tests.tools.support import make_context, run

TEXT = "".join(f"line {number}\n" for number in range(1, 21))
ENTRIES = {"src/a.txt": TEXT.encode(), "src/raw.bin": b"\xff\xfe\x00\x01", "top.md": b"# top\n", "none": b""}


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    return make_context(tmp_path)


async def read(context: ToolContext, path: str) -> Outcome:
    return await run(ReadTool(), context, path=path)


def archive(path: Path) -> None:
    if path.suffix == ".zip":
        with zipfile.ZipFile(path, "w") as target:
            for name, data in ENTRIES.items():
                target.writestr(name, data)
        return
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as target:
        for name, data in ENTRIES.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            target.addfile(info, io.BytesIO(data))


@pytest.mark.parametrize("kind", [pytest.param(kind, id=f"read.md/Archives/{kind}") for kind in
                                  ("zip", "tar", "tar.gz", "tgz")])  # fmt: skip
async def test_archives_are_read_like_folders_and_files(context: ToolContext, kind: str) -> None:
    """Listings with sizes, entries with lines, binary entries told of."""
    name = f"a.{kind}"
    archive(context.cwd / name)
    top = await read(context, name)
    assert {"src/", "top.md (6 B)", "none"} <= set(top.text.split("\n"))
    assert top.details["is_directory"]
    assert "a.txt (" in (await read(context, f"{name}:src")).text
    assert "a.txt (" in (await read(context, f"{name}:./src/")).text
    lines = (await read(context, f"{name}:src/a.txt:5-6")).text.split("\n")
    assert lines == [f"{number}:line {number}" for number in range(4, 10)]
    assert (await read(context, f"{name}:src/a.txt:5-6:raw")).text == "line 5\nline 6"
    binary = await read(context, f"{name}:src/raw.bin")
    assert binary.text == "[Cannot read binary archive entry 'src/raw.bin' (4 B)]"
    assert not binary.is_error


@pytest.mark.parametrize(
    ("path", "words"),
    [
        pytest.param("a.zip:../x", "'..'", id="read.md/Archives/.. is rejected"),
        pytest.param("a.zip:gone", "not found", id="read.md/Archives/missing entry"),
        pytest.param("a.zip:src/a.txt:conflicts", ":conflicts", id="read.md/Archives/no conflicts there"),
    ],
)
async def test_what_an_archive_does_not_have_is_an_error(context: ToolContext, path: str, words: str) -> None:
    """A ToolError with what to do."""
    archive(context.cwd / "a.zip")
    with pytest.raises(ToolError, match=words):
        await read(context, path)


async def test_a_missing_archive_is_found_by_its_end(context: ToolContext) -> None:
    """read.md/Errors: what follows the archive stays as it was."""
    (context.cwd / "deep").mkdir()
    archive(context.cwd / "deep/a.zip")
    outcome = await read(context, "a.zip:src/a.txt:5-6")
    assert outcome.text.startswith("[Path 'a.zip' not found; resolved to 'deep/a.zip' via suffix match]\n4:line 4\n")


async def test_an_entry_beyond_its_end_is_explained(context: ToolContext) -> None:
    """As for a file."""
    archive(context.cwd / "a.zip")
    assert "Line 99 is beyond the end of the entry (20 lines)" in (await read(context, "a.zip:src/a.txt:99")).text


@pytest.fixture
def database(context: ToolContext) -> str:
    with sqlite3.connect(context.cwd / "x.db") as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
        connection.executemany("INSERT INTO people (name) VALUES (?)", [(f"name{n}",) for n in range(30)])
    connection.close()
    return "x.db"


@pytest.mark.parametrize(
    ("rest", "shape", "words"),
    [
        pytest.param("", "list", "people (30 rows)", id="read.md/SQLite databases/list"),
        pytest.param(":people", "schema", "CREATE TABLE people", id="read.md/SQLite databases/schema"),
        pytest.param(":people:3", "row", "name2", id="read.md/SQLite databases/row"),
        pytest.param(":people?limit=2&offset=4", "query", "name4", id="read.md/SQLite databases/query"),
        pytest.param("?q=SELECT count(*) AS n FROM people", "raw", "30", id="read.md/SQLite databases/raw"),
    ],
)
@pytest.mark.usefixtures("database")
async def test_databases_are_read_by_their_own_selectors(
    context: ToolContext, rest: str, shape: str, words: str
) -> None:
    """Dispatched on what follows the database."""
    outcome = await read(context, f"x.db{rest}")
    assert words in outcome.text
    assert (outcome.details["ui"]["kind"], outcome.details["ui"]["shape"]) == ("table", shape)


@pytest.mark.usefixtures("database")
async def test_a_database_mistake_is_a_tool_error(context: ToolContext) -> None:
    """read.md/Errors: unsupported combinations are rejected early."""
    with pytest.raises(ToolError, match="nope"):
        await read(context, "x.db:people?nope=1")


async def test_a_file_named_like_a_database_is_read_as_what_it_is(context: ToolContext) -> None:
    """read.md/SQLite databases: the extension and the header both have to fit."""
    (context.cwd / "x.db").write_text("just text\n")
    assert "1:just text" in (await read(context, "x.db")).text


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "metadata": {}, "source": ["# Title"]},
        {"cell_type": "code", "metadata": {}, "outputs": [], "execution_count": None, "source": ["x = 1\n", "y = 2"]},
    ],
    "metadata": {},
    "nbformat": 4,
    "nbformat_minor": 5,
}


async def test_a_notebook_is_text_with_markers(context: ToolContext) -> None:
    """read.md/Jupyter notebooks: editable text; raw is the file itself."""
    (context.cwd / "a.ipynb").write_text(json.dumps(NOTEBOOK, indent=1))
    text = (await read(context, "a.ipynb")).text
    assert text.startswith("¶a.ipynb#")
    assert text.split("\n")[1:] == [
        "1:# %% [markdown] cell:0",
        "2:# Title",
        "3:# %% [code] cell:1",
        "4:x = 1",
        "5:y = 2",
    ]
    assert (await read(context, "a.ipynb:4-4")).text.split("\n")[1:] == ["3:# %% [code] cell:1", "4:x = 1", "5:y = 2"]
    assert (await read(context, "a.ipynb:raw")).text.startswith('{\n "cells"')


async def test_a_broken_notebook_names_the_way_out(context: ToolContext) -> None:
    """Its bytes can still be read raw."""
    (context.cwd / "a.ipynb").write_text("{]")
    with pytest.raises(ToolError, match=":raw"):
        await read(context, "a.ipynb")
    assert (await read(context, "a.ipynb:raw")).text == "{]"


CONFLICT = "a\n<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\nb\n"


async def test_conflicts_are_shown_and_their_sides_read(context: ToolContext) -> None:
    """read.md/Selector grammar: :conflicts gives ids, conflict:// reads by them."""
    (context.cwd / "a.txt").write_text(CONFLICT)
    outcome = await read(context, "a.txt:conflicts")
    assert "conflict://1 lines 2-6" in outcome.text
    assert (await read(context, "conflict://1/ours")).text == "1:ours"
    assert (await read(context, "conflict://1/theirs:raw")).text == "theirs"
    (context.cwd / "b.txt").write_text("fine\n")
    assert "No unresolved conflicts" in (await read(context, "b.txt:conflicts")).text
    with pytest.raises(ToolError, match="conflict 7"):
        await read(context, "conflict://7")


async def test_a_binary_file_has_no_conflicts_to_show(context: ToolContext) -> None:
    """It is refused in words."""
    (context.cwd / "a.bin").write_bytes(b"\0\1\2")
    with pytest.raises(ToolError, match="binary"):
        await read(context, "a.bin:conflicts")
