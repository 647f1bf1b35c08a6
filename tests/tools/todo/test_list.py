"""todo.md: every operation, state transition, error and note."""

from pathlib import Path
from typing import Any

import pytest

from sightline.tools import Outcome, ToolContext, ToolError, parameters
from sightline.tools.todo import TodoTool
from tests.tools.support import make_context

TWO = {"op": "init", "list": [{"phase": "One", "items": ["a", "b"]}, {"phase": "Two", "items": ["c"]}]}
SAME_NAMES = {"op": "init", "list": [{"phase": "P", "items": ["a", "a"]}, {"phase": "P", "items": ["b"]}]}
LETTERS = {" ": "pending", "/": "in_progress", "x": "completed", "-": "abandoned"}


async def apply(context: ToolContext, *ops: dict[str, Any]) -> Outcome:
    tool = TodoTool()
    return await tool.execute(parameters(tool, {"ops": list(ops)}), context)


def state(outcome: Outcome) -> str:
    """`One: a/ b  | Two: c ` with a letter for the status."""
    marks = {status: letter for letter, status in LETTERS.items()}
    return " | ".join(
        f"{phase['name']}: "
        + " ".join(task["content"] + marks[task.get("status", "pending")] for task in phase["tasks"])
        for phase in outcome.details["phases"]
    )


@pytest.mark.parametrize(
    ("ops", "after"),
    [
        pytest.param([TWO], "One: a/ b  | Two: c ", id="todo.md/TodoOpEntry/init"),
        pytest.param(
            [TWO, {"op": "init", "list": [{"phase": "New", "items": ["z"]}], "task": "a", "phase": "One"}],
            "New: z/",
            id="todo.md/TodoOpEntry/init uses no other field and discards what was",
        ),
        pytest.param([TWO, {"op": "init", "list": []}], "", id="todo.md/TodoOpEntry/init with nothing"),
        pytest.param([TWO, {"op": "start", "task": "c"}], "One: a  b  | Two: c/", id="todo.md/TodoOpEntry/start"),
        pytest.param([TWO, {"op": "done", "task": "a"}], "One: ax b/ | Two: c ", id="todo.md/TodoOpEntry/done task"),
        pytest.param(
            [TWO, {"op": "done", "phase": "One"}], "One: ax bx | Two: c/", id="todo.md/TodoOpEntry/done phase"
        ),
        pytest.param([TWO, {"op": "done"}], "One: ax bx | Two: cx", id="todo.md/TodoOpEntry/done all"),
        pytest.param([TWO, {"op": "drop", "task": "a"}], "One: a- b/ | Two: c ", id="todo.md/TodoOpEntry/drop task"),
        pytest.param(
            [TWO, {"op": "drop", "phase": "One"}], "One: a- b- | Two: c/", id="todo.md/TodoOpEntry/drop phase"
        ),
        pytest.param([TWO, {"op": "drop"}], "One: a- b- | Two: c-", id="todo.md/TodoOpEntry/drop all"),
        pytest.param([TWO, {"op": "rm", "task": "a"}], "One: b/ | Two: c ", id="todo.md/TodoOpEntry/rm task"),
        pytest.param([TWO, {"op": "rm", "phase": "One"}], "One:  | Two: c/", id="todo.md/TodoOpEntry/rm phase"),
        pytest.param([TWO, {"op": "rm"}], "One:  | Two: ", id="todo.md/TodoOpEntry/rm all"),
        pytest.param(
            [TWO, {"op": "append", "phase": "Two", "items": ["d", "e"]}],
            "One: a/ b  | Two: c  d  e ",
            id="todo.md/TodoOpEntry/append",
        ),
        pytest.param(
            [TWO, {"op": "append", "phase": "Three", "items": ["d"]}],
            "One: a/ b  | Two: c  | Three: d ",
            id="todo.md/Op targeting rules/append creates a missing phase",
        ),
        pytest.param(
            [{"op": "append", "phase": "First", "items": ["d"]}],
            "First: d/",
            id="todo.md/TodoOpEntry/append to no list",
        ),
        pytest.param(
            [TWO, {"op": "note", "task": "b", "text": "x"}], "One: a/ b  | Two: c ", id="todo.md/TodoOpEntry/note"
        ),
        pytest.param(
            [TWO, {"op": "done", "task": "a", "phase": "Two"}],
            "One: ax b/ | Two: c ",
            id="todo.md/Op targeting rules/task wins over phase",
        ),
        pytest.param(
            [TWO, {"op": "done", "task": None, "phase": "Two"}],
            "One: a/ b  | Two: cx",
            id="todo.md/Op targeting rules/null is not set",
        ),
        pytest.param(
            [TWO, {"op": "start", "task": "b"}, {"op": "done", "task": "b"}, {"op": "start", "task": "c"}],
            "One: a  bx | Two: c/",
            id="todo.md/Flow/in order",
        ),
        pytest.param(
            [TWO, {"op": "done"}, {"op": "append", "phase": "Two", "items": ["d"]}],
            "One: ax bx | Two: cx d/",
            id="todo.md/Flow/the first pending is promoted",
        ),
        pytest.param(
            [SAME_NAMES, {"op": "done", "task": "a"}, {"op": "drop", "phase": "P"}],
            "P: a- a- | P: b/",
            id="todo.md/Notes/init takes duplicates, the first match counts",
        ),
    ],
)
async def test_operations(tmp_path: Path, ops: list[dict[str, Any]], after: str) -> None:
    """One task is in progress afterwards if any is left to do."""
    outcome = await apply(make_context(tmp_path), *ops)
    assert state(outcome) == after
    assert not outcome.is_error


