"""What stands for a secret value becomes that value again only in a file that held it, in place of what held it."""

import base64
import sqlite3
import tarfile
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from sightline.conversation import ToolMessage, text_of
from sightline.events import Request, ToolResult
from sightline.secrets import Secrets
from sightline.tools.hashline import Snapshots
from tests.agent.support import lab

KEY = "sk-live-0123456789abcdef"
MARK = "[secret MY_API_KEY]"
ENVIRON = {"MY_API_KEY": KEY}


def write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write", "args": {"path": path, "content": content}}


def edit(patch: str) -> dict[str, Any]:
    return {"tool": "edit", "args": {"input": patch}}


async def run(tmp_path: Path, *calls: dict[str, Any], files: dict[str, str] | None = None) -> list[ToolResult]:
    """The results of calls made one after the other, in a folder with these files."""
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    for name, content in (files or {}).items():
        (work / name).write_text(content)
    async with lab(tmp_path, [*([call] for call in calls), [{"text": "ok"}]], environ=ENVIRON) as here:
        await here.run()
        assert KEY not in repr(here.seen)
        assert not any(KEY in text_of(message) for message in here.messages if isinstance(message, ToolMessage))
        return here.of(ToolResult)


async def test_a_long_line_is_not_cut_within_a_value(tmp_path: Path) -> None:
    """Half of it would not be found to be masked."""
    line = "x" * 225 + KEY
    tag = Snapshots().record(tmp_path / "work" / "a.txt", f"{line}\nlast\n")
    calls = ({"tool": "read", "args": {"path": "a.txt"}}, edit(f"¶a.txt#{tag}\nreplace 2:\n+mine"))
    _, result = await run(tmp_path, *calls, files={"a.txt": f"{line}\nlast\n"})
    assert " 1:xxx" in result.content
    assert KEY[:8] not in result.content


def secrets_of(result: ToolResult) -> Any:
    return (result.details or {}).get("secrets")


async def test_a_file_that_held_the_value_holds_it_again(tmp_path: Path) -> None:
    """A model gives back what it read. That it is so is a fact of the result."""
    result, *_ = await run(tmp_path, write("conf.py", f"K = '{MARK}'\nx = 1\n"), files={"conf.py": f"K = '{KEY}'\n"})
    assert (tmp_path / "work" / "conf.py").read_text() == f"K = '{KEY}'\nx = 1\n"
    assert secrets_of(result) == {"restored": ["MY_API_KEY"], "left": []}
    assert "Restored 1 secret value: MY_API_KEY" in result.content


@pytest.mark.parametrize("existing", [None, "K = ''\n", f"K = '{MARK}'\n", f"K = '{KEY[:-1]}'\n"])
async def test_a_file_that_did_not_hold_the_value_never_does(tmp_path: Path, existing: str | None) -> None:
    """A new one, one without it, one that holds the words already: the words stay, and the model is told."""
    files = {} if existing is None else {"conf.py": existing}
    result, *_ = await run(tmp_path, write("conf.py", f"KEY = '{MARK}'\n"), files=files)
    assert (tmp_path / "work" / "conf.py").read_text() == f"KEY = '{MARK}'\n"
    assert secrets_of(result) == {"restored": [], "left": ["MY_API_KEY"]}
    assert "Written as these words, not as the value" in result.content


async def test_it_is_restored_no_more_often_than_it_was_there(tmp_path: Path) -> None:
    """A second one is words."""
    result, *_ = await run(tmp_path, write("a", f"{MARK} {MARK} {MARK}"), files={"a": f"{KEY}\n{KEY}"})
    assert (tmp_path / "work" / "a").read_text() == f"{KEY} {KEY} {MARK}"
    assert secrets_of(result) == {"restored": ["MY_API_KEY"] * 2, "left": ["MY_API_KEY"]}


async def test_another_encoding_is_restored_as_it_was(tmp_path: Path) -> None:
    """What stands for base64 becomes the base64 of that file, and only that."""
    coded = base64.b64encode(KEY.encode()).decode()
    content = f"data: [secret MY_API_KEY in base64]\nplain: {MARK}\n"
    await run(tmp_path, write("s.yaml", content), files={"s.yaml": f"data: {coded}\n"})
    assert (tmp_path / "work" / "s.yaml").read_text() == f"data: {coded}\nplain: {MARK}\n"


