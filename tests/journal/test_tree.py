"""The session tree: every rule of the tree's document that is not about a screen, and what reads a path."""

import msgspec
import pytest

from sightline.conversation import AssistantMessage, ReasoningPart
from sightline.events import CallEnding
from sightline.exceptions import UserMistake
from sightline.journal import Entry, Moment, SessionTree, Store, content_of, label_entry, move_entries, outline
from tests.journal.conversations import Talk, assistant, tool, user


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


@pytest.fixture
def talk(store):
    """The example of the document: a plan, approach A with a milestone, approach B; the leaf is below A.

    e1 user · e2 assistant · [e3 user A · e4 assistant · e5 user] [e6 leaf · e7 user B · e8 assistant · e9 leaf]
    """
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
    return talk


def ids(nodes):
    return [node.id for node in nodes]


def listed(tree, filter="default", search=""):
    return [line.node.id for line in outline(tree, filter, search)]


# Tree UI model


def children_by_time(talk):
    talk.move("e2")
    talk.step(user("older than both"), time=0.5, id="old")
    return ids(talk.loaded().children("e2")), ["old", "e3", "e7"]


def active_branch(talk):
    return [line.node.id for line in outline(talk.loaded()) if line.active], ["e1", "e2", "e3", "e4", "e5"]


def labels_shown(talk):
    return {line.node.id: line.label for line in outline(talk.loaded()) if line.label}, {"e5": "milestone"}


def several_roots(talk):
    talk.move("")
    talk.step(user("from the beginning"), time=99.0)
    talk.step(assistant("lost its parent"), parent="gone", time=100.0)
    tree = talk.loaded()
    found = [(node.id, node.orphan) for node in tree.roots if node.type == "message"]
    return found, [("e1", False), ("e12", False), ("e13", True)]


def parent_pointers(talk):
    return [(line.node.id, line.above) for line in outline(talk.loaded())], [
        ("e1", ""),
        ("e2", "e1"),
        ("e3", "e2"),
        ("e4", "e3"),
        ("e5", "e4"),
        ("e7", "e2"),
        ("e8", "e7"),
    ]


# Selection outcomes


def user_message(talk):
    move = talk.loaded().move("e3")
    return (move.leaf, move.prefill, move.already), ("e2", "Try approach A", False)


def root_user_message(talk):
    move = talk.loaded().move("e1")
    return (move.leaf, move.prefill), ("", "Start task")


def custom_message(talk):
    id = talk.step(user("from an extension"), type="custom_message", custom="notes")
    talk.step(assistant("ok"))
    move = talk.loaded().move(id)
    return (move.leaf, move.prefill), ("e5", "from an extension")


def assistant_message(talk):
    move = talk.loaded().move("e4")
    return (move.leaf, move.prefill), ("e4", "")


def tool_message(talk):
    id = talk.step(tool("output"))
    talk.step(assistant("ok"))
    return talk.loaded().move(id).leaf, id


def bookkeeping(talk):
    ids = [
        talk.step(type="model_change", data={"model": "m"}),
        talk.step(type="custom", custom="notes", data=[1]),
        talk.step(type="compaction", data={"summary": "s", "first_kept": "e4"}),
        talk.step(type="branch_summary", data={"summary": "s", "from": "e8"}),
    ]
    talk.step(user("more"))
    tree = talk.loaded()
    return [(tree.move(id).leaf, tree.move(id).prefill) for id in ids], [(id, "") for id in ids]


def current_leaf(talk):
    return talk.loaded().move("e5").already, True


def a_move_is_kept(talk):
    tree = talk.tree
    entries = move_entries(tree, tree.move("e7"), Moment(50.0, talk.seq))
    talk.writer.append(entries)
    again = talk.loaded()
    return (again.leaf, ids(again.path()), [entry.type for entry in entries]), ("e2", ["e1", "e2"], ["leaf"])


def a_root_move_is_kept(talk):
    talk.writer.append(move_entries(talk.tree, talk.tree.move("e1"), Moment(50.0, talk.seq)))
    again = talk.loaded()
    return (again.leaf, again.path(), again.messages()), ("", [], [])


# Summary-on-switch flow


def abandoned(talk):
    tree = talk.loaded()
    return [entry.id for entry in tree.abandoned("e5", "e7")], ["e3", "e4", "e5"]


def abandoned_to_an_ancestor(talk):
    return [entry.id for entry in talk.loaded().abandoned("e5", "e2")], ["e3", "e4", "e5"]