@pytest.mark.parametrize("op", ["start", "done", "drop", "rm", "append", "note"])
@pytest.mark.parametrize("letter", LETTERS)
async def test_state_transitions(tmp_path: Path, letter: str, op: str) -> None:
    """todo.md/State transitions: what becomes of a task in each status; another, done, keeps the rest out of it."""
    expected = {"start": "t/", "done": "tx", "drop": "t-", "rm": "", "append": f"t{letter}", "note": f"t{letter}"}[op]
    context = make_context(tmp_path)
    begin: dict[str, list[dict[str, Any]]] = {
        " ": [{"op": "start", "task": "o"}],
        "/": [{"op": "start", "task": "t"}],
        "x": [{"op": "done", "task": "t"}, {"op": "start", "task": "o"}],
        "-": [{"op": "drop", "task": "t"}, {"op": "start", "task": "o"}],
    }
    before = await apply(context, {"op": "init", "list": [{"phase": "P", "items": ["t", "o"]}]}, *begin[letter])
    assert state(before).startswith(f"P: t{letter} ")
    entry: dict[str, Any] = {"op": op, "task": "t"}
    if op == "append":
        entry = {"op": op, "phase": "P", "items": ["new"]}
    elif op == "note":
        entry["text"] = "n"
    after = state(await apply(context, entry)).removeprefix("P: ")
    assert after.startswith(expected)
    assert after.count("/") == 1
    if op == "append":
        assert after.endswith("new ")


