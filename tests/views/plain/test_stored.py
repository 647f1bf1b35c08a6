"""Kept conversations as text: the list, what was found, what was said."""

import json
import time

import msgspec
import pytest

from sightline.conversation import user_run_text
from sightline.events import CallEnding
from sightline.journal import Store
from sightline.text._row import text_width
from sightline.views._names import title_of
from sightline.views.plain._palette import COLOUR, PLAIN
from sightline.views.plain.commands.stored import (
    conversations_json,
    conversations_table,
    show_conversation,
    unread_note,
)
from tests.journal.conversations import Talk, assistant, tool, user


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


def conversation(store, prompt, *, age=0.0, answer="done", **header):
    talk = Talk(store, **header)
    now = time.time()
    talk.writer.close()
    path = talk.writer.folder / "journal.jsonl"  # begun so long ago
    path.write_bytes(path.read_bytes().replace(b'"created":', b'"created":0,"was":'))
    talk.writer = store.writer(talk.id)
    talk.step(user(prompt), time=now - age)
    talk.step(assistant(answer), time=now - age)
    return talk.close()


def table(store, query="", palette=PLAIN, cwd=None, limit=30, columns=None):
    return conversations_table(store, query, palette, cwd=cwd, limit=limit, columns=columns)


def test_a_conversation_is_a_row(store, monkeypatch):
    """Whose agent, when it changed, how long it is, where, and what it is known by."""
    monkeypatch.setenv("HOME", "/home/me")
    one = conversation(store, "fix it", age=125.0, cwd="/home/me/code")
    two = conversation(store, "x", age=3 * 86400 + 5, cwd="/a/very/long/folder/name/that/does/not/fit", title="A title")
    head, first, second = table(store).splitlines()
    assert head.split() == ["ID", "AGENT", "CHANGED", "MESSAGES", "FOLDER", "TITLE"]
    assert first.split() == [one, "Sightline", "2", "min", "ago", "2", "~/code", "fix", "it"]
    folder = "/a/very/long/folder/name/that/does/not/fit"
    assert second.split() == [two, "Sightline", "3", "days", "ago", "2", folder, "A", "title"]


def test_a_fork_says_whose_it_is(store):
    """Before its title, which is that of its original and may be cut."""
    one = conversation(store, "fix it", cwd="/here")
    fork = store.fork(one)
    rows = {row.split()[0]: row for row in table(store).splitlines()}
    assert rows[fork].endswith(f"fork of {one}: fix it")
    assert "fork of" not in rows[one]
    assert {row["title"] for row in json.loads(conversations_json(store, "", cwd=None, limit=None))} == {""}


def test_the_agent_of_a_session_is_listed(store):
    """The one it began with, or that took over since; in the JSON by the same name."""
    began = conversation(store, "a", provider="claude")
    talk = Talk(store, provider="codex")
    talk.step(user("b"))
    talk.step(type="custom", custom="provider", data={"provider": "gemini", "session": "s"})
    other = talk.close()
    talk = Talk(store, provider="opencode")
    talk.step(user("c"))
    talk.step(type="custom", custom="provider", data={"provider": "native"})
    own = talk.close()
    agents = {row.split()[0]: row.split()[1] for row in table(store).splitlines()[1:]}
    assert agents == {began: "claude", other: "gemini", own: "Sightline"}
    facts = json.loads(conversations_json(store, "", cwd=None, limit=None))
    assert {fact["id"]: fact["provider"] for fact in facts} == agents | {own: "native"}


@pytest.mark.parametrize("columns", [60, 80, 100, 120, 200])
@pytest.mark.parametrize("runs", [True, False])
def test_a_row_is_one_line_of_the_terminal(store, columns, runs):
    """Whatever its width, and however long folder and title are; wide characters count twice."""
    for title in ("word " * 60, "漢字" * 60, "e\u0301" * 200):
        conversation(store, title, cwd="/a/folder/漢字" * 9, provider="opencode")
    talk = Talk(store, cwd="/x")
    talk.step(user("short"))
    if not runs:
        talk.close()
    rows = table(store, columns=columns).splitlines()
    assert len(rows) == 5
    assert max(map(text_width, rows)) <= columns
    assert sum("…" in row for row in rows) == 3
    assert {row[8:17].strip() for row in rows} == {"AGENT", "opencode", "Sightline"}
    assert ("MESSAGES" in rows[0]) == (columns >= 100)
    assert ("STATE" in rows[0]) == runs
    if runs:
        talk.close()


def test_a_state_has_a_column_of_its_own(store):
    """A running session still says when it changed; where none runs there is no such column, nor one for the folder of
    a list that has only one."""
    writer = store.writer(conversation(store, "a", age=130, cwd="/x"))
    head, row = table(store).splitlines()
    assert row.index("◌ running") == head.index("STATE")
    assert "2 min ago" in row
    writer.close()
    assert "STATE" not in table(store)
    assert "FOLDER" not in table(store, cwd="/x")


@pytest.mark.parametrize(
    ("age", "words"),
    [(0, "now"), (59, "now"), (61, "1 min ago"), (3700, "1 h ago"), (90_000, "25 h ago"), (200_000, "2 days ago")],
)
def test_ages(store, age, words):
    """Rounded down, in the largest unit that says enough."""
    conversation(store, "a", age=age)
    assert words in table(store)


def test_a_running_one_says_so(store):
    """With a sign, not by colour alone."""
    talk = Talk(store)
    talk.step(user("a"))
    assert "◌ running" in table(store)
    assert f"{COLOUR.busy}◌ running{COLOUR.reset}" in table(store, palette=COLOUR)
    talk.close()


