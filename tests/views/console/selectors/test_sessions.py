"""Other sessions: resume one, fork this one, branch from an earlier message (tree.md, /tree vs adjacent operations)."""

import asyncio

import pytest

from sightline.conversation import text_of
from sightline.host import CommandReply, Hello, Outline
from sightline.journal import SessionTree
from sightline.settings import Settings
from sightline.settings._tree import ConsoleSettings
from sightline.views.console.selectors import _branch, _fork, _resume
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.selectors._resume import ResumePanel
from sightline.views.plain import _standing
from tests.journal.conversations import Talk, assistant, user
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, HostOf, new_store

BRANCHING = Settings(console=ConsoleSettings(double_escape="branch"))


@pytest.fixture
def store(tmp_path):
    return new_store(tmp_path)


def talk_about(store, words, cwd="/here", *, close=True):
    talk = Talk(store, cwd=cwd)
    talk.step(user(words))
    talk.step(assistant(f"about {words}"))
    if close:
        talk.close()
    return talk


async def resumed(desk, args=""):
    task = asyncio.ensure_future(_resume.open(desk, args))
    await desk.until_shown(ResumePanel)
    return task


async def test_conversations_of_this_folder_are_listed_and_one_is_gone_on_with(store):
    """tree.md//tree vs adjacent operations: /resume switches to another session file.

    (tree.md/`/tree` vs adjacent operations)
    """
    one, other = talk_about(store, "apples"), talk_about(store, "pears")
    talk_about(store, "elsewhere", cwd="/there")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    assert {item.value for item in desk.panel.list.matching} == {one.id, other.id}
    desk.panel.list.move([item.value for item in desk.panel.list.matching].index(one.id))
    desk.press("enter")
    await task
    assert desk.switched == [(one.id, "")]


async def test_words_that_were_said_are_searched_for(store):
    """What is typed is looked for in what was said; enter waits for the answer."""
    one = talk_about(store, "apples")
    talk_about(store, "pears")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    desk.type("apples")
    desk.press("enter")
    await asyncio.wait_for(task, 60)
    assert desk.switched == [(one.id, "")]


async def test_escape_ends_a_search_and_then_leaves(store):
    """As in every list."""
    talk_about(store, "apples")
    talk_about(store, "pears")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk, "apples")
    assert len(desk.panel.list) == 1
    desk.press("escape")
    await desk.until(lambda: len(desk.panel.list) == 2)
    desk.press("escape")
    await task
    assert desk.switched == []


async def test_other_folders_come_on_a_key_and_running_ones_are_marked(store):
    """Each with its folder."""
    talk_about(store, "apples")
    running = talk_about(store, "elsewhere", cwd="/there", close=False)
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    desk.press("ctrl+a")
    await desk.until(lambda: len(desk.panel.list) == 2)
    row = next(row for row in desk.rows(120) if "elsewhere" in row)
    assert "◌ running" in row
    assert "/there" in row
    assert any("all folders" in row for row in desk.rows(120))
    desk.press("ctrl+c")
    await task
    running.close()


async def test_in_linear_mode_what_was_found_is_read_out(store):
    """A line searches, and a new list comes; a number chooses."""
    one = talk_about(store, "apples")
    talk_about(store, "pears")
    desk = Desk(store, "", cwd="/here", linear=True)
    task = await resumed(desk)
    first = desk.panel
    desk.paste("apples")
    desk.press("enter")
    await desk.until(lambda: desk.shown and desk.panel is not first)
    assert [item.value for item in desk.panel.list.matching] == [one.id]
    desk.panel.list.choose()
    await task


async def marked(desk, talk):
    """The session of a conversation is the one that is marked."""
    values = [item.value for item in desk.panel.list.matching]
    desk.panel.list.move(values.index(talk.id) - values.index(desk.panel.list.highlighted.value))


async def back_with(desk, note, count):
    """The list again, with what was done."""
    await desk.until(lambda: desk.shown and isinstance(desk.panel, ResumePanel) and note in desk.rows(120)[0])
    assert len(desk.panel.list) == count


