"""What a session is called: the same in every list of every view."""

import time

import msgspec
import pytest

from sightline.journal import Store
from sightline.views._names import from_home
from sightline.views.console.selectors._resume import ResumePanel, SessionSearch, find
from sightline.views.plain._palette import PLAIN
from sightline.views.plain._standing import titles_of
from sightline.views.plain.commands.stored import conversations_table
from sightline.views.web.api._bodies import SessionList
from sightline.views.web.page._catalog import Catalog
from tests.journal.conversations import Talk, assistant, user
from tests.views.console.selectors.support import Desk


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "home")


@pytest.mark.parametrize(
    ("title", "said", "name"),
    [
        ("Mend the tests", [user("mend them"), assistant("Done.")], "Mend the tests"),
        ("", [user("mend them"), assistant("Done.")], "mend them"),
        ("", [assistant("The build broke.")], "The build broke."),
    ],
)
async def test_every_list_calls_a_session_by_the_same_name(store, monkeypatch, title, said, name):
    """Its title, what was asked first, or what was answered last; its folder with `~` for home."""
    monkeypatch.setenv("HOME", "/home/me")
    talk = Talk(store, cwd="/home/me/code", title=title)
    for message in said:
        talk.step(message, time=time.time())
    session = talk.close()
    desk = Desk(store, "", cwd="/elsewhere")
    looked = SessionSearch(everywhere=True)
    (item,) = ResumePanel(desk, looked, find(desk, looked)).list.matching
    catalog = Catalog(store, [])
    await catalog.refresh()
    (on_the_page,) = msgspec.json.decode(catalog.encoded, type=SessionList).sessions
    _, row = conversations_table(store, "", PLAIN, cwd=None, limit=None).splitlines()
    assert item.label == name
    assert "~/code" in item.description
    assert titles_of(store, {session}) == {session: name}
    assert on_the_page.title == name
    assert row.split(maxsplit=5)[5].rpartition("  ")[2] == name
    assert " ~/code " in row


async def test_a_session_without_a_name_is_listed_by_its_id(store):
    """In the list that has no column for it."""
    talk = Talk(store)
    talk.step(assistant("", "true"))
    session = talk.close()
    desk = Desk(store, "", cwd="")
    looked = SessionSearch(everywhere=True)
    (item,) = ResumePanel(desk, looked, find(desk, looked)).list.matching
    assert item.label == session


@pytest.mark.parametrize(
    ("path", "shown"),
    [("/home/me", "~"), ("/home/me/a", "~/a"), ("/home/menace", "/home/menace"), ("/", "/"), ("", "")],
)
def test_a_path_below_home(monkeypatch, path, shown):
    """A name that only begins like the home folder is another folder."""
    monkeypatch.setenv("HOME", "/home/me")
    assert from_home(path) == shown