def test_how_many_more_there_are(store):
    """And how to see them."""
    for number in range(3):
        conversation(store, str(number))
    assert table(store, limit=2).splitlines()[-1] == "… 1 more: sightline sessions --all"
    assert "more" not in table(store, limit=None)


def test_what_was_found_is_shown_below(store):
    """The entry that has it, and the words around it."""
    conversation(store, "hello", answer="a needle\nin hay")
    assert table(store, "needle").splitlines()[-1] == "        e2: a needle in hay"
    assert f"a {COLOUR.bold}needle{COLOUR.reset} in hay" in table(store, "needle", COLOUR)
    (fact,) = json.loads(conversations_json(store, "needle", cwd=None, limit=1))
    assert (fact["entry"], fact["snippet"], fact["messages"]) == ("e2", "a needle in hay", 2)


def test_nothing_is_said_in_words(store):
    """None yet, none here, none found."""
    assert table(store) == "no sessions yet: start one with sightline\n"
    assert table(store, cwd="/x").startswith("no sessions yet in this folder")
    assert table(store, "needle").startswith("nothing found")
    assert conversations_json(store, "", cwd=None, limit=1) == b"[]\n"


def test_what_could_not_be_read_in_time_is_said(store):
    """A list that is not whole does not look whole."""
    store.catalogue.behind = 2
    assert unread_note(store).startswith("note: 2 sessions are not read yet\nhint:")
    store.catalogue.behind = 0
    assert unread_note(store) == ""


def test_nothing_in_a_list_drives_the_terminal(store):
    """Titles, folders and words are somebody else's."""
    evil = "\x1b]0;x\x07needle\x1b[2J\u202e\r\nnext"
    conversation(store, evil, title=evil, cwd=evil)
    for text in (table(store), table(store, "needle")):
        assert not any(character in text for character in "\x1b\x07\r\u202e\x02\x03")


def test_calls_that_failed_are_marked_in_a_conversation(store, capfd):
    """A failed edit and a refused write do not look as if they had worked; output of a command is not the reason."""
    talk = Talk(store)
    talk.step(user("go"))
    talk.step(assistant("I try", "make", stop="tool_use"))
    talk.step(msgspec.structs.replace(tool("no such file\nmore", "edit"), is_error=True))
    refused = CallEnding(ended="refused", by="nobody")
    talk.step(msgspec.structs.replace(tool("refused: …", "write"), is_error=True, ending=refused))
    ended = CallEnding(ended="exit", exit_code=2)
    talk.step(msgspec.structs.replace(tool("output"), is_error=True, ending=ended))
    show_conversation(store, talk.close(), PLAIN)
    rows = [row for row in capfd.readouterr().out.splitlines() if "✕" in row]
    assert rows == ["  ✕ edit: no such file", "  ✕ write: refused: no user was there to ask", "  ✕ bash: exit code 2"]


def test_a_conversation_is_read_again(store, capfd):
    """The active branch: words, calls, how an answer broke off; and the command to go on."""
    talk = Talk(store)
    talk.step(user("first\nsecond"))
    talk.step(assistant("I look", "make test", stop="tool_use"))
    talk.step(tool("3 failed"))
    talk.move("e2")
    talk.step(type="branch_summary", data={"summary": "it failed", "from": "e3"})
    talk.step(user("again"))
    talk.step(assistant("hal", stop="aborted"))
    talk.close()
    assert show_conversation(store, talk.id, PLAIN) == 0
    assert capfd.readouterr().out == (
        "> first\n> second\n\nI look\n\n● bash make test\n\n· from a branch that was left: it failed\n\n"
        f"> again\n\nhal\n\n✕ the answer ended early: aborted\n\nResume with: sightline --resume {talk.id}\n"
    )


def test_a_session_of_commands_alone_is_listed_and_read_as_they_were_typed(store, capfd):
    """The words around them are the model's; and what a reminder says is not the user's."""
    talk = Talk(store)
    talk.step(user(user_run_text("shell", "git status", "clean\n[exit code 0]"), "shell"))
    talk.step(user(user_run_text("cell", "x = 1\n\nx", "1\n[ended]"), "cell"))
    talk.step(user("You have open tasks.", "todo"))
    talk.close()
    (record,) = store.conversations()
    assert (record.id, title_of(record), record.messages) == (talk.id, "!git status", 2)
    show_conversation(store, talk.id, PLAIN)
    assert capfd.readouterr().out == (
        "> !git status\n\nclean\n[exit code 0]\n\n> $ x = 1\n> \n> x\n\n1\n[ended]\n\n· You have open tasks.\n\n"
        f"Resume with: sightline --resume {talk.id}\n"
    )


def test_what_is_read_again_does_not_drive_the_terminal(store, capfd):
    """Neither the words nor the commands."""
    talk = Talk(store)
    talk.step(user("\x1b[2Ja"))
    talk.step(assistant("\x1b]0;x\x07b", "echo \x1b[31m"))
    show_conversation(store, talk.close(), PLAIN)
    assert "\x1b" not in capfd.readouterr().out


def test_damage_is_said(store, capfd):
    """What cannot be read is counted on the other channel."""
    talk = Talk(store)
    talk.step(user("a"))
    with (talk.writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"entry","id":3}\n')
    show_conversation(store, talk.close(), PLAIN)
    assert capfd.readouterr().err == "note: 1 step of this conversation cannot be read\n"


def test_a_search_that_finds_nothing_names_what_it_did_not_search(store):
    """Archived sessions have a search of their own."""
    store.archive(conversation(store, "lens"))
    assert table(store, "lens").endswith("shorter words find more; --archived searches the 1 archived\n")