async def test_a_session_is_archived_from_the_list(store):
    """The key is shown, and so is the way back."""
    one = talk_about(store, "apples")
    talk_about(store, "pears")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    assert desk.rows(80)[-1] == ("enter open · ctrl+a all · f2 rename · f3 archive · delete remove · escape close")
    await marked(desk, one)
    desk.press("alt+a")
    await back_with(desk, f"sightline sessions unarchive {one.id}", 1)
    assert store.sessions()
    desk.press("escape")
    await task
    assert {record.id for record in store.conversations("/here", archived=True)} >= {one.id}


async def test_a_session_is_deleted_when_its_title_was_confirmed(store):
    """No is what enter means; the question names it."""
    one = talk_about(store, "apples")
    talk_about(store, "pears")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    await marked(desk, one)
    desk.press("delete")
    await desk.until_rows("Delete “apples”?")
    desk.press("enter")
    await desk.until_shown(ResumePanel)
    assert one.id in store.sessions()
    assert desk.panel.list.highlighted.value == one.id
    desk.press("ctrl+x")
    await desk.until_rows("Delete “apples”?")
    desk.press("down", "enter")
    await back_with(desk, "deleted", 1)
    assert one.id not in store.sessions()
    desk.press("escape")
    await task
    assert desk.switched == []


async def test_a_session_that_runs_is_not_deleted(store):
    """What keeps it from that is in the heading, without a question first."""
    one = talk_about(store, "apples", close=False)
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    desk.press("delete")
    await back_with(desk, f"session {one.id} is running; stop it first: sightline stop {one.id}", 1)
    desk.press("escape")
    await task
    one.close()


@pytest.mark.parametrize("key", ["f3", "delete"])
async def test_the_session_one_is_in_is_marked_and_neither_archived_nor_deleted(store, key):
    """It is refused at once, with the sentence of the command line."""
    talk_about(store, "pears")
    one = talk_about(store, "apples", close=False)
    desk = Desk(store, one.id, cwd="/here")
    task = await resumed(desk)
    assert ["this session" in row for row in desk.rows(120) if "apples" in row or "pears" in row] == [True, False]
    await marked(desk, one)
    desk.press(key)
    await back_with(desk, f"session {one.id} is running; stop it first: sightline stop {one.id}", 2)
    assert not store.conversations("/here", archived=True)
    desk.press("escape")
    await task
    one.close()


async def test_a_fork_says_whose_it_is_and_is_renamed_without_that(store):
    """Its title is that of its original, in the journal as well."""
    one = talk_about(store, "apples")
    store.fork(one.id)
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    assert sum(f"fork of {one.id}: apples" in row for row in desk.rows(120)) == 1
    assert sum("apples" in row for row in desk.rows(120)) == 2
    fork = next(item for item in desk.panel.list.matching if item.value != one.id)
    desk.panel.list.move([item.value for item in desk.panel.list.matching].index(fork.value))
    desk.press("f2")
    await desk.until_rows("Rename the session", "apples")
    assert not any("fork of" in row for row in desk.rows(120))
    desk.press("escape")
    await desk.until_shown(ResumePanel)
    desk.press("escape")
    await task


async def test_a_session_is_renamed_in_the_list(store):
    """Its title is there to be changed."""
    talk_about(store, "apples")
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    desk.press("f2")
    await desk.until_rows("Rename the session", "apples")
    desk.type(" and pears")
    desk.press("enter")
    await back_with(desk, "renamed", 1)
    assert any("apples and pears" in row for row in desk.rows(120))
    desk.press("escape")
    await task


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 24])
async def test_it_fits_and_stays_clean(store, width, height):
    """Whatever was said, however small the terminal."""
    for _ in range(30):
        talk_about(store, HOSTILE)
    desk = Desk(store, "", cwd="/here", height=height)
    task = await resumed(desk)
    assert len(desk.rows(width)) <= height - 3
    desk.press("escape")
    await task