def abandoned_to_the_root(talk):
    return [entry.id for entry in talk.loaded().abandoned("e8", "")], ["e1", "e2", "e7", "e8"]


def nothing_abandoned(talk):
    return talk.loaded().abandoned("e2", "e5"), []


def branch_with_summary(talk):
    tree = talk.tree
    entries = move_entries(tree, tree.move("e8"), Moment(50.0, talk.seq), summary="A was tried")
    talk.writer.append(entries)
    again = talk.loaded()
    last = again.messages()[-1]
    found = (last.type, last.parent, last.data, ids(again.path()))
    return found, (
        "branch_summary",
        "e8",
        {"summary": "A was tried", "from": "e5"},
        ["e1", "e2", "e7", "e8", again.leaf],
    )


def no_move_without_going(talk):
    tree = talk.tree
    return move_entries(tree, tree.move("e5"), Moment(50.0, 0), summary="nothing was left"), []


# Labels


def label_is_set(talk):
    return talk.loaded().labels, {"e5": "milestone"}


def label_is_updated(talk):
    talk.label("e5", "goal")
    return talk.loaded().labels, {"e5": "goal"}


def label_is_cleared(talk):
    talk.label("e5", "")
    return talk.loaded().labels, {}


def label_history_stays(talk):
    talk.label("e5", "")
    kept = [entry.data["label"] for entry in talk.store.read(talk.id).entries() if entry.type == "label"]
    return kept, ["milestone", ""]


def a_label_is_not_the_leaf(talk):
    return talk.loaded().leaf, "e5"


def a_label_by_hand(talk):
    talk.writer.append([label_entry(talk.tree, "e3", "here", Moment(1.0, talk.seq))])
    return talk.loaded().labels, {"e5": "milestone", "e3": "here"}


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(children_by_time, id="tree.md/Tree UI model/children by time"),
        pytest.param(active_branch, id="tree.md/Tree UI model/active branch"),
        pytest.param(labels_shown, id="tree.md/Tree UI model/labels"),
        pytest.param(several_roots, id="tree.md/Tree UI model/several roots"),
        pytest.param(parent_pointers, id="tree.md/Tree UI model/parent pointers"),
        pytest.param(user_message, id="tree.md/Selecting user message/parent and words"),
        pytest.param(root_user_message, id="tree.md/Selecting user message/root"),
        pytest.param(custom_message, id="tree.md/Selecting custom_message"),
        pytest.param(assistant_message, id="tree.md/Selecting non-user node/assistant"),
        pytest.param(tool_message, id="tree.md/Selecting non-user node/tool"),
        pytest.param(bookkeeping, id="tree.md/Selecting non-user node/bookkeeping"),
        pytest.param(current_leaf, id="tree.md/Selecting current leaf"),
        pytest.param(a_move_is_kept, id="tree.md/What tree does/leaf move in the same file"),
        pytest.param(a_root_move_is_kept, id="tree.md/Selection outcomes/reset leaf"),
        pytest.param(abandoned, id="tree.md/Summary-on-switch flow/abandoned entries"),
        pytest.param(abandoned_to_an_ancestor, id="tree.md/Summary-on-switch flow/to an ancestor"),
        pytest.param(abandoned_to_the_root, id="tree.md/Summary-on-switch flow/to the root"),
        pytest.param(nothing_abandoned, id="tree.md/Summary-on-switch flow/nothing to summarise"),
        pytest.param(branch_with_summary, id="tree.md/Summary-on-switch flow/branch with summary"),
        pytest.param(no_move_without_going, id="tree.md/Summary-on-switch flow/already there"),
        pytest.param(label_is_set, id="tree.md/Labels/set"),
        pytest.param(label_is_updated, id="tree.md/Labels/update"),
        pytest.param(label_is_cleared, id="tree.md/Labels/clear"),
        pytest.param(label_history_stays, id="tree.md/Labels/append-only"),
        pytest.param(a_label_is_not_the_leaf, id="tree.md/Labels/does not move"),
        pytest.param(a_label_by_hand, id="tree.md/Labels/bookmark pivot points"),
    ],
)
def test_the_tree(case, talk):
    """What the document says; the case shows it and what it should be."""
    found, wanted = case(talk)
    assert found == wanted


