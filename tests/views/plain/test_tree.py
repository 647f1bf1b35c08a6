"""The tree of a session as text."""

import json

import pytest

from sightline.host import MovedTree
from sightline.journal import Entry, Store
from sightline.views.plain._palette import COLOUR, PLAIN
from sightline.views.plain.commands.tree import labelled_text, moved_text, tree_json, tree_text
from tests.journal.conversations import Talk, assistant, tool, user


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


def test_what_is_said_after_a_move_or_a_label():
    """tree.md/Selecting user message: the place, and the words to begin with, filtered."""
    assert moved_text(MovedTree(True, "e2", "Try\x1b[2J approach B")) == (
        "the conversation continues after e2\n\nyour message, to change and send again:\n\nTry approach B\n"
    )
    assert moved_text(MovedTree(True, "")) == "the conversation continues from the start\n"
    assert moved_text(MovedTree(False, "e4")) == "already at this point: the conversation continues after e4\n"
    assert (labelled_text("e4", "good"), labelled_text("e5", "")) == ("e4 is [good]\n", "e5 has no label\n")


def test_a_very_long_conversation_is_drawn(store):
    """Ten thousand steps in one chain: no recursion, no step to the right."""
    talk = Talk(store)
    talk.writer.append([Entry(id=f"e{n}", parent=f"e{n - 1}", message=user(f"word {n}")) for n in range(1, 10_001)])
    rows = drawn(store, talk.close()).splitlines()
    assert rows[9_999] == 'e10000 • user: "word 10000"'