async def test_a_fork_has_everything_and_is_gone_on_with(store):
    """tree.md//tree vs adjacent operations: /fork duplicates the whole session into a new file.

    (tree.md/`/tree` vs adjacent operations)
    """
    one = talk_about(store, "apples", close=False)
    desk = Desk(store, one.id, cwd="/here")
    await _fork.open(desk, "")
    ((new, draft),) = desk.switched
    assert new != one.id
    assert draft == ""
    assert set(SessionTree.load(store.folder(new)).nodes) == set(one.loaded().nodes)
    assert one.id in desk.told[0][1]
    one.close()


async def test_a_fork_that_cannot_be_made_is_said(store):
    """Nothing is switched to."""
    desk = Desk(store, "zzzzzz")
    await _fork.open(desk, "")
    assert desk.switched == []
    assert desk.told[0][0] == "error"


@pytest.mark.parametrize("settings", [Settings(), BRANCHING], ids=["default", "branch"])
async def test_branch_makes_a_new_session_up_to_before_a_message(store, settings):
    """tree.md//tree vs adjacent operations: /branch goes from a user message into a new session file, whatever Escape
    twice opens.

    (tree.md/`/tree` vs adjacent operations)
    """
    talk = Talk(store, cwd="/here")
    talk.step(user("first"))
    answer = talk.step(assistant("answer"))
    talk.step(user("second\nwith two lines"))
    talk.step(assistant("more"))
    desk = Desk(store, talk.id, settings=settings)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_branch.open(desk, ""))
    await desk.until_shown(ChoicePanel)
    assert [item.label for item in desk.panel.list.matching] == ["first", "second with two lines"]
    desk.press("enter")
    await task
    ((new, draft),) = desk.switched
    tree = SessionTree.load(store.folder(new))
    assert draft == "second\nwith two lines"
    assert tree.leaf == answer
    assert [text_of(entry.message) for entry in tree.read(tree.path())] == ["first", "answer"]
    assert talk.loaded().leaf != answer  # this session is as it was
    talk.close()


async def test_branching_from_the_first_message_is_a_new_session(store):
    """tree.md//tree vs adjacent operations: before the first message there is nothing to copy."""
    talk = talk_about(store, "apples")
    desk = Desk(store, talk.id, settings=BRANCHING)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_branch.open(desk, ""))
    await desk.until_shown(ChoicePanel)
    desk.press("enter")
    await task
    assert desk.switched == [("", "apples")]


async def test_branching_without_a_message_or_a_host_says_so(store):
    """tree.md//tree vs adjacent operations: nothing to choose from is said."""
    desk = Desk(store, "abcdef", settings=BRANCHING)
    desk.answers[Outline] = lambda command: CommandReply(True, data={"lines": [], "leaf": ""})
    await _branch.open(desk, "")
    desk.answers[Outline] = lambda command: CommandReply(False, error="the host is gone")
    await _branch.open(desk, "")
    assert [level for level, _, _ in desk.told] == ["info", "error"]


async def test_what_a_running_session_does_is_said_as_everywhere(store, monkeypatch):
    """One that only waits for the next prompt is idle; and one message is one message."""
    talk = Talk(store, cwd="/here")
    talk.step(user("apples"))
    hello = Hello(talk.id, "1", 1, cwd="/here", agent=True)
    monkeypatch.setattr(_standing, "hosts_by_session", lambda store: {talk.id: hello})
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk)
    assert "› apples  ○ idle · 1 message" in [row.rstrip() for row in desk.rows(120)]
    desk.press("escape")
    await task
    talk.close()


async def test_a_search_that_finds_nothing_names_archived_sessions(store):
    """They are not searched; and escape clears what was typed before it closes, as the last row says."""
    store.archive(talk_about(store, "apples").id)
    desk = Desk(store, "", cwd="/here")
    task = await resumed(desk, "apples")
    rows = "\n".join(desk.rows(120))
    assert "nothing found; 1 archived session is not searched: sightline sessions --archived" in rows
    assert "escape clear" in rows
    desk.press("escape")
    await desk.until(lambda: any("escape close" in row for row in desk.rows(120)))
    desk.press("escape")
    await task