async def test_an_edit_restores_what_its_own_lines_held(tmp_path: Path) -> None:
    """The line with the value is replaced by one that names it."""
    calls = [
        {"tool": "read", "args": {"path": "conf.py"}},
        edit("¶conf.py#TAG\nreplace 2..2:\n+NAME = '[secret MY_API_KEY]'\n"),
    ]
    before = f"import os\nK = '{KEY}'\nx = 1\n"
    text, result = await edited(tmp_path, before, calls)
    assert text == f"import os\nNAME = '{KEY}'\nx = 1\n"
    assert secrets_of(result) == {"restored": ["MY_API_KEY"], "left": []}


async def test_an_edit_does_not_copy_a_value_within_its_file(tmp_path: Path) -> None:
    """The line that holds it stays, so the one that is added gets the words."""
    calls = [
        {"tool": "read", "args": {"path": "conf.py"}},
        edit("¶conf.py#TAG\ninsert tail:\n+print('[secret MY_API_KEY]')\n"),
    ]
    text, result = await edited(tmp_path, f"K = '{KEY}'\n", calls)
    assert text == f"K = '{KEY}'\nprint('{MARK}')\n"
    assert secrets_of(result) == {"restored": [], "left": ["MY_API_KEY"]}


async def test_an_edit_moves_a_value_once(tmp_path: Path) -> None:
    """Deleted in one hunk, named twice in another."""
    calls = [
        {"tool": "read", "args": {"path": "conf.py"}},
        edit("¶conf.py#TAG\ndelete 1..1\ninsert tail:\n+a [secret MY_API_KEY]\n+b [secret MY_API_KEY]\n"),
    ]
    text, _ = await edited(tmp_path, f"K = '{KEY}'\nx\n", calls)
    assert text == f"x\na {KEY}\nb {MARK}\n"


async def edited(tmp_path: Path, before: str, calls: list[dict[str, Any]]) -> tuple[str, ToolResult]:
    """A file after a read and an edit with the tag the read gave."""
    import re

    work = tmp_path / "work"
    work.mkdir()
    (work / "conf.py").write_text(before)
    shown = await run(tmp_path, calls[0])
    tag = re.search(r"#([0-9A-F]{4})", shown[0].content)
    assert tag is not None
    calls[1]["args"]["input"] = calls[1]["args"]["input"].replace("TAG", tag[1])
    results = await run(tmp_path, calls[0], calls[1])
    return (work / "conf.py").read_text(), results[-1]


async def test_an_edit_of_a_new_file_gets_the_words(tmp_path: Path) -> None:
    """Nothing was there."""
    result, *_ = await run(tmp_path, edit(f"¶new.txt\ninsert head:\n+{MARK}\n"))
    assert (tmp_path / "work" / "new.txt").read_text() == f"{MARK}\n"
    assert secrets_of(result) == {"restored": [], "left": ["MY_API_KEY"]}


async def test_archives_databases_and_notes_never_get_a_value(tmp_path: Path) -> None:
    """Whether they held it or not."""
    work = tmp_path / "work"
    work.mkdir()
    with zipfile.ZipFile(work / "a.zip", "w") as archive:
        archive.writestr("in.txt", KEY)
    with tarfile.open(work / "b.tar", "w"):
        pass
    results = await run(
        tmp_path,
        write("a.zip:in.txt", MARK),
        write("b.tar:new.txt", MARK),
        write("local://note.md", MARK),
        {"tool": "read", "args": {"path": "local://note.md"}},
        edit(f"¶local://other.md\ninsert head:\n+{MARK}\n"),
    )
    assert [secrets_of(result) for result in results if secrets_of(result)] == [
        {"restored": [], "left": ["MY_API_KEY"]}
    ] * 4
    with zipfile.ZipFile(work / "a.zip") as archive:
        assert archive.read("in.txt").decode() == MARK
    assert KEY.encode() not in (work / "b.tar").read_bytes()
    notes = [path.read_text() for path in (tmp_path / "home" / "sessions").glob("*/local/*.md")]
    assert sorted(notes) == [MARK, f"{MARK}\n"]


