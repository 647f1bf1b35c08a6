"""What a person is asked about is what is done: all of it is in the request, and nothing else is written."""

import asyncio
import sqlite3
import zipfile
from pathlib import Path
from typing import Any

import pytest

from sightline.actors import all_details
from sightline.events import ToolResult
from tests.agent.support import Lab, kept, lab
from tests.agent.test_approvals import answered, outside


def write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write", "args": {"path": path, "content": content}}


async def asked(here: Lab) -> dict[str, Any]:
    """The open request, as a view that has just come folds it."""
    await here.agent.prompt("go")
    async with asyncio.timeout(20):
        async for _ in here.session.subscribe():
            if here.session.waiting:
                break
    (request,) = here.session.snapshot().requests.values()
    return dict(request)


def details_of(here: Lab, request: dict[str, Any]) -> dict[str, Any]:
    """As a view has them."""
    return all_details(here.session.folder, request)


async def answer(here: Lab, request: dict[str, Any], choice: str) -> list[ToolResult]:
    """Answer, and the results there are when it is over."""
    assert here.agent.requests.answer(request["id"], choice)
    await asyncio.wait_for(here.agent.wait(), 20)
    here.session.flush()
    return [event for event in kept(here.session.folder.parents[2], here.session.id) if isinstance(event, ToolResult)]


@pytest.mark.parametrize("lines", [1, 457, 2001, 4000, 5001, 40_000])
async def test_a_write_shows_every_line_it_writes(tmp_path: Path, lines: int) -> None:
    """However many there are, with true counts; the event itself stays small."""
    content = "".join(f"line {number} of it\n" for number in range(lines))
    async with lab(tmp_path, [[write("../new.txt", content)], [{"text": "ok"}]], attended=True) as here:
        request = await asked(here)
        details = details_of(here, request)
        shown = [row[1:] for row in details["diff"].split("\n") if row.startswith("+line")]
        assert shown == content.split("\n")[:-1]
        assert (details["added"], details["removed"]) == (lines, 0)
        assert "unseen" not in details
        assert len(repr(request["details"])) < 80_000
        await answer(here, request, "once")
    assert (tmp_path / "new.txt").read_text() == content


async def test_what_is_stored_of_a_request_goes_with_its_answer(tmp_path: Path) -> None:
    """And is nothing an agent can read meanwhile: it may show what a rule keeps from it."""
    content = "x" * 200_000
    async with lab(tmp_path, [[write("../new.txt", content)], [{"text": "ok"}]], attended=True) as here:
        request = await asked(here)
        (stored,) = (here.session.folder / "asked").iterdir()
        assert stored.stat().st_mode & 0o777 == 0o600
        assert stored.parent.stat().st_mode & 0o777 == 0o700
        assert here.agent.workplace.artifacts.find(f"artifact://{here.session.id}/{stored.name}") is None
        await answer(here, request, "no")
        assert not stored.exists()


async def test_a_long_command_is_in_the_request_whole(tmp_path: Path) -> None:
    """No event cuts it."""
    command = "echo start; " + "true " * 60_000 + "; echo end"
    async with lab(tmp_path, [[outside(command)], [{"text": "ok"}]], approval="edit", attended=True) as here:
        request = await asked(here)
        assert details_of(here, request)["what"] == command
        await answer(here, request, "no")


