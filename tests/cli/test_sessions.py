"""`sightline sessions`, `resume`, `tree` and `fork`: kept conversations from the command line."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sightline.journal import SessionTree, Store
from tests.cli.support import sightline
from tests.journal.conversations import Talk, assistant, user


@pytest.fixture
def store(tmp_path, own_home):
    return Store(tmp_path / "sightline-home")


@pytest.fixture
def here(tmp_path, monkeypatch):
    """The folder the program is started in."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return str(folder)


def conversation(store, *, cwd, prompt="Start task", **header):
    talk = Talk(store, cwd=cwd, **header)
    talk.step(user(prompt))
    talk.step(assistant("Plan"))
    talk.step(user("Try approach A"))
    talk.step(assistant("A result"))
    return talk.close()


def said(*words):
    done = sightline(*words)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def refused(*words):
    done = sightline(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    error, hint = done.stderr.decode().splitlines()
    assert error.startswith("error: ")
    assert hint.startswith("hint: ")
    return done.stderr.decode()


def listed(*words):
    return [fact["id"] for fact in json.loads(said("sessions", "--json", *words))]


def test_listing(store, here):
    """Everywhere, here, so many, by their words."""
    mine = conversation(store, cwd=here, prompt="polish the lens")
    other = conversation(store, cwd="/elsewhere", prompt="grind the glass")
    assert listed() == [other, mine]
    assert listed("--here") == [mine]
    assert listed("--limit", "1") == [other]
    assert listed("--all") == [other, mine]
    assert listed("LENS", "polish") == [mine]
    assert listed("--here", "glass") == []
    assert mine in said("sessions", "lens")
    refused("sessions", "--limit", "0")
    refused("sessions", "--limit", "3", "--all")


def test_a_session_is_renamed_archived_and_deleted(store, here):
    """A new title is listed and found; an archived one is hidden unless asked for; a deleted one is gone."""
    mine = conversation(store, cwd=here, prompt="polish the lens")
    other = conversation(store, cwd=here, prompt="grind the glass")
    assert said("sessions", "rename", mine[:4], "Lens", "work") == f"renamed {mine}\n"
    assert "Lens work" in said("sessions")
    assert listed("lens", "work") == [mine]
    said("sessions", "archive", mine)
    assert listed() == [other]
    assert listed("lens") == []
    assert listed("--archived") == [mine]
    assert store.last_in(here) == other
    said("sessions", "unarchive", mine)
    assert set(listed()) == {mine, other}
    assert "--yes" in refused("sessions", "delete", mine)
    assert said("sessions", "delete", mine, "--yes") == f"deleted {mine}\n"
    assert listed() == [other]
    assert not store.folder(mine).exists()
    for words in (("rename", other), ("archive",), ("delete", "--yes"), ("delete", mine, "--yes")):
        refused("sessions", *words)


def test_an_empty_id_names_no_session(store, here):
    """It is the beginning of every id: where there is one session, it was that one, and deleted."""
    mine = conversation(store, cwd=here, prompt="polish the lens")
    for words in (
        ("sessions", "delete", "", "--yes"),
        ("sessions", "archive", ""),
        ("sessions", "unarchive", ""),
        ("sessions", "rename", "", "Title"),
        ("resume", ""),
        ("fork", ""),
        ("tree", ""),
    ):
        assert "the id of the session is empty" in refused(*words)
    assert listed() == [mine]
    assert "Title" not in said("sessions")


def test_a_title_is_short_and_not_empty(store, here):
    mine = conversation(store, cwd=here, prompt="polish the lens")
    assert "the title is empty" in refused("sessions", "rename", mine, "")
    assert "the title is empty" in refused("sessions", "rename", mine, " \n")
    assert "the title has 501 characters, and may have 500" in refused("sessions", "rename", mine, "x" * 501)
    assert "polish the lens" in said("sessions")


def test_options_stand_anywhere_among_the_words(store, here):
    mine = conversation(store, cwd=here, prompt="polish the lens")
    other = conversation(store, cwd=here, prompt="grind the glass")
    assert said("sessions", "delete", "--yes", mine) == f"deleted {mine}\n"
    assert said("sessions", "--yes", "delete", "--color", "never", other) == f"deleted {other}\n"
    last = conversation(store, cwd=here, prompt="polish the lens")
    assert listed("--here", "lens", "--limit", "3", "polish") == [last]
    assert "unrecognized arguments: --nonsense" in refused("sessions", "delete", "--nonsense", "--yes", last)
    assert listed() == [last]


@pytest.mark.parametrize("title", ["-x", "--yes", "-", "--color never", "-1", "--"])
def test_a_title_may_begin_with_a_hyphen(store, here, title):
    """What follows the id is the title as it stands; options go before it."""
    mine = conversation(store, cwd=here, prompt="polish the lens")
    words = ["--", *title.split()] if title == "--" else title.split()
    assert said("sessions", "--color", "never", "rename", mine[:4], *words) == f"renamed {mine}\n"
    assert said("sessions", "rename", mine, "--", "-y", "z") == f"renamed {mine}\n"
    assert "-y z" in said("sessions")
    said("sessions", "rename", mine, *words)
    assert title in said("sessions")


def test_deleting_asks_with_the_title(store, here, in_terminal):
    """Nothing is deleted by a no; of several, each is named."""
    mine = conversation(store, cwd=here, prompt="polish the lens")
    other = conversation(store, cwd=here, prompt="grind the glass")
    store.archive(other)
    terminal = in_terminal("sessions", "delete", mine)
    terminal.wait_for(f"Delete session {mine} “polish the lens” for good? [y/N]")
    terminal.press(b"n\r")
    assert terminal.wait() == 1
    terminal = in_terminal("sessions", "delete", mine, other)
    terminal.wait_for(f"  {mine} “polish the lens”\n  {other} “grind the glass”\nDelete these 2 sessions for good?")
    terminal.press(b"y\r")
    assert terminal.wait() == 0
    assert listed() == listed("--archived") == []


def test_a_running_session_is_not_deleted(store, here):
    """Nor is another one named with it."""
    other = conversation(store, cwd=here)
    talk = Talk(store, cwd=here)
    talk.step(user("hello"))
    running = talk.writer.folder.name
    assert f"hint: stop it first: sightline stop {running}\n" in refused("sessions", "delete", other, running, "--yes")
    assert set(listed()) == {other, running}
    talk.close()


def test_a_folder_whose_name_is_no_text(store, tmp_path, monkeypatch):
    """Its conversations are found under the name they are kept by."""
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/odd\xff")
    os.mkdir(odd)
    monkeypatch.chdir(odd)
    mine = conversation(store, cwd=odd)
    assert mine in said("sessions", "--here")
    assert listed("--here") == [mine]
    for command in ("resume", "tree", "fork"):
        assert said(command, "-")


def test_commands_alone_are_not_conversations(store):
    """The two lists do not mix."""
    store.create().close()
    assert said("sessions") == "no sessions yet: start one with sightline\n"


def test_a_session_is_named_by_its_id_a_beginning_or_a_dash(store, here):
    """`-` is the last one in this folder."""
    mine = conversation(store, cwd=here)
    conversation(store, cwd="/elsewhere")
    assert said("resume", mine) == said("resume", "-")
    assert f"--resume {mine}" in said("resume", mine[:5])
    assert "sightline sessions" in refused("resume", "zzzzzz")
    assert "sightline sessions" in refused("tree", "no such")


def test_the_tree_is_shown_filtered_searched_and_as_json(store, here):
    """As a picture, or as data."""
    conversation(store, cwd=here)
    assert said("tree", "-").splitlines()[2] == 'e3     • user: "Try approach A"'
    assert [row.split()[0] for row in said("tree", "-", "--filter", "user-only").splitlines()[:-1]] == ["e1", "e3"]
    assert [fact["id"] for fact in json.loads(said("tree", "-", "--search", "a result", "--json"))] == ["e4"]
    refused("tree", "-", "--filter", "no-tool")


def test_going_on_from_elsewhere(store, here):
    """The move is kept; the words to say differently are printed."""
    id = conversation(store, cwd=here)
    moved = said("tree", "-", "--to", "e3", "--summary", "A came to nothing")
    tree = SessionTree.load(store.folder(id))
    assert moved.startswith(f"the conversation continues after {tree.leaf}\n")
    assert moved.endswith("\n\nyour message, to change and send again:\n\nTry approach A\n")
    assert [node.type for node in tree.path()] == ["message", "message", "branch_summary"]
    assert said("tree", "-", "--to", tree.leaf).startswith("already at this point")
    assert "e99" in refused("tree", "-", "--to", "e99")
    assert "--to ENTRY" in refused("tree", "-", "--summary", "x")
    assert "--summary TEXT" in refused("tree", "-", "--to", "e4", "--summarize")


def test_labels(store, here):
    """Set, shown, taken away."""
    conversation(store, cwd=here)
    assert said("tree", "-", "--label", "e2=the plan = good") == "e2 is [the plan = good]\n"
    assert "[the plan = good] assistant" in said("tree", "-", "--filter", "labeled-only")
    assert said("tree", "-", "--label", "e2=") == "e2 has no label\n"
    assert "e2=TEXT" in refused("tree", "-", "--label", "e2")
    refused("tree", "-", "--label", "e2=x", "--to", "e1")


def test_forking(store, here):
    """Prints the new id; at an entry it has the way there."""
    id = conversation(store, cwd=here, title="t")
    whole = said("fork", "-").strip()
    assert list(SessionTree.load(store.folder(whole)).nodes) == ["e1", "e2", "e3", "e4"]
    part = said("fork", id, "--at", "e2").strip()
    assert list(SessionTree.load(store.folder(part)).nodes) == ["e1", "e2"]
    assert {fact["id"]: fact["parent_session"] for fact in json.loads(said("sessions", "--json"))} == {
        id: "",
        whole: id,
        part: id,
    }
    assert "no entry e9" in refused("fork", id, "--at", "e9")


def test_a_running_session_is_left_to_its_host(store, here):
    """Looking and forking is fine; whatever is written goes through it."""
    talk = Talk(store, cwd=here)
    talk.step(user("a"))
    talk.step(assistant("b"))
    assert "◌ running" in said("sessions")
    assert "sightline attach" in said("resume", "-")
    said("fork", talk.id)
    failed = sightline("tree", talk.id, "--to", "e1")
    assert (failed.returncode, b"is running but does not answer" in failed.stderr) == (1, True)
    talk.close()


def test_listing_imports_no_event_loop_and_no_client(store, here):
    """Cold paths stay cold: a list of sessions is read from files."""
    conversation(store, cwd=here)
    probe = (
        "import sys; sys.argv = ['sightline', 'sessions']; from sightline.cli import main; main(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "sqlite3" in loaded
    assert not loaded & {
        "asyncio",
        "httpx2",
        "yaml",
        "psutil",
        "wcwidth",
        "logging",
        "sightline.host",
        "sightline.exec",
    }


def test_the_reference_names_every_option():
    """docs/reference/cli.md and `--help` say the same."""
    page = (Path(__file__).parents[2] / "docs/reference/cli.md").read_text()
    for command in ("sessions", "resume", "tree", "fork"):
        assert f"sightline {command}" in page
        for option in re.findall(r"(?<![\w-])--[a-z][a-z-]+", said(command, "--help")):
            assert option in page, (command, option)


@pytest.mark.parametrize("words", [("resume",), ("--resume",), ("-p", "go on", "--resume")])
def test_without_a_terminal_a_session_is_named(store, here, words):
    """There is no list to choose from: it says how, and where they are listed."""
    message = refused(*words)
    assert "which session?" in message
    assert "`sightline sessions`" in message


@pytest.mark.parametrize("words", [("resume",), ("--resume",)])
def test_on_a_terminal_a_session_is_chosen(store, here, in_terminal, words):
    """From the list of `/resume`; the one that is chosen is shown."""
    conversation(store, cwd=here, prompt="polish the lens")
    terminal = in_terminal(*words)
    terminal.wait_for("Resume a conversation", "polish the lens")
    terminal.press(b"\r")
    terminal.wait_for("in context")
    terminal.press(b"\x04")
    assert terminal.wait() == 0


def test_nothing_to_continue_names_the_other_sessions(store, here):
    """They may be of another folder."""
    conversation(store, cwd="/elsewhere")
    message = refused("-p", "go on", "--continue")
    assert "`sightline sessions`" in message
    assert "--resume ID" in message