@pytest.fixture
def mixed(store):
    """One of everything, in one chain; the leaf is the last."""
    talk = Talk(store)
    talk.step(user("Fix the TEST please"), id="user")
    talk.step(assistant("", "make test", stop="tool_use"), id="calls")
    talk.step(tool("3 failed"), id="result")
    talk.step(assistant("I see", "git diff", stop="tool_use"), id="both")
    talk.step(tool("nothing"), id="result2")
    talk.step(assistant("", "rm -r build", stop="aborted"), id="aborted")
    talk.step(assistant("", "sleep 9", stop="error"), id="error")
    talk.step(AssistantMessage([ReasoningPart("hm")]), id="thinking")
    talk.step(type="model_change", data={"model": "opus"}, id="model")
    talk.step(type="thinking_level_change", data={"level": "high"}, id="level")
    talk.step(type="custom", custom="scratch", data={"a": 1}, id="custom")
    talk.step(user("noted", "extension"), type="custom_message", custom="notes", id="custommsg")
    talk.step(type="compaction", data={"summary": "we fixed it", "first_kept": "both"}, id="compaction")
    talk.step(type="branch_summary", data={"summary": "left a mess", "from": "x"}, id="summary")
    talk.step(assistant("", "true", stop="stop"), id="hidden")
    talk.step(assistant("", "ls", stop="tool_use"), id="leaf")
    talk.label("result", "pivot")
    talk.label("calls", "unseen")
    return talk


TALKED = ["user", "result", "both", "result2", "aborted", "error", "thinking", "custommsg", "compaction", "summary"]


@pytest.mark.parametrize(
    ("filter", "shown"),
    [
        pytest.param("default", [*TALKED, "leaf"], id="tree.md/Filters/default"),
        pytest.param(
            "no-tools",
            [id for id in [*TALKED, "leaf"] if not id.startswith("result")],
            id="tree.md/Filters/no-tools",
        ),
        pytest.param("user-only", ["user"], id="tree.md/Filters/user-only"),
        pytest.param("labeled-only", ["result"], id="tree.md/Filters/labeled-only"),
    ],
)
def test_filters(mixed, filter, shown):
    """Which entries are listed; a message of calls alone only when it ended badly or is the leaf."""
    assert listed(mixed.loaded(), filter) == shown


@pytest.mark.parametrize("id", [pytest.param(None, id="tree.md/Filters/all")])
def test_all_leaves_out_nothing(mixed, id):
    """Everything in the session, labels included."""
    assert sorted(listed(mixed.loaded(), "all")) == sorted(mixed.tree.nodes)


@pytest.mark.parametrize(
    ("stop", "is_leaf", "shown"),
    [
        pytest.param("stop", False, False, id="tree.md/Tool-only assistant/stop"),
        pytest.param("tool_use", False, False, id="tree.md/Tool-only assistant/toolUse"),
        pytest.param("aborted", False, True, id="tree.md/Tool-only assistant/aborted"),
        pytest.param("error", False, True, id="tree.md/Tool-only assistant/error"),
        pytest.param("length", False, True, id="tree.md/Tool-only assistant/length"),
        pytest.param("refusal", False, True, id="tree.md/Tool-only assistant/refusal"),
        pytest.param("tool_use", True, True, id="tree.md/Tool-only assistant/current leaf"),
    ],
)
def test_a_message_of_calls_alone(store, stop, is_leaf, shown):
    """Hidden unless it ended badly or is where the conversation goes on."""
    talk = Talk(store)
    talk.step(user("a"))
    talk.step(assistant("", "make", stop=stop))
    if not is_leaf:
        talk.step(user("b"))
    for filter in ("default", "no-tools"):
        assert ("e2" in listed(talk.loaded(), filter)) == shown


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("fix please", ["user"], id="tree.md/Search/all tokens"),
        pytest.param("fix nowhere", [], id="tree.md/Search/one token missing"),
        pytest.param("test", ["user"], id="tree.md/Search/case of the text"),
        pytest.param("FAILED", ["result"], id="tree.md/Search/case of the query"),
        pytest.param("  please   fix ", ["user"], id="tree.md/Search/spaces and order"),
        pytest.param("pivot", ["result"], id="tree.md/Search/label"),
        pytest.param("user", ["user", "custommsg"], id="tree.md/Search/role"),
        pytest.param("git diff", ["both"], id="tree.md/Search/tool command"),
        pytest.param("branch_summary", ["summary"], id="tree.md/Search/type"),
        pytest.param("mess left", ["summary"], id="tree.md/Search/branch summary text"),
        pytest.param("we fixed", ["compaction"], id="tree.md/Search/compaction text"),
        pytest.param("notes", ["custommsg"], id="tree.md/Search/custom type"),
        pytest.param("opus", [], id="tree.md/Search/what the filter hides stays hidden"),
        pytest.param("", [*TALKED, "leaf"], id="tree.md/Search/no query"),
    ],
)
def test_search(mixed, query, found):
    """Each word must be in the entry's label, role, type or content."""
    assert listed(mixed.loaded(), "default", query) == found


