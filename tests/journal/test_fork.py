"""A fork: the same conversation in a session of its own, and neither needs the other."""

import os

import pytest

from sightline.events import Text, ToolOutput, ToolResult, ToolUse
from sightline.events.stamping import stamp
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal import Busy, SessionTree, Store, artifact_file, store_file
from tests.journal.conversations import Talk, assistant, user
from tests.journal.test_journal_weather import files_at_most


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def talk(store):
    """Two branches, each with a command of its own, and an image."""
    talk = Talk(store, cwd="/x", title="t")
    talk.step(user("start"))
    command(talk, 1, b"first\n")
    talk.step(assistant("", "echo first"))
    talk.move("e1")
    command(talk, 2, b"second\n")
    talk.step(assistant("", "echo second"))
    store_file(talk.writer.folder, "shot.png", b"image")
    talk.step(user(f"look at artifact://{talk.id}/shot.png"))
    talk.label("e4", "b")
    talk.label("e2", "a")
    return talk


def command(talk, number, output):
    call = f"{talk.id}-{number}"
    artifact = talk.writer.artifact(call)
    artifact.write("stdout", output)
    artifact.close()
    details = {"artifact": f"artifact://{talk.id}/{call}"}
    events = [ToolUse(call, "bash"), ToolOutput(call, output.decode(), size=len(output)), ToolResult(call, "", details)]
    for event in events:
        talk.seq += 1
        talk.writer.append([stamp(event, talk.seq, 1.0)])
    talk.writer.forget_artifact(call)


def artifacts(store, session):
    return {path.name for path in (store.folder(session) / "artifacts").iterdir()}


def said(store, session):
    return [event.content for event in store.read(session).events() if isinstance(event, ToolOutput)]


def test_a_fork_has_everything(store, talk):
    """Events, tree, labels, output; only the header is another."""
    new = store.fork(talk.close())
    old_events, new_events = list(store.read(talk.id).events()), list(store.read(new).events())
    assert [event.seq for event in new_events] == [event.seq for event in old_events]
    assert said(store, new) == ["first\n", "second\n"]
    old, tree = SessionTree.load(store.folder(talk.id)), SessionTree.load(store.folder(new))
    assert (tree.leaf, tree.labels, list(tree.nodes)) == (old.leaf, old.labels, list(old.nodes))
    header = store.read(new).header
    assert (header.id, header.cwd, header.title, header.parent_session) == (new, "/x", "t", talk.id)


def test_a_fork_at_an_entry_has_the_way_to_it(store, talk):
    """Its steps, their labels, the events shown there, the artifacts they name."""
    new = store.fork(talk.close(), "e2")
    tree = SessionTree.load(store.folder(new))
    assert ([node.id for node in tree.path()], tree.labels) == (["e1", "e2"], {"e2": "a"})
    assert said(store, new) == ["first\n"]
    assert artifacts(store, new) == {f"{talk.id}-1.idx", f"{talk.id}-1.out"}
    assert [event.seq for event in store.read(new).events()] == [1, 2, 3, 4, 5]
    other = store.fork(talk.id, "e5")
    assert artifacts(store, other) == {f"{talk.id}-2.idx", f"{talk.id}-2.out", "shot.png"}
    assert said(store, other) == ["second\n"]


def test_a_fork_has_the_level_of_the_session_whichever_branch_it_was_chosen_on(store, talk):
    """It was that of the settings again, which may allow more."""
    talk.step(type="approval_change", data={"level": "plan"}, events=0)
    new = store.fork(talk.close(), "e2")
    tree = SessionTree.load(store.folder(new))
    assert [node.type for node in tree.path()] == ["message", "message", "approval_change"]
    assert tree.latest("approval_change").data == {"level": "plan"}
    again = SessionTree.load(store.folder(store.fork(new, tree.leaf)))
    assert [node.type for node in again.path()].count("approval_change") == 1


