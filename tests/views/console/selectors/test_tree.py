"""The session tree, as tree.md says it is: keys, filters, search, labels, what choosing an entry means."""

import asyncio

import pytest

from sightline.host import Abort, CommandReply, Label, MoveTo, Outline
from sightline.settings import Settings
from sightline.settings._tree import BranchSummary
from sightline.views.console.selectors import _tree
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel, WaitingPanel
from sightline.views.console.selectors._tree import TreePanel
from sightline.views.console.selectors._tree_rows import TreeLine, prefixes
from tests.journal.conversations import Talk, assistant, tool, user
from tests.views.console.selectors.support import HOSTILE, WIDTHS, Desk, HostOf, new_store

SUMMARIES = Settings(branch_summary=BranchSummary(enabled=True))


class Session:
    """The conversation of the document: two approaches, the first one active and labelled."""

    def __init__(self, tmp_path, **options):
        self.talk = Talk(new_store(tmp_path), cwd="/project")
        self.start = self.talk.step(user("Start task"))
        self.plan = self.talk.step(assistant("Plan"))
        self.a = self.talk.step(user("Try approach A"))
        self.a_result = self.talk.step(assistant("A result"))
        self.talk.move(self.plan)
        self.b = self.talk.step(user("Try approach B"))
        self.b_result = self.talk.step(assistant("B result"))
        self.talk.move(self.a_result)
        self.more = self.talk.step(user("Continue A"))
        self.talk.label(self.more, "milestone")
        self.desk = Desk(self.talk.store, self.talk.id, **options)
        self.host = HostOf(self.desk, self.talk)
        self.task = None

    async def open(self, args=""):
        self.task = asyncio.ensure_future(_tree.open(self.desk, args))
        await self.desk.until_shown(TreePanel)
        return self

    def entries(self, width=80):
        """The rows of the list, without what marks the highlighted one."""
        rows = self.desk.rows(width)
        return [row[2:] for row in rows if ": " in row or row.endswith(":")]

    @property
    def at(self):
        return self.desk.panel.list.highlighted.value

    async def ended(self):
        await asyncio.wait_for(self.task, 60)
        assert not self.desk.shown


async def test_the_tree_is_drawn_from_parents_with_its_active_branch_marked_and_labels_before_the_text(tmp_path):
    """tree.md/Tree UI model: from parent pointers; older children first; • on the active path; [label] before text."""
    session = await Session(tmp_path).open()
    assert session.entries() == [
        '• user: "Start task"',
        '• assistant: "Plan"',
        '├─ • user: "Try approach A"',
        '│  • assistant: "A result"',
        '│  • [milestone] user: "Continue A"',
        '└─ user: "Try approach B"',
        '   assistant: "B result"',
    ]
    session.desk.press("escape")
    await session.ended()


async def test_children_stand_by_time_the_older_first(tmp_path):
    """tree.md/Tree UI model: children are sorted by timestamp ascending, whatever their order in the file."""
    talk = Talk(new_store(tmp_path))
    root = talk.step(user("root"), time=1.0)
    talk.step(user("newer"), parent=root, time=9.0)
    talk.step(user("older"), parent=root, time=5.0)
    desk = Desk(talk.store, talk.id)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    rows = [row for row in desk.rows() if "user:" in row]
    assert [row.split('"')[1] for row in rows] == ["root", "older", "newer"]
    desk.press("escape")
    await task


def test_several_roots_are_branches_of_one_that_is_not_drawn():
    """tree.md/Tree UI model: multiple roots are shown under a virtual branching root; an unknown parent is none."""
    lines = [TreeLine("a"), TreeLine("b", "a"), TreeLine("c"), TreeLine("d", "gone")]
    assert prefixes(lines) == {"a": "├─ ", "b": "│  ", "c": "├─ ", "d": "└─ "}


async def test_an_entry_whose_parent_is_lost_is_shown_as_a_root(tmp_path):
    """tree.md/Tree UI model: orphaned or broken parent chains."""
    talk = Talk(new_store(tmp_path))
    talk.step(user("first"))
    talk.step(user("orphan"), parent="e99")
    desk = Desk(talk.store, talk.id)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    assert [row[2:] for row in desk.rows() if "user" in row] == ['├─ user: "first"', '└─ • user: "orphan"']
    desk.press("escape")
    await task


