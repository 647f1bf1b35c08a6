"""The tree of a session as text: drawn, moved in, labelled."""

import asyncio
import json

import pytest

from sightline.events import State
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host import CommandReply, Label, MoveTo, hosting
from sightline.journal import Entry, SessionTree, Store
from sightline.views.plain._palette import COLOUR, PLAIN
from sightline.views.plain.commands.tree import label_in_tree, move_in_tree, tree_json, tree_text
from tests.journal.conversations import Talk, assistant, tool, user
from tests.journal.test_journal_weather import files_at_most


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def session(store):
    """The example of the document."""
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


def drawn(store, session, filter="default", search="", palette=PLAIN):
    return tree_text(store, session, palette, filter=filter, search=search)


def test_the_example_of_the_document(store, session):
    """tree.md/Tree UI model: the active path has bullets, labels stand before the text, branches go to the right."""
    assert drawn(store, session) == (
        'e1     • user: "Start task"\n'
        'e2     • assistant: "Plan"\n'
        'e3     ├─ • user: "Try approach A"\n'
        'e4     │  • assistant: "A result"\n'
        'e5     │  • [milestone] user: "Continue A"\n'
        'e7     └─ user: "Try approach B"\n'
        'e8        assistant: "B result"\n'
        "the conversation continues after e5\n"
    )


def test_several_roots_are_branches_of_one_that_is_not_there(store):
    """tree.md/Tree UI model: a virtual branching root."""
    talk = Talk(store)
    talk.step(user("a"))
    talk.step(assistant("lost its parent"), parent="gone")
    assert drawn(store, talk.close()) == (
        'e1     ├─ user: "a"\ne2     └─ • assistant: "lost its parent"\nthe conversation continues after e2\n'
    )


def test_branches_within_branches(store):
    """Each level keeps the lines of those above it."""
    talk = Talk(store)
    talk.step(user("a"))
    for parent in ("e1", "e1", "e2", "e2", "e1"):
        talk.step(user("x"), parent=parent)
    rows = [row[7:].partition("user")[0] for row in drawn(store, talk.close()).splitlines()[:-1]]
    assert rows == ["• ", "├─ ", "│  ├─ ", "│  └─ ", "├─ ", "└─ • "]


def test_each_kind_of_entry_says_what_it_is(store):
    """Words in quotes, everything else as it is."""
    talk = Talk(store)
    talk.step(assistant("", "make test", stop="aborted"))
    talk.step(tool("3 failed\nmore"))
    talk.step(type="model_change", data={"model": "opus"})
    talk.step(type="custom", custom="scratch", data=1)
    talk.step(user("noted"), type="custom_message", custom="notes")
    talk.step(type="compaction", data={"summary": "what was"})
    talk.label("e2", "pivot")
    rows = [row[7:] for row in drawn(store, talk.close(), "all").splitlines()]
    assert rows[:-1] == [
        "• assistant (aborted): bash make test",
        '• [pivot] tool: bash "3 failed more"',
        "• model_change: opus",
        "• custom scratch: scratch",
        '• custom_message notes: "noted"',
        '• compaction: "what was"',
        "label: e2 [pivot]",
    ]


def test_nothing_in_a_conversation_drives_the_terminal(store):
    """Words, labels, names of tools and extensions."""
    talk = Talk(store)
    evil = "\x1b]0;title\x07\x1b[2J\u202egnp\r\nnext"
    talk.step(user(evil))
    talk.step(tool(evil, name=evil))
    talk.step(user(evil), type="custom_message", custom=evil)
    talk.step(type="model_change", data={"model": evil})
    talk.label("e1", evil)
    text = drawn(store, talk.close(), "all")
    assert not any(character in text for character in "\x1b\x07\r\u202e")
    assert len(text.splitlines()) == 6


def test_colour_adds_nothing_but_colour(store, session):
    """Without its codes it is the same text."""
    coloured = drawn(store, session, palette=COLOUR)
    for code in (COLOUR.dim, COLOUR.busy, COLOUR.good, COLOUR.reset):
        assert code in coloured
        coloured = coloured.replace(code, "")
    assert coloured == drawn(store, session)


def test_filters_and_search(store, session):
    """What is left, and what is said when nothing is."""
    assert drawn(store, session, "labeled-only").startswith("e5     • [milestone] user:")
    assert drawn(store, session, search="approach b").startswith('e7     user: "Try approach B"')
    assert drawn(store, session, search="nowhere").startswith("nothing found\n")


def test_a_tree_as_json(store, session):
    """One object an entry, parents as they are."""
    facts = {fact["id"]: fact for fact in json.loads(tree_json(store, session, filter="default", search=""))}
    assert (facts["e7"]["parent"], facts["e7"]["active"], facts["e7"]["role"]) == ("e2", False, "user")
    assert (facts["e5"]["leaf"], facts["e5"]["label"], facts["e5"]["text"]) == (True, "milestone", '"Continue A"')


def test_a_move_prints_the_words_to_begin_with(store, session):
    """tree.md/Selecting user message; the move is kept, and views are told which events are shown."""
    said = move_in_tree(store, session, "e7")
    assert said == "the conversation continues after e2\n\nyour message, to change and send again:\n\nTry approach B\n"
    tree = SessionTree.load(store.folder(session))
    assert tree.leaf == "e2"
    last = list(store.read(session).events())[-1]
    assert isinstance(last, State)
    assert (last.key, last.value["leaf"], last.seq) == ("branch", "e2", 8)
    assert last.value["ranges"] == [[1, 2]]


def test_a_move_to_where_it_is_does_nothing(store, session):
    """tree.md/Selecting current leaf."""
    before = (store.folder(session) / "journal.jsonl").read_bytes()
    assert move_in_tree(store, session, "e5").startswith("already at this point")
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
    assert label_in_tree(store, session, "e4", " good \n idea ") == "e4 is [good   idea]\n"
    assert label_in_tree(store, session, "e5", "") == "e5 has no label\n"
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
        assert moved == "the conversation continues after e4\n\nyour message, to change and send again:\n\nagain\n"
        assert await ask(move_in_tree, "here") == "already at this point: the conversation continues after e4\n"
        assert await ask(label_in_tree, "e1", "x") == "e1 is [x]\n"
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


def test_a_very_long_conversation_is_drawn(store):
    """Ten thousand steps in one chain: no recursion, no step to the right."""
    talk = Talk(store)
    talk.writer.append([Entry(id=f"e{n}", parent=f"e{n - 1}", message=user(f"word {n}")) for n in range(1, 10_001)])
    rows = drawn(store, talk.close()).splitlines()
    assert rows[9_999] == 'e10000 • user: "word 10000"'