def test_a_fork_has_the_rules_of_the_session_whichever_branch_they_were_given_on(store, talk):
    """All of them, beside the level; those on the way to the entry are there once."""
    talk.step(type="rules_given", data={"deny": ["network"]}, events=0)
    talk.step(type="approval_change", data={"level": "plan"}, events=0)
    talk.step(type="rules_given", data={"deny": ["write"]}, events=0)
    new = store.fork(talk.close(), "e2")
    for session in (new, store.fork(new, SessionTree.load(store.folder(new)).leaf)):
        tree = SessionTree.load(store.folder(session))
        noted = [entry.data for entry in tree.read(tree.path()) if entry.type != "message"]
        assert noted == [{"deny": ["network"]}, {"deny": ["write"]}, {"level": "plan"}]


def test_neither_needs_the_other(store, talk):
    """Whichever is deleted, the other's output and images are there, under URLs that lead to its own folder."""
    new = store.fork(talk.close())
    again = store.fork(new)
    assert store.remove(talk.id)
    assert store.remove(new)
    text = (store.folder(again) / "journal.jsonl").read_text()
    assert f"artifact://{talk.id}/" not in text
    assert f"artifact://{again}/shot.png" in text
    assert artifact_file(store.folder(again), "shot.png").read_bytes() == b"image"
    assert said(store, again) == ["first\n", "second\n"]


def test_a_fork_goes_its_own_way(store, talk):
    """What is added to one is not in the other, the agent's notes included."""
    (talk.writer.folder / "local").mkdir()
    (talk.writer.folder / "local" / "plan.md").write_text("one")
    new = store.fork(talk.close())
    (store.folder(new) / "local" / "plan.md").write_text("two")
    writer, tree = store.reopen(new)
    assert writer.append([stamp(Text("more"), tree.last_seq + 1, 1.0)])
    writer.close()
    assert (talk.writer.folder / "local" / "plan.md").read_text() == "one"
    assert len(list(store.read(new).events())) == len(list(store.read(talk.id).events())) + 1


def test_a_running_session_can_be_forked(store, talk):
    """As it is now; half a line is not taken over."""
    with (talk.writer.folder / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":"entry","id":"e99')
    new = store.fork(talk.id)
    tree = SessionTree.load(store.folder(new))
    assert (tree.torn_at, "e99" in tree.nodes) == (None, False)
    store.writer(new).close()
    with pytest.raises(Busy):
        store.writer(talk.id)


def test_where_links_cannot_be_artifacts_are_copied(store, talk, monkeypatch):
    """Another file system, or one without links."""

    def refused(*_):
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    new = store.fork(talk.close())
    assert said(store, new) == ["first\n", "second\n"]


def test_a_fork_there_is_no_room_for_leaves_nothing_behind(store, talk):
    """And says what to do."""
    talk.close()
    with files_at_most(500), pytest.raises(OutsideFailure) as failure:
        store.fork(talk.id)
    assert "SIGHTLINE_HOME" in failure.value.hint
    assert store.sessions() == [talk.id]


def test_a_fork_of_what_is_not_there_makes_nothing(store, talk):
    """No session, no entry."""
    with pytest.raises(UserMistake, match="no session zzzzzz"):
        store.fork("zzzzzz")
    with pytest.raises(UserMistake, match="no entry e99"):
        store.fork(talk.id, "e99")
    assert store.sessions() == [talk.id]


def test_a_fork_is_listed_as_a_conversation(store, talk):
    """With where it comes from."""
    new = store.fork(talk.close(), "e2")
    parents = {record.id: record.parent_session for record in store.conversations()}
    assert parents == {talk.id: "", new: talk.id}


def test_a_fork_keeps_the_title_it_was_given(store, talk):
    """The one it began with, or another since."""
    talk.close()
    assert store.title_of(store.fork(talk.id)) == "t"
    store.rename(talk.id, "Lens work")
    assert store.title_of(store.fork(talk.id)) == "Lens work"