@pytest.mark.parametrize(
    ("query", "found"),
    [
        pytest.param("model", ["model"], id="tree.md/Investigate hidden bookkeeping/model"),
        pytest.param("opus", ["model"], id="tree.md/Investigate hidden bookkeeping/its name"),
        pytest.param("thinking high", ["level"], id="tree.md/Investigate hidden bookkeeping/thinking"),
        pytest.param("scratch", ["custom"], id="tree.md/Investigate hidden bookkeeping/custom"),
    ],
)
def test_search_of_everything(mixed, query, found):
    """With the filter `all` the bookkeeping is found as well."""
    assert listed(mixed.loaded(), "all", query) == found


def test_what_is_hidden_passes_its_children_on(mixed):
    """A listed entry stands under the nearest listed one above it."""
    above = {line.node.id: line.above for line in outline(mixed.loaded(), "no-tools")}
    assert (above["both"], above["custommsg"], above["leaf"]) == ("user", "thinking", "summary")


def test_rerunning_an_earlier_prompt_keeps_the_branch(talk):
    """tree.md/Operator workflows: a new branch grows from the chosen point in the same file."""
    tree = talk.tree
    move = tree.move("e3")
    for entry in move_entries(tree, move, Moment(50.0, talk.seq)):
        talk.writer.append([entry])
        tree.add(entry, talk.writer.place_of(entry.id))
    new = talk.step(user(move.prefill + ", carefully"))
    again = talk.loaded()
    assert ids(again.path()) == ["e1", "e2", new]
    assert ids(again.path("e5")) == ["e1", "e2", "e3", "e4", "e5"]


def test_an_entry_that_is_not_there_is_said_to_be_missing(talk):
    """Moves, paths and labels name what they cannot find."""
    for ask in (talk.tree.move, talk.tree.path, lambda id: label_entry(talk.tree, id, "x", Moment(0.0, 0))):
        with pytest.raises(UserMistake, match="no entry e99"):
            ask("e99")


def test_a_compaction_hides_what_it_summarises(store):
    """The summary, then what was kept, then what came after; the tree has all of it still."""
    talk = Talk(store)
    for number in range(1, 5):
        talk.step(user(f"u{number}"))
    talk.step(type="compaction", data={"summary": "u1 and u2", "first_kept": "e3", "tokens_before": 9})
    talk.step(user("u6"))
    tree = talk.loaded()
    assert [entry.id for entry in tree.messages()] == ["e5", "e3", "e4", "e6"]
    assert [entry.id for entry in tree.messages("e4")] == ["e1", "e2", "e3", "e4"]


def test_the_last_compaction_on_the_path_counts(store):
    """An older summary is part of what the newer one sums up."""
    talk = Talk(store)
    talk.step(user("u1"))
    talk.step(type="compaction", data={"summary": "s1", "first_kept": "e1"})
    talk.step(user("u3"))
    talk.step(type="compaction", data={"summary": "s2", "first_kept": "e3"})
    talk.step(user("u5"))
    assert [entry.id for entry in talk.loaded().messages()] == ["e4", "e3", "e5"]


def test_a_compaction_whose_kept_entry_is_not_on_the_path_keeps_nothing_before_it(store):
    """What is uncertain is not sent to a model twice."""
    talk = Talk(store)
    talk.step(user("u1"))
    talk.step(type="compaction", data={"summary": "s1", "first_kept": "elsewhere"})
    talk.step(user("u3"))
    assert [entry.id for entry in talk.loaded().messages()] == ["e2", "e3"]


def test_the_events_of_a_path(talk):
    """Each entry has those before it; another branch's are not among them."""
    tree = talk.loaded()
    assert tree.ranges("e5") == [(1, 5)]
    assert tree.ranges("e8") == [(1, 2), (6, 7)]
    assert tree.ranges("e2") == [(1, 2)]
    assert tree.ranges("") == []


