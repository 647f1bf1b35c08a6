"""Moves and labels in the tree of a session, from outside: it runs, or it has ended."""

import asyncio

import pytest

from sightline.events import State
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host import CommandReply, Label, MovedTree, MoveTo, hosting, label_in_tree, move_in_tree
from sightline.journal import SessionTree, Store
from tests.journal.conversations import Talk, assistant, user
from tests.journal.test_journal_weather import files_at_most


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def session(store):
    """Two branches: one that was left, and the one it continues with."""
    talk = Talk(store)
    talk.step(user("Start task"))
    talk.step(assistant("Plan"))
    talk.step(user("Try approach A"))
    talk.step(assistant("A result"))
    talk.step(user("Continue A"))
    talk.move("e2")
    talk.step(user("Try approach B"))
    talk.step(assistant("B result"))
    talk.move("e5")
    talk.label("e5", "milestone")
    return talk.close()


def test_a_move_has_the_words_to_begin_with(store, session):
    """tree.md/Selecting user message; the move is kept, and views are told which events are shown."""
    assert move_in_tree(store, session, "e7") == MovedTree(True, "e2", "Try approach B")
    tree = SessionTree.load(store.folder(session))
    assert tree.leaf == "e2"
    last = list(store.read(session).events())[-1]
    assert isinstance(last, State)
    assert (last.key, last.value["leaf"], last.seq) == ("branch", "e2", 8)
    assert last.value["ranges"] == [[1, 2]]


def test_a_move_to_where_it_is_does_nothing(store, session):
    """tree.md/Selecting current leaf."""
    before = (store.folder(session) / "journal.jsonl").read_bytes()
    assert move_in_tree(store, session, "e5") == MovedTree(False, "e5")
    assert (store.folder(session) / "journal.jsonl").read_bytes() == before


def test_a_summary_is_made_of_what_is_left(store, session):
    """tree.md/Summary-on-switch flow: the entries below the common ancestor, the oldest first."""
    seen = []

    def summarise(entries):
        seen.extend(entry.id for entry in entries)
        return "A was tried"

    move_in_tree(store, session, "e8", summarise=summarise)
    assert seen == ["e3", "e4", "e5"]
    tree = SessionTree.load(store.folder(session))
    assert [node.id for node in tree.path()][:-1] == ["e1", "e2", "e7", "e8"]
    assert tree.messages()[-1].data == {"summary": "A was tried", "from": "e5"}


def test_nothing_left_nothing_summarised(store, session):
    """tree.md/Summary-on-switch flow, the note: the move goes on without."""
    move_in_tree(store, session, "e4")
    move_in_tree(store, session, "e5", summary="of what?")
    tree = SessionTree.load(store.folder(session))
    assert tree.leaf == "e4"
    assert "branch_summary" not in [node.type for node in tree.nodes.values()]


def test_a_summary_that_fails_moves_nothing(store, session):
    """tree.md/Summary-on-switch flow: if summarization aborts, no move is applied."""

    def aborted(entries):
        raise KeyboardInterrupt

    before = (store.folder(session) / "journal.jsonl").read_bytes()
    with pytest.raises(KeyboardInterrupt):
        move_in_tree(store, session, "e8", summarise=aborted)
    assert (store.folder(session) / "journal.jsonl").read_bytes() == before
    assert not store.is_running(session)


def test_labels_are_set_and_taken_away(store, session):
    """tree.md/Labels."""
    assert label_in_tree(store, session, "e4", " good \n idea ") == "good   idea"
    assert label_in_tree(store, session, "e5", "") == ""
    assert list(SessionTree.load(store.folder(session)).labels) == ["e4"]


def test_a_session_whose_host_does_not_answer_is_left_alone(store, session):
    """Whoever wants to move in it is told what to do; nothing is written by two."""
    writer = store.writer(session)
    before = (store.folder(session) / "journal.jsonl").read_bytes()
    for ask in (lambda: move_in_tree(store, session, "e8"), lambda: label_in_tree(store, session, "e4", "x")):
        with pytest.raises(OutsideFailure, match="is running but does not answer") as failure:
            ask()
        assert "sightline stop" in failure.value.hint
    assert (store.folder(session) / "journal.jsonl").read_bytes() == before
    writer.close()


class Obedient:
    """The agent of a session, as far as moves and labels go."""

    busy = False

    def __init__(self):
        self.asked = []

    async def submit(self, command):
        self.asked.append(command)
        if isinstance(command, Label):
            return CommandReply(command.target == "e1", error="no entry", hint="look")
        return CommandReply(True, data={"moved": command.to != "here", "leaf": "e4", "prefill": "again"})

    async def stop(self):
        pass


async def test_a_running_session_is_asked_to_do_it(store):
    """It has one writer: what is wanted goes there, and what it says comes back."""
    async with hosting(store, cwd="/x") as running:
        running.worker = agent = Obedient()

        def ask(what, *words, **options):
            return asyncio.to_thread(what, store, running.id, *words, **options)

        moved = await ask(move_in_tree, "e5", summarise=lambda entries: "not asked here")
        assert moved == MovedTree(True, "e4", "again")
        assert not (await ask(move_in_tree, "here")).moved
        assert await ask(label_in_tree, "e1", "x") == "x"
        with pytest.raises(UserMistake, match="no entry"):
            await ask(label_in_tree, "e9", "x")
        with pytest.raises(UserMistake, match="is running"):
            await ask(move_in_tree, "e5", summary="my words")
    assert agent.asked == [MoveTo("e5", True), MoveTo("here"), Label("e1", "x"), Label("e9", "x")]


def test_a_move_there_is_no_room_for_is_an_error(store, session):
    """And nothing half written stays."""
    size = (store.folder(session) / "journal.jsonl").stat().st_size
    with files_at_most(size + 10), pytest.raises(OutsideFailure, match="could not be stored"):
        move_in_tree(store, session, "e8")
    assert (store.folder(session) / "journal.jsonl").stat().st_size == size