@pytest.mark.parametrize(("height", "rows"), [(24, 12), (60, 30), (11, 5), (25, 12)])
async def test_it_shows_half_the_terminal_around_the_selection(tmp_path, height, rows):
    """tree.md/Tree UI model: up to max(5, floor(terminalHeight / 2)) rows, recentered around the selection."""
    talk = Talk(new_store(tmp_path))
    ids = [talk.step(user(f"message {number}")) for number in range(100)]
    desk = Desk(talk.store, talk.id, height=height)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    shown = [row for row in desk.rows() if "message" in row]
    assert len(shown) == rows
    assert desk.panel.list.highlighted.value == ids[-1]
    desk.press(*["up"] * 50)
    shown = [row for row in desk.rows() if "message" in row]
    assert len(shown) == rows
    assert [index for index, row in enumerate(shown) if row.startswith("›")] == [rows // 2]
    assert len(desk.rows()) <= height
    desk.press("escape")
    await task


async def test_up_and_down_wrap_and_left_and_right_page(tmp_path):
    """tree.md/Keybindings inside tree selector: Up/Down move and wrap, Left/Right page up and down."""
    talk = Talk(new_store(tmp_path))
    ids = [talk.step(user(f"message {number}")) for number in range(40)]
    desk = Desk(talk.store, talk.id, height=24)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    desk.rows()
    for name, at in [("down", 0), ("down", 1), ("up", 0), ("up", 39), ("left", 27), ("right", 39), ("left", 27)]:
        desk.press(name)
        assert desk.panel.list.highlighted.value == ids[at], name
    desk.press("escape")
    await task


async def test_escape_ends_a_search_and_then_leaves(tmp_path):
    """tree.md/Keybindings inside tree selector: Esc clears the search if active, otherwise closes."""
    session = await Session(tmp_path).open()
    session.desk.type("result")
    await session.desk.until_rows("/ result")
    await session.desk.until(lambda: len(session.entries()) == 2)
    session.desk.press("escape")
    await session.desk.until(lambda: len(session.entries()) == 7)
    assert not session.task.done()
    session.desk.press("escape")
    await session.ended()
    assert [command for command in session.desk.submitted if not isinstance(command, Outline)] == []


async def test_ctrl_c_leaves_even_during_a_search(tmp_path):
    """tree.md/Keybindings inside tree selector: Ctrl+C closes the selector."""
    session = await Session(tmp_path).open()
    session.desk.type("result")
    session.desk.press("ctrl+c")
    await session.ended()
    assert session.desk.told == []


async def test_what_is_typed_is_searched_and_backspace_takes_it_back(tmp_path):
    """tree.md/Keybindings inside tree selector: Type appends to the query, Backspace deletes a character of it."""
    session = await Session(tmp_path).open()
    session.desk.type("b res")
    await session.desk.settled()
    assert session.entries() == ['assistant: "B result"']
    session.desk.press(*["backspace"] * 4)
    await session.desk.settled()
    assert session.desk.panel.view.search == "b"
    session.desk.paste(" result\n")
    await session.desk.settled()
    assert session.entries() == ['assistant: "B result"']
    session.desk.press("ctrl+c")
    await session.ended()


async def test_enter_waits_for_the_search_that_was_typed_before_it(tmp_path):
    """tree.md/Keybindings inside tree selector: Enter selects, of what was searched for, not of what was shown then."""
    session = await Session(tmp_path).open()
    session.desk.type("plan")
    session.desk.press("enter")
    await session.ended()
    assert session.desk.submitted[-1] == MoveTo(session.plan)


async def test_shift_l_sets_changes_and_clears_a_label(tmp_path):
    """tree.md/Labels: Shift+L; a text sets or updates, none clears; the resolved label is shown, all are kept.

    (tree.md/Keybindings inside tree selector)
    """
    session = await Session(tmp_path).open()
    desk = session.desk
    desk.press("up")
    assert session.at == session.a_result
    for label, shown in [("pivot", "[pivot] assistant"), ("better", "[better] assistant"), ("", '• assistant: "A')]:
        desk.press("L", "ctrl+u")
        assert any("label ›" in row for row in desk.rows())
        desk.type(label)
        desk.press("enter")
        await desk.settled()
        await desk.until_rows(shown)
        assert session.at == session.a_result
    labels = [command for command in desk.submitted if isinstance(command, Label)]
    assert labels == [Label(session.a_result, text) for text in ("pivot", "better", "")]
    kept = [node for node in session.talk.loaded().nodes.values() if node.type == "label"]
    assert len(kept) == 4  # one was there before
    desk.press("L", "escape", "escape")
    await session.ended()


async def test_a_label_that_cannot_be_kept_is_said(tmp_path):
    """tree.md/Labels: a refusal is told, and the tree stays."""
    session = await Session(tmp_path).open()
    session.desk.answers[Label] = lambda command: CommandReply(False, error="the disk is full", hint="make room")
    session.desk.press("L", "x", "enter")
    await session.desk.settled()
    assert session.desk.told == [("error", "the disk is full", "make room")]
    session.desk.press("escape")
    await session.ended()


async def test_ctrl_o_goes_through_the_filters_and_back(tmp_path):
    """tree.md/Keybindings inside tree selector: Ctrl+O cycles forward, Shift+Ctrl+O backward, in the order listed.

    (tree.md/Filters and search semantics)
    """
    session = await Session(tmp_path).open()
    seen = []
    for name in ["ctrl+o"] * 5 + ["ctrl+shift+o"] * 2:
        session.desk.press(name)
        await session.desk.settled()
        seen.append(session.desk.panel.view.filter)
        assert any(seen[-1] in row for row in session.desk.rows())
    assert seen == ["no-tools", "user-only", "labeled-only", "all", "default", "all", "labeled-only"]
    session.desk.press("escape")
    await session.ended()


FILTER = "tree.md/Filters and search semantics/"


@pytest.mark.parametrize(
    ("name", "filter", "shown"),
    [
        pytest.param(
            "alt+d", "default", ["ask", "words", "out", "broken", "custom_message", "late"], id=FILTER + "default"
        ),
        pytest.param("alt+t", "no-tools", ["ask", "words", "broken", "custom_message", "late"], id=FILTER + "no-tools"),
        pytest.param("alt+u", "user-only", ["ask"], id=FILTER + "user-only"),
        pytest.param("alt+l", "labeled-only", ["words"], id=FILTER + "labeled-only"),
        pytest.param(
            "alt+a",
            "all",
            ["ask", "calls", "words", "out", "broken", "label", "model", "think", "custom", "custom_message", "late"],
            id=FILTER + "all",
        ),
    ],
)
async def test_each_filter_shows_what_it_should(tmp_path, name, filter, shown):
    """tree.md/Filters and search semantics: what each of the five shows; Alt+D/T/U/L/A go to it directly.

    Messages of calls alone are hidden but for failed ones and the leaf.

    (tree.md/What `/tree` does)

    (tree.md/Keybindings inside tree selector)
    """
    talk = Talk(new_store(tmp_path))
    ids = {"ask": talk.step(user("question"))}
    ids["calls"] = talk.step(assistant("", "ls", stop="tool_use"))
    ids["words"] = talk.step(assistant("I look", "ls -l", stop="tool_use"))
    ids["out"] = talk.step(tool("listing"))
    ids["broken"] = talk.step(assistant("", "rm", stop="aborted"))
    ids["label"] = talk.label(ids["words"], "here")
    ids["model"] = talk.step(type="model_change", data={"model": "small"})
    ids["think"] = talk.step(type="thinking_level_change", data={"level": "high"})
    ids["custom"] = talk.step(type="custom", custom="mine")
    ids["custom_message"] = talk.step(user("from an extension"), type="custom_message", custom="note")
    ids["late"] = talk.step(assistant("", "true", stop="tool_use"))
    desk = Desk(talk.store, talk.id, height=40)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    desk.press("alt+u" if name == "alt+d" else "alt+d", name)
    await desk.settled()
    names = {id: each for each, id in ids.items()}
    found = [names[item.value] for item in desk.panel.list.matching]
    # The leaf stays visible where conversations are shown; a filter by role or label means what it says.
    assert found == [each for each in ids if each in shown]
    assert desk.panel.view.filter == filter
    desk.press("escape")
    await task


@pytest.mark.parametrize(
    ("words", "found"),
    [
        pytest.param("approach", 2, id=FILTER + "search text"),
        pytest.param("b APPROACH", 1, id=FILTER + "search all tokens, any case"),
        pytest.param("approach nowhere", 0, id=FILTER + "search and"),
        pytest.param("milestone", 1, id=FILTER + "search label"),
        pytest.param("assistant result", 2, id=FILTER + "search role"),
    ],
)
async def test_a_search_is_words_that_must_all_be_there(tmp_path, words, found):
    """tree.md/Filters and search semantics/Search behavior: tokens by spaces, any case, all of them; label, role."""
    session = await Session(tmp_path).open(words)
    await session.desk.settled()
    assert len(session.desk.panel.list) == found
    session.desk.press("ctrl+c")
    await session.ended()


async def test_a_search_finds_calls_summaries_and_custom_types(tmp_path):
    """tree.md/Filters and search semantics/Search behavior: commands, summaries, custom types too."""
    talk = Talk(new_store(tmp_path))
    talk.step(user("go"))
    talk.step(assistant("I run it", "pytest --lf", stop="tool_use"))
    talk.step(type="branch_summary", data={"summary": "the zebra branch"})
    talk.step(type="custom", custom="bookmark")
    desk = Desk(talk.store, talk.id)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    desk.press("alt+a")
    for words in ("pytest", "zebra", "bookmark"):
        desk.type(words)
        await desk.settled()
        assert len(desk.panel.list) == 1, words
        desk.press("escape")
        await desk.settled()
    desk.press("escape")
    await task


async def test_choosing_a_message_of_the_person_goes_before_it_with_its_words(tmp_path):
    """tree.md/Selection outcomes/Selecting user message: the leaf becomes its parent, the text comes to the editor.

    (tree.md/What `/tree` does)
    """
    session = await Session(tmp_path).open()
    session.desk.type("approach b")
    session.desk.press("enter")
    await session.ended()
    assert session.desk.draft == "Try approach B"
    assert session.talk.loaded().leaf == session.plan


async def test_choosing_the_first_message_goes_to_the_beginning(tmp_path):
    """tree.md/Selection outcomes/Selecting user message: of a root message the leaf resets."""
    session = await Session(tmp_path).open()
    session.desk.press("home", "enter")
    await session.ended()
    assert session.desk.draft == "Start task"
    assert session.talk.loaded().leaf == ""


async def test_choosing_a_custom_message_is_like_one_of_the_person(tmp_path):
    """tree.md/Selection outcomes/Selecting custom_message: the leaf becomes its parent, its text is extracted."""
    session = Session(tmp_path)
    before = session.talk.tree.leaf
    session.talk.step(user("from an extension"), type="custom_message", custom="note")
    session.talk.step(assistant("answer"))
    await session.open()
    session.desk.press("up", "enter")
    await session.ended()
    assert session.desk.draft == "from an extension"
    assert session.talk.loaded().leaf == before


async def test_choosing_anything_else_goes_right_behind_it(tmp_path):
    """tree.md/Selection outcomes/Selecting non-user node: the leaf becomes that node, the editor is left alone."""
    session = await Session(tmp_path).open()
    session.desk.draft = "half a thought"
    session.desk.type("b result")
    session.desk.press("enter")
    await session.ended()
    assert session.talk.loaded().leaf == session.b_result
    assert session.desk.draft == "half a thought"


async def test_choosing_where_one_is_does_nothing(tmp_path):
    """tree.md/Selection outcomes/Selecting current leaf: no-op, closes with "Already at this point"."""
    session = await Session(tmp_path).open()
    assert session.at == session.more
    session.desk.press("enter")
    await session.ended()
    assert session.desk.told == [("info", "Already at this point", "")]
    assert not any(isinstance(command, MoveTo) for command in session.desk.submitted)


async def test_what_was_being_written_is_not_lost_to_the_words_that_come_back(tmp_path):
    """tree.md/Selection outcomes: a draft stays behind the text of the message that was chosen."""
    session = await Session(tmp_path).open()
    session.desk.draft = "half a thought"
    session.desk.press("home", "enter")
    await session.ended()
    assert session.desk.draft == "Start task\n\nhalf a thought"


async def test_a_refused_move_is_said(tmp_path):
    """tree.md/Selection outcomes: where the host says no, nothing moves and the person hears why."""
    session = await Session(tmp_path).open()
    session.desk.answers[MoveTo] = lambda command: CommandReply(
        False, error="the agent is working", hint="stop it first"
    )
    session.desk.press("home", "enter")
    await session.ended()
    assert session.desk.told == [("error", "the agent is working", "stop it first")]
    assert session.desk.draft == ""


async def test_nothing_is_asked_about_summaries_unless_the_settings_say_so(tmp_path):
    """tree.md/Summary-on-switch flow: controlled by branchSummary.enabled, off by default."""
    session = await Session(tmp_path).open()
    session.desk.press("home", "enter")
    await session.ended()
    assert session.desk.submitted[-1] == MoveTo(session.start)


@pytest.mark.parametrize(
    ("keys", "move"),
    [
        (["enter"], {}),
        (["down", "enter"], {"summarize": True}),
        (["down", "down", "enter", *"only tests", "enter"], {"summarize": True, "instructions": "only tests"}),
    ],
    ids=["No summary", "Summarize", "Summarize with custom prompt"],
)
async def test_the_three_ways_to_leave_a_branch(tmp_path, keys, move):
    """tree.md/Summary-on-switch flow: No summary, Summarize, Summarize with custom prompt."""
    session = await Session(tmp_path, settings=SUMMARIES).open()
    session.desk.type("b result")
    session.desk.press("enter")
    await session.desk.until_shown(ChoicePanel)
    assert [row[2:] for row in session.desk.rows()[1:4]] == ["No summary", "Summarize", "Summarize with custom prompt"]
    for name in keys:
        await session.desk.until_shown()
        session.desk.press(name)
        if name == "enter":
            await asyncio.sleep(0)
            await session.desk.until(lambda: session.task.done() or session.desk.shown)
    await session.ended()
    assert session.desk.submitted[-1] == MoveTo(session.b_result, **move)
    types = [node.type for node in session.talk.loaded().path()]
    assert (types[-1] == "branch_summary") is bool(move)


async def test_escape_in_the_summary_prompt_goes_back_to_the_tree(tmp_path):
    """tree.md/Summary-on-switch flow: Escape in the summary prompt reopens the selector, where it was."""
    session = await Session(tmp_path, settings=SUMMARIES).open()
    session.desk.press("home", "enter")
    await session.desk.until_shown(ChoicePanel)
    session.desk.press("escape")
    await session.desk.until_shown(TreePanel)
    assert session.at == session.start
    session.desk.press("escape")
    await session.ended()
    assert not any(isinstance(command, MoveTo) for command in session.desk.submitted)


async def test_leaving_the_custom_prompt_goes_back_to_the_choice(tmp_path):
    """tree.md/Summary-on-switch flow: custom prompt cancellation returns to the summary choice."""
    session = await Session(tmp_path, settings=SUMMARIES).open()
    session.desk.press("home", "enter")
    await session.desk.until_shown(ChoicePanel)
    session.desk.press("end", "enter")
    await session.desk.until_shown(QuestionPanel)
    session.desk.press("escape")
    await session.desk.until_shown(ChoicePanel)
    session.desk.press("enter")
    await session.ended()
    assert session.desk.submitted[-1] == MoveTo(session.start)


async def test_a_summary_is_stopped_with_escape_and_then_nothing_has_moved(tmp_path):
    """tree.md/Summary-on-switch flow: a loader, Esc aborts; the selector reopens and no move is applied."""
    session = await Session(tmp_path, settings=SUMMARIES).open()
    stopped = asyncio.Event()

    async def slow(command):
        await stopped.wait()
        return CommandReply(False, error="it was stopped", hint="the conversation is unchanged")

    def abort(command):
        stopped.set()
        return CommandReply(True, data={"queued": []})

    session.desk.answers |= {MoveTo: slow, Abort: abort}
    leaf = session.talk.loaded().leaf
    session.desk.press("home", "enter")
    await session.desk.until_shown(ChoicePanel)
    session.desk.press("down", "enter")
    await session.desk.until_shown(WaitingPanel)
    assert any("Summarizing" in row for row in session.desk.rows())
    session.desk.press("escape", "escape")
    await session.desk.until_shown(TreePanel)
    assert session.desk.submitted.count(Abort()) == 1
    assert session.talk.loaded().leaf == leaf
    assert session.desk.told == []
    assert session.at == session.start
    session.desk.press("escape")
    await session.ended()


async def test_a_summary_that_fails_is_said_and_the_tree_is_there_again(tmp_path):
    """tree.md/Summary-on-switch flow: a failure moves nothing either."""
    session = await Session(tmp_path, settings=SUMMARIES).open()
    session.desk.answers[MoveTo] = lambda command: CommandReply(False, error="the model is overloaded")
    session.desk.press("home", "enter")
    await session.desk.until_shown(ChoicePanel)
    session.desk.press("down", "enter")
    await session.desk.until_shown(TreePanel)
    assert session.desk.told == [("error", "the model is overloaded", "")]
    session.desk.press("ctrl+c")
    await session.ended()


async def test_a_host_that_is_gone_is_said(tmp_path):
    """tree.md/What /tree does: it needs the host; without an answer nothing is shown but why."""
    desk = Desk(new_store(tmp_path), "abcdef")
    desk.answers[Outline] = lambda command: CommandReply(False, error="the host is gone", hint="press enter to resume")
    await _tree.open(desk, "")
    assert desk.told == [("error", "the host is gone", "press enter to resume")]


async def test_an_old_answer_does_not_replace_a_newer_one(tmp_path):
    """tree.md/Filters and search semantics/Search behavior: what is shown is what was typed last."""
    session = await Session(tmp_path).open()
    real, gates = session.host.outline, {}

    async def held(command):
        gates[command.search] = asyncio.Event()
        await gates[command.search].wait()
        return real(command)

    session.desk.answers[Outline] = held
    session.desk.type("b")
    await session.desk.until(lambda: "b" in gates)
    session.desk.type("plan")
    await session.desk.until(lambda: "bplan" in gates)
    assert set(gates) == {"b", "bplan"}  # what is typed faster than it is answered is asked once
    gates["bplan"].set()
    await session.desk.until(lambda: len(session.desk.panel.list) == 0)
    for gate in gates.values():
        gate.set()
    await session.desk.settled()
    assert len(session.desk.panel.list) == 0
    session.desk.press("ctrl+c")
    await session.ended()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("height", [8, 24])
async def test_it_fits_and_stays_clean_whatever_was_said(tmp_path, width, height):
    """tree.md/Tree UI model: at any size, with hostile text, wide characters and deep branches."""
    talk = Talk(new_store(tmp_path))
    for _ in range(12):
        fork = talk.step(user(HOSTILE))
        talk.step(assistant("side"))
        talk.move(fork)
    talk.label(fork, HOSTILE)
    desk = Desk(talk.store, talk.id, height=height)
    HostOf(desk, talk)
    task = asyncio.ensure_future(_tree.open(desk, ""))
    await desk.until_shown()
    rows = desk.rows(width)
    assert len(rows) <= height
    assert desk.panel.render(width) is desk.panel.render(width)
    desk.press("L")
    desk.rows(width)
    desk.press("escape", "escape")
    await task


async def test_in_linear_mode_a_search_is_read_out_before_anything_is_chosen(tmp_path):
    """tree.md/Keybindings inside tree selector: entered lines search, numbers choose."""
    session = await Session(tmp_path, linear=True).open()
    first = session.desk.panel
    session.desk.paste("result")
    session.desk.press("enter")
    await session.desk.until(lambda: session.desk.shown and session.desk.panel is not first)
    assert len(session.desk.panel.list) == 2
    session.desk.panel.list.choose()
    await session.ended()
    assert isinstance(session.desk.submitted[-1], MoveTo)


async def test_an_entry_of_a_type_nobody_knows_is_a_row_that_says_so(tmp_path):
    """tree.md/Filters and search semantics/default: other internal types appear, and not as blank rows."""
    session = Session(tmp_path)
    session.talk.step(type="weather_report", data={"sky": "grey"})
    await session.open()
    assert any("weather_report:" in row for row in session.desk.rows())
    session.desk.press("escape")
    await session.ended()