async def test_what_cannot_be_seen_in_a_command_is_a_sign(tmp_path: Path) -> None:
    """`what` is still what rules decide on."""
    command = "echo ok\r\u202e\u200b\u00a0 # \x1b[2K"
    async with lab(tmp_path, [[outside(command)], [{"text": "ok"}]], approval="edit", attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        assert request.details["shown"] == "echo ok␍⟨U+202E⟩⟨U+200B⟩⟨U+00A0⟩ # ␛[2K"
        assert request.details["args"]["command"] == request.details["shown"]


async def test_a_carriage_return_in_a_file_is_seen(tmp_path: Path) -> None:
    """It is one line, whatever some programs make of it."""
    async with lab(tmp_path, [[write("../x", "one\rtwo\n")], [{"text": "ok"}]], attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        assert "\n+one␍two\n" in request.details["diff"]


def archive(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as made:
        made.writestr("a.txt", "old\n")


def database(path: Path) -> None:
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT)")
        made.execute("INSERT INTO people VALUES (1, 'Ada')")
    made.close()


@pytest.mark.parametrize(
    ("target", "content", "rows"),
    [
        ("a.zip:a.txt", "new\n", ["-old", "+new"]),
        ("a.zip:b.txt", "new\n", ["--- /dev/null", "+new"]),
        ("made.tar.gz:b.txt", "new\n", ["--- /dev/null", "+new"]),
        ("db.sqlite:people", "{name: 'Eve'}", ['+name: "Eve"']),
        ("db.sqlite:people:1", "{name: 'Eve'}", ['-name: "Ada"', '+name: "Eve"']),
        ("db.sqlite:people:1", "", ['-name: "Ada"']),
    ],
)
async def test_archives_and_databases_show_what_they_lose_and_get(
    tmp_path: Path, target: str, content: str, rows: list[str]
) -> None:
    """An entry and a row have their diff like any file."""
    outside_folder = tmp_path / "else"
    outside_folder.mkdir()
    archive(outside_folder / "a.zip")
    database(outside_folder / "db.sqlite")
    async with lab(tmp_path, [[write(f"../else/{target}", content)], [{"text": "ok"}]], attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        diff = request.details["diff"].split("\n")
        assert all(row in diff for row in rows), diff


async def test_a_resolution_of_conflicts_shows_the_files(tmp_path: Path) -> None:
    """Before and after, marker by marker."""
    other = tmp_path / "else"
    other.mkdir()
    (other / "c.txt").write_text("a\n<<<<<<< ours\nmine\n=======\nyours\n>>>>>>> theirs\nz\n")
    turns = [
        [{"tool": "read", "args": {"path": "../else/c.txt:conflicts"}}],
        [write("conflict://1", "@ours")],
        [{"text": "ok"}],
    ]
    async with lab(tmp_path, turns, allow=["read"], attended=True) as here:
        request = await answered(here, "once")
        await here.ended()
        assert "\n-=======\n-yours\n" in request.details["diff"]
    assert (other / "c.txt").read_text() == "a\nmine\nz\n"


@pytest.mark.parametrize("before", [b"\x00\x01binary", b"\0" * 17_000_000])
async def test_what_cannot_be_shown_is_said_first(tmp_path: Path, before: bytes) -> None:
    """And the new content is still there."""
    (tmp_path / "x.bin").write_bytes(before)
    async with lab(tmp_path, [[write("../x.bin", "new\n")], [{"text": "ok"}]], attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        assert "only the new content is shown" in request.details["unseen"]
        assert "+new" in request.details["diff"]


async def test_a_program_says_that_it_is_made_executable(tmp_path: Path) -> None:
    """The diff does not."""
    async with lab(tmp_path, [[write("../x", "#!/bin/sh\n")], [{"text": "ok"}]], attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        assert request.details["about"] == "it is made executable"


@pytest.mark.parametrize("new_file", [False, True])
async def test_a_file_that_changed_while_it_was_decided_is_not_written(tmp_path: Path, new_file: bool) -> None:
    """The person saw another change than the one that would be made."""
    target = tmp_path / "shared.txt"
    if not new_file:
        target.write_text("one\n")
    async with lab(tmp_path, [[write("../shared.txt", "mine\n")], [{"text": "ok"}]], attended=True) as here:
        request = await asked(here)
        target.write_text("theirs\n")
        (result,) = await answer(here, request, "once")
        assert "changed while the call was being approved" in result.content
    assert target.read_text() == "theirs\n"


async def test_bytes_that_a_diff_does_not_tell_apart_count_too(tmp_path: Path) -> None:
    """A binary file that changed is a change."""
    target = tmp_path / "x.bin"
    target.write_bytes(b"\x00one")
    async with lab(tmp_path, [[write("../x.bin", "mine\n")], [{"text": "ok"}]], attended=True) as here:
        request = await asked(here)
        target.write_bytes(b"\x00two")
        assert (await answer(here, request, "once"))[0].is_error
    assert target.read_bytes() == b"\x00two"


@pytest.mark.parametrize(
    ("call", "leaves"),
    [
        (outside(), True),
        (write("../x", "x"), True),
        (write(".git/hooks/pre-commit", "x"), True),
        ({"tool": "read", "args": {"path": "../x"}}, False),
    ],
)
async def test_what_leaves_the_sandbox_is_said(tmp_path: Path, call: dict[str, Any], leaves: bool) -> None:
    """A view preselects no yes for it."""
    (tmp_path / "x").write_text("x")
    async with lab(tmp_path, [[call], [{"text": "ok"}]], approval="edit", attended=True) as here:
        request = await answered(here, "no")
        await here.ended()
        assert request.details["leaves"] is leaves


async def test_the_change_shown_for_an_edit_is_whole(tmp_path: Path) -> None:
    """Also where it is longer than a result shows of it."""
    body = "\n".join(f"+row {number} {'x' * 40}" for number in range(3000))
    call = {"tool": "edit", "args": {"input": f"¶../made.txt\ninsert head:\n{body}"}}
    async with lab(tmp_path, [[call], [{"text": "ok"}]], attended=True) as here:
        request = await asked(here)
        details = details_of(here, request)
        assert details["added"] == 3000
        assert f"+row 2999 {'x' * 40}" in details["diff"]
        await answer(here, request, "no")