@pytest.mark.parametrize(
    ("ops", "error"),
    [
        pytest.param([{"op": "init"}], "Missing list for init operation", id="todo.md/Errors/init without list"),
        pytest.param([{"op": "start"}], "Missing task content", id="todo.md/Errors/start without task"),
        pytest.param([{"op": "note", "text": "x"}], "Missing task content", id="todo.md/Errors/note without task"),
        pytest.param([{"op": "done", "task": ""}], "Missing task content", id="todo.md/Errors/done with an empty task"),
        pytest.param([{"op": "start", "task": "q"}], 'Task "q" not found', id="todo.md/Errors/task not found"),
        pytest.param([{"op": "rm", "task": "A"}], 'Task "A" not found', id="todo.md/Notes/exact equality"),
        pytest.param([{"op": "drop", "phase": ""}], "Missing phase name", id="todo.md/Errors/empty phase"),
        pytest.param([{"op": "done", "phase": "X"}], 'Phase "X" not found', id="todo.md/Errors/phase not found"),
        pytest.param(
            [{"op": "append", "items": ["q"]}],
            "Missing phase name for append operation",
            id="todo.md/Errors/append without phase",
        ),
        pytest.param(
            [{"op": "append", "phase": "One"}],
            "Missing items for append operation",
            id="todo.md/Errors/append without items",
        ),
        pytest.param(
            [{"op": "append", "phase": "One", "items": ["c"]}],
            'Task "c" already exists',
            id="todo.md/Errors/append of a task of another phase",
        ),
        pytest.param(
            [{"op": "append", "phase": "One", "items": ["q", "q"]}],
            'Task "q" already exists',
            id="todo.md/Errors/append of one twice",
        ),
        pytest.param([{"op": "note", "task": "a"}], "Missing text for note operation", id="todo.md/Errors/no text"),
        pytest.param(
            [{"op": "note", "task": "a", "text": " \n\t"}],
            "Missing text for note operation",
            id="todo.md/Errors/text of blanks",
        ),
        pytest.param(
            [{"op": "rm", "task": "a"}, {"op": "rm", "task": "a"}],
            'Task "a" not found',
            id="todo.md/Errors/Idempotency/rm is not",
        ),
    ],
)
async def test_errors_are_told_and_the_rest_is_done(tmp_path: Path, ops: list[dict[str, Any]], error: str) -> None:
    """todo.md/Errors: the result is an error, begins with what was wrong, and has the state all the same."""
    outcome = await apply(make_context(tmp_path), TWO, *ops, {"op": "done", "task": "b"})
    assert outcome.is_error
    assert outcome.text.startswith(f"Errors: {error}\n")
    assert "bx" in state(outcome)


@pytest.mark.parametrize(
    ("ops", "said"),
    [
        pytest.param([], "ops: expected array of length >= 1", id="todo.md/Limits & Caps/ops"),
        pytest.param(
            [{"op": "init", "list": [{"phase": "P", "items": []}]}],
            "ops[0].list[0].items: expected array of length >= 1",
            id="todo.md/Limits & Caps/init.list[*].items",
        ),
        pytest.param(
            [{"op": "append", "phase": "P", "items": []}],
            "ops[0].items: expected array of length >= 1",
            id="todo.md/Limits & Caps/append.items",
        ),
        pytest.param(
            [{"op": "finish"}],
            "ops[0].op: invalid enum value 'finish'; one of: append, done, drop, init, note, rm, start",
            id="todo.md/Fields used inside ops/op",
        ),
    ],
)
async def test_what_is_no_list_of_operations_is_refused(tmp_path: Path, ops: list[Any], said: str) -> None:
    """In one line, and nothing is changed."""
    with pytest.raises(ToolError) as caught:
        parameters(TodoTool(), {"ops": ops})
    assert caught.value.message == f"todo: {said}"


async def test_several_errors_are_all_told(tmp_path: Path) -> None:
    """todo.md/Flow: execution continues through the rest of the batch; an empty list is said to be."""
    outcome = await apply(make_context(tmp_path), {"op": "start", "task": "q"}, {"op": "done", "phase": "P"})
    first, rest = outcome.text.split("\n", 1)
    assert first == 'Errors: Task "q" not found (the list is empty; begin with init); Phase "P" not found'
    assert rest == "The list is empty."


@pytest.mark.parametrize(
    "ops",
    [
        pytest.param([TWO], id="todo.md/Errors/Idempotency/init"),
        pytest.param([{"op": "start", "task": "c"}], id="todo.md/Errors/Idempotency/start"),
        pytest.param([{"op": "done", "task": "c"}], id="todo.md/Errors/Idempotency/done"),
        pytest.param([{"op": "drop", "phase": "One"}], id="todo.md/Errors/Idempotency/drop"),
        pytest.param([{"op": "rm", "phase": "One"}], id="todo.md/Errors/Idempotency/rm of a phase empties it"),
    ],
)
async def test_what_can_be_said_twice(tmp_path: Path, ops: list[dict[str, Any]]) -> None:
    """The second time changes nothing and is no error."""
    context = make_context(tmp_path)
    await apply(context, TWO)
    once = await apply(context, *ops)
    twice = await apply(context, *ops)
    assert state(once) == state(twice)
    assert not twice.is_error


