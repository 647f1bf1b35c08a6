"""Symlink loops, folders that cannot be read and lone surrogates are clear errors, for every tool."""

import os
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from sightline.tools import ToolContext, ToolError, builtin_tools, parameters
from sightline.tools.files import _ripgrep
from sightline.tools.search import _engine
from tests.tools.support import make_context

TOOLS = {tool.name: tool for tool in builtin_tools()}
LOOP = "symlink loop"


@pytest.fixture
def context(tmp_path: Path) -> ToolContext:
    context = make_context(tmp_path)
    (context.cwd / "loop").symlink_to("loop")
    (context.cwd / "ok.txt").write_text("needle\n")
    (context.cwd / "locked").mkdir()
    (context.cwd / "locked" / "in.txt").write_text("needle\n")
    return context


@pytest.fixture
def locked(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """As for a user who may not look into that folder: root may, whatever its mode."""
    opening = _ripgrep.open_folder

    def open_folder(folder: Any) -> int:
        if os.path.basename(folder) == "locked":
            raise PermissionError(13, "Permission denied", str(folder))
        return opening(folder)

    monkeypatch.setattr(_ripgrep, "open_folder", open_folder)


async def called(name: str, context: ToolContext, **args: Any) -> str:
    """What the model reads, as the loop calls a tool."""
    tool = TOOLS[name]
    params = parameters(tool, args)
    tool.needs(params, context)
    return (await tool.execute(params, context)).text


CALLS: list[tuple[str, dict[str, Any]]] = [
    ("read", {"path": "PATH"}),
    ("search", {"pattern": "needle", "paths": ["PATH"]}),
    ("find", {"paths": ["PATH"]}),
    ("find", {"paths": ["PATH/*.py"]}),
    ("bash", {"command": "true", "cwd": "PATH"}),
]


def filled(args: Any, path: str) -> Any:
    if isinstance(args, dict):
        return {key: filled(value, path) for key, value in args.items()}
    return [filled(one, path) for one in args] if isinstance(args, list) else args.replace("PATH", path)


@pytest.mark.parametrize("path", ["loop", "loop/x"])
@pytest.mark.parametrize(("name", "args"), CALLS)
async def test_a_symlink_loop(name: str, args: dict[str, Any], path: str, context: ToolContext) -> None:
    with pytest.raises(ToolError, match=LOOP):
        await called(name, context, **filled(args, path))


async def test_a_symlink_loop_is_not_written_or_edited(context: ToolContext) -> None:
    with pytest.raises(ToolError, match=r"leads back to itself|symlink loop"):
        await called("write", context, path="loop", content="x")
    with pytest.raises(ToolError, match=LOOP):
        await called("edit", context, input="¶loop#ABCD\nreplace 1..1:\n+x")


@pytest.mark.usefixtures("locked")
@pytest.mark.parametrize("name", ["search", "find"])
async def test_a_folder_that_cannot_be_read(name: str, context: ToolContext) -> None:
    """It was a bug of the program, not an error of the call."""
    args = {"pattern": "needle"} if name == "search" else {}
    with pytest.raises(ToolError, match=r"locked.*permission denied"):
        await called(name, context, paths=["locked"], **args)


@pytest.mark.usefixtures("locked")
async def test_search_says_what_it_could_not_read(context: ToolContext, monkeypatch: pytest.MonkeyPatch) -> None:
    """And searches the rest."""
    opening = _engine.open_regular
    (context.cwd / "closed.txt").write_text("needle\n")

    def open_regular(path: Any, *rest: Any) -> int:
        if str(path).endswith("closed.txt"):
            raise PermissionError(13, "Permission denied", str(path))
        return opening(path, *rest)

    monkeypatch.setattr(_engine, "open_regular", open_regular)
    tool = TOOLS["search"]
    params = parameters(tool, {"pattern": "needle", "paths": ["closed.txt", "loop", "locked", "ok.txt"]})
    outcome = await tool.execute(params, context)
    assert "*1:needle" in outcome.text
    cwd = context.cwd
    reasons = [f"loop (it is a {LOOP} (the links lead back to themselves))"]
    reasons += [f"{cwd / 'closed.txt'} (permission denied)", f"{cwd / 'locked'} (permission denied)"]
    assert f"Could not read: {', '.join(reasons)}" in outcome.text
    assert outcome.details["unreadable_paths"] == reasons
    with pytest.raises(ToolError, match=r"Cannot search .*closed\.txt \(permission denied\)"):
        await called("search", context, pattern="needle", paths=["closed.txt"])


@pytest.mark.usefixtures("locked")
async def test_find_lists_the_rest_and_says_what_it_could_not_read(context: ToolContext) -> None:
    """One of several paths that cannot be read was an error of the whole call."""
    tool = TOOLS["find"]
    params = parameters(tool, {"paths": ["locked", "loop/x", "gone", "ok.txt", "locked/*.txt"]})
    tool.needs(params, context)
    outcome = await tool.execute(params, context)
    loop = f"it is a {LOOP} (the links lead back to themselves)"
    reasons = ["locked (permission denied)", f"loop/x ({loop})", "locked/*.txt (permission denied)"]
    assert outcome.text == "\n\n".join(
        ["ok.txt", "Skipped missing paths: gone", f"Could not read: {', '.join(reasons)}"]
    )
    assert outcome.details["files"] == ["ok.txt"]
    assert outcome.details["unreadable_paths"] == reasons
    with pytest.raises(ToolError, match=r"Cannot look into locked \(permission denied\); loop/x"):
        await called("find", context, paths=["locked", "loop/x"])


HALVES: list[tuple[str, dict[str, Any], str]] = [
    ("read", {"path": "a\ud800"}, "path"),
    ("search", {"pattern": "\ud800", "paths": "."}, "pattern"),
    ("search", {"pattern": "x", "paths": ["a", "\udfff"]}, "paths"),
    ("find", {"paths": ["\ud800"]}, "paths"),
    ("write", {"path": "x", "content": "\ud83d"}, "content"),
    ("edit", {"input": "¶a#ABCD\nreplace 1..1:\n+\ud800"}, "input"),
    ("bash", {"command": "echo \ud800"}, "command"),
    ("ask", {"question": "\ud800"}, "question"),
    ("ask", {"question": "x", "choices": [{"label": "\ud800"}]}, "choices"),
    ("todo", {"ops": [{"op": "append", "phase": "p", "items": ["\ud800"]}]}, "ops"),
    ("job", {"poll": ["\ud800"]}, "poll"),
]


@pytest.mark.parametrize(("name", "args", "argument"), HALVES)
def test_half_a_character(name: str, args: dict[str, Any], argument: str) -> None:
    with pytest.raises(ToolError, match=rf"{name}: `{argument}` has a lone surrogate in it \(U\+D"):
        parameters(TOOLS[name], args)


def test_bytes_of_a_name_are_no_half_characters() -> None:
    assert parameters(TOOLS["read"], {"path": "bad\udcff.txt"}).path == "bad\udcff.txt"


async def edit_error(context: ToolContext, *sections: str) -> str:
    with pytest.raises(ToolError) as error:
        await called("edit", context, input="\n".join(sections))
    return str(error.value)


async def test_an_error_in_a_patch_of_several_files_names_the_file_and_the_line(context: ToolContext) -> None:
    (context.cwd / "b.txt").write_text("one\n")
    tags = {}
    for name in ("ok.txt", "b.txt"):
        tags[name] = (await called("read", context, path=name)).split("\n")[0]
    first = f"{tags['ok.txt']}\nreplace 1..1:\n+x"
    where = "In ¶b.txt (line 4 of the patch; none of its 2 files was changed): "
    beyond = await edit_error(context, first, f"{tags['b.txt']}\nreplace 7..7:\n+x")
    assert beyond.startswith(f"{where}Line 7 does not exist")
    stale = await edit_error(context, first, "¶b.txt#0000\nreplace 1..1:\n+x")
    assert stale.startswith(f"{where}#0000 was never given")
    twice = await edit_error(context, first, f"{tags['b.txt']}\nreplace 1..1:\n+x\ndelete 1..1")
    assert twice.startswith(f"{where}line 7: anchor line 1 is already targeted")
    wrong = await edit_error(context, first, f"{tags['b.txt']}\n-x")
    assert wrong.startswith("In ¶b.txt, line 5: ")
    assert (context.cwd / "ok.txt").read_text() == "needle\n"


async def test_an_error_in_a_patch_of_one_file_is_as_it_was(context: ToolContext) -> None:
    tag = (await called("read", context, path="ok.txt")).split("\n")[0]
    assert (await edit_error(context, f"{tag}\nreplace 7..7:\n+x")).startswith("Line 7 does not exist")


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (
            {"path": "d.db?q=SELECT nope FROM users"},
            "d.db has no such column: nope. Read d.db:TABLE to see its columns",
        ),
        ({"path": "d.db?q=SELECT * FROM nope"}, "d.db has no such table: nope."),
        ({"path": "d.db?q=SELEC 1"}, 'The SQL for d.db has a mistake: near "SELEC": syntax error. Correct it there.'),
        ({"path": "d.db?q=SELECT nope(1)"}, "SQLite has no such function: nope here (d.db)."),
        (
            {"path": "d.db:users", "content": "{id: 1, name: 'x'}"},
            "The row was not written to d.db: UNIQUE constraint failed: users.id. Give values that the table allows.",
        ),
    ],
)
async def test_sqlite_errors_are_sentences(call: dict[str, Any], said: str, context: ToolContext) -> None:
    """What happened, where, and what to try."""
    with sqlite3.connect(context.cwd / "d.db") as database:
        database.execute("create table users (id integer primary key, name text)")
        database.execute("insert into users values (1, 'a')")
    database.close()
    with pytest.raises(ToolError) as error:
        await called("write" if "content" in call else "read", context, **call)
    assert str(error.value).startswith(said)