def test_events_around_labels_and_moves_belong_to_somebody(store):
    """Nothing that was shown on a branch is missing when it is shown again."""
    talk = Talk(store)
    talk.step(user("a"))  # 1
    talk.say("half an answer")  # 2
    talk.label("e1", "x")
    talk.step(assistant("b"))  # 2 and 3
    talk.say("broken off")  # 4
    talk.move("e1")
    talk.step(user("c"))  # 5
    talk.say("still going on")  # 6
    tree = talk.loaded()
    assert tree.ranges("e3") == [(1, 4)]
    assert tree.ranges() == [(1, 1), (5, 6)]


def test_the_last_of_a_kind_on_the_path(store):
    """Which model was chosen depends on the branch."""
    talk = Talk(store)
    talk.step(type="model_change", data={"model": "one"})
    talk.step(user("a"))
    talk.step(type="model_change", data={"model": "two"})
    tree = talk.loaded()
    assert tree.latest("model_change").data == {"model": "two"}
    assert tree.latest("model_change", "e2").data == {"model": "one"}
    assert tree.latest("thinking_level_change") is None


def test_a_move_to_what_is_not_there_is_no_move(talk):
    """The leaf stays where it was; a damaged move does not lose the conversation."""
    talk.writer.append([Entry(id="m1", type="leaf", data={"to": "gone"}), Entry(id="m2", type="leaf", data="what")])
    assert talk.loaded().leaf == "e5"


def test_the_first_of_two_entries_with_one_id_counts(talk):
    """Entries are never changed."""
    talk.writer.append([Entry(id="e2", parent="e8", message=user("another"))])
    tree = talk.loaded()
    assert (tree.nodes["e2"].role, tree.leaf) == ("assistant", "e5")


def test_parents_stand_before_their_children(store):
    """So a circle cannot be: of two that name each other the first is a root."""
    writer = store.create()
    writer.append([Entry(id="a", parent="b"), Entry(id="b", parent="a"), Entry(id="c", parent="c")])
    tree = SessionTree.load(writer.folder)
    assert [(node.id, node.parent) for node in tree.nodes.values()] == [("a", ""), ("b", "a"), ("c", "")]


def test_new_names_are_not_taken(talk):
    """Also after a fork or an import brought others."""
    assert talk.loaded().next_id() == "e11"
    assert talk.loaded().next_id(1) == "e12"
    talk.step(user("x"), id="e500")
    talk.step(user("x"), id="imported")
    assert talk.loaded().next_id() == "e501"


def test_every_type_says_something(mixed):
    """No entry is a blank row but one that has nothing to say."""
    tree = mixed.loaded()
    blank = [entry.id for entry in tree.read(tree.nodes.values()) if not content_of(entry)]
    assert blank == ["thinking"]


def test_a_tree_built_step_by_step_is_the_one_that_is_read(mixed):
    """The writer's own tree and the one on the disk cannot disagree."""
    assert mixed.loaded().nodes == mixed.tree.nodes
    assert mixed.loaded().leaf == mixed.tree.leaf


@pytest.mark.parametrize(
    ("said", "ending", "shown"),
    [
        ("(no output)\n[exit 6]", CallEnding(outcome_lines=["(no output)", "[exit 6]"], exit_code=6), "bash\nexit 6"),
        ("(no output)", CallEnding(outcome_lines=["(no output)"]), "bash"),
        ("boom\n[exit 1]\n[hint]", CallEnding(outcome_lines=["[exit 1]", "[hint]"], exit_code=1), "bash\nboom\nexit 1"),
        ("refused: run it. Reason: not now", CallEnding(by="user", reason="not now"), "bash\nrefused\nyou: not now"),
        ("refused: run it", CallEnding(by="user"), "bash\nrefused\nby you"),
        ("no: run it", CallEnding(by="rule", rule="exec(a)"), "bash\nrefused\nnot allowed (rule: exec(a))"),
        ("as it is\n[exit code 6]", None, "bash\nas it is\n[exit code 6]"),
    ],
)
def test_a_result_is_listed_without_words_for_the_model(said, ending, shown):
    """As the transcript has it: how it ended is said in short, what it wrote stays."""
    message = msgspec.structs.replace(tool(said), ending=ending)
    entry = Entry(id="e1", parent="", time=1.0, seq=1, type="message", message=message)
    assert content_of(entry) == shown