async def test_notes_add_up(tmp_path: Path) -> None:
    """todo.md/Fields used inside ops/text: trailing whitespace goes, the rest stays, and twice is twice."""
    context = make_context(tmp_path)
    outcome = await apply(context, TWO, *[{"op": "note", "task": "a", "text": "  one\n two \n"}] * 2)
    assert outcome.details["phases"][0]["tasks"][0]["notes"] == ["  one\n two", "  one\n two"]


async def test_the_summary(tmp_path: Path) -> None:
    """todo.md/Outputs: what remains, how far the phase is, the tree, and the notes of the task in progress alone."""
    context = make_context(tmp_path)
    notes = [{"op": "note", "task": task, "text": f"about {task}\nmore"} for task in "ab"]
    outcome = await apply(context, TWO, *notes, {"op": "done", "task": "a"})
    assert outcome.text == (
        "Remaining items (2):\n- b [in_progress] (One)\n- c [pending] (Two)\n"
        'Phase 1/2 "One": 1/2 tasks done\n'
        "\nOne:\n  [x] a\n  [/] b\n      > about b\n      > more\n"
        "\nTwo:\n  [ ] c"
    )
    outcome = await apply(context, {"op": "done", "task": "b"}, {"op": "drop", "task": "c"})
    assert outcome.text.startswith("Remaining items: none.\n")
    assert "  [-] c" in outcome.text


@pytest.mark.parametrize(
    "ops",
    [
        pytest.param([{"op": "rm"}], id="todo.md/Outputs/rm"),
        pytest.param([{"op": "init", "list": []}], id="todo.md/Outputs/init"),
    ],
)
async def test_an_empty_list_is_cleared(tmp_path: Path, ops: list[dict[str, Any]]) -> None:
    """With nothing left the text is just that."""
    assert (await apply(make_context(tmp_path), TWO, *ops)).text == "Todo list cleared."


@pytest.mark.parametrize(
    ("ops", "completed"),
    [
        pytest.param([{"op": "done", "phase": "One"}], [("One", "a"), ("One", "b")], id="todo.md/Outputs/transitions"),
        pytest.param([{"op": "done", "task": "d"}], None, id="todo.md/Outputs/it was completed before"),
        pytest.param([{"op": "drop"}], None, id="todo.md/Outputs/abandoned is not completed"),
        pytest.param([{"op": "done", "task": "a"}, {"op": "start", "task": "a"}], None, id="todo.md/Outputs/undone"),
    ],
)
async def test_what_was_completed_is_listed(
    tmp_path: Path, ops: list[dict[str, Any]], completed: list[tuple[str, str]] | None
) -> None:
    """todo.md/Outputs: `completed_tasks` only when something became completed in this call."""
    context = make_context(tmp_path)
    first = await apply(context, TWO, {"op": "append", "phase": "Two", "items": ["d"]}, {"op": "done", "task": "d"})
    assert first.details["completed_tasks"] == [{"phase": "Two", "content": "d"}]
    details = (await apply(context, *ops)).details
    found = details.get("completed_tasks")
    assert (found and [(task["phase"], task["content"]) for task in found]) == completed
    assert details["storage"] == "session"
    assert details["ui"] == {"kind": "todo"}


async def test_of_two_tasks_with_one_name_the_one_that_was_completed_is_told_once(tmp_path: Path) -> None:
    """todo.md/Notes: duplicates are ambiguous, but nothing is completed twice."""
    context = make_context(tmp_path)
    twice = {"op": "init", "list": [{"phase": "P", "items": ["a", "a"]}]}
    assert len((await apply(context, twice, {"op": "done", "task": "a"})).details["completed_tasks"]) == 1
    assert "completed_tasks" not in (await apply(context, {"op": "note", "task": "a", "text": "x"})).details
    assert len((await apply(context, {"op": "done"})).details["completed_tasks"]) == 1


def test_it_runs_alone() -> None:
    """todo.md/Limits & Caps: concurrency is exclusive."""
    assert TodoTool.exclusive