async def test_a_file_behind_a_link_decides_for_itself(tmp_path: Path) -> None:
    """The file that is written is the one that must have held the value, by whatever name."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "secret.env").write_text(KEY)
    (work / "public.txt").write_text("nothing")
    (work / "link").symlink_to("public.txt")
    await run(tmp_path, write("link", MARK))
    assert (work / "public.txt").read_text() == MARK


async def test_the_question_shows_the_words_and_not_the_value(tmp_path: Path) -> None:
    """And a line that stays as it is is no change."""
    outside = tmp_path / "outside.txt"
    outside.write_text(f"K = {KEY}\nx = 1\n")
    turns = [[write(str(outside), f"K = {MARK}\nx = 2\n")], [{"text": "ok"}]]
    async with lab(tmp_path, turns, environ=ENVIRON, attended=True) as here:
        await here.agent.prompt("go")
        request = await here.first(Request)
        assert request.details["diff"].splitlines()[3:] == [f" K = {MARK}", "-x = 1", "+x = 2"]
        here.agent.requests.answer(request.id, "once")
        await here.ended()
        assert outside.read_text() == f"K = {KEY}\nx = 2\n"


def test_restoring_never_adds_a_value() -> None:
    """Whatever is written and whatever it replaces: no more of it than there was."""
    secrets = Secrets(ENVIRON)
    for count in range(4):
        for marks in range(6):
            done = secrets.restored(f"{MARK};" * marks, f"{KEY};" * count)
            assert done.text.count(KEY) == min(count, marks) == len(done.restored)
            assert len(done.left) == marks - len(done.restored)


async def results_of(tmp_path: Path, *calls: tuple[str, dict[str, Any]]) -> tuple[list[ToolResult], str]:
    """What calls gave, and all that was shown, kept and sent to the model."""
    script = [*([{"tool": tool, "args": args}] for tool, args in calls), [{"text": "ok"}]]
    async with lab(tmp_path, script, environ=ENVIRON) as here:
        await here.run()
        return here.of(ToolResult), repr(here.seen) + "".join(text_of(message) for message in here.messages)


@pytest.mark.parametrize("within", ["\x1b[31m", "\x01", "\u202e", "\x1b]0;title\x07", "\r", "\x9b1m"])
async def test_what_cleaning_removes_from_within_a_value_does_not_reveal_it(tmp_path: Path, within: str) -> None:
    """A file holds the value with a colour code in it. What the model reads and what is shown are clean, and masked."""
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "ci.log").write_text(f"deploy {KEY[:8]}{within}{KEY[8:]} now\n", newline="")
    reads = [("read", {"path": "ci.log"}), ("read", {"path": "ci.log:raw"})]
    results, everything = await results_of(tmp_path, *reads, ("search", {"pattern": "deploy", "paths": "ci.log"}))
    assert KEY not in everything
    assert all(f"deploy {MARK} now" in result.content for result in results)
    assert all(MARK in repr(result.details) for result in results)


@pytest.mark.parametrize("shown", [4, 12, len(KEY) - 1])
async def test_a_cut_does_not_leave_the_beginning_of_a_value(tmp_path: Path, shown: int) -> None:
    """Lines of a search, long lines of a file, and cells of a table are cut before anything is masked."""
    work = tmp_path / "work"
    work.mkdir()
    (work / "s.json").write_text("x" * (512 - shown) + KEY + "z" * 2000 + "\n")
    (work / "r.json").write_text("x" * (16 * 1024 - shown) + KEY + "z" * 9000 + "\n")
    with closing(sqlite3.connect(work / "a.db")) as database, database:
        database.execute("create table t(a)")
        database.executemany("insert into t values(?)", [("x" * pad + KEY + "z" * 300,) for pad in range(40)])
    calls = [("read", {"path": path}) for path in ("r.json", "a.db?q=SELECT a FROM t", "a.db:t", "a.db:t:1")]
    results, everything = await results_of(tmp_path, ("search", {"pattern": "z+", "paths": "s.json"}), *calls)
    assert len(results) == 5
    assert not any(result.is_error for result in results)
    assert KEY[:4] not in everything
    assert results[0].content.count("x") == 512 - shown
