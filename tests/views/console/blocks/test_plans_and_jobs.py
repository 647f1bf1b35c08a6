"""Todo lists and jobs, as a person sees them: the parts of `todo.md` and `job.md` that are about that."""

from typing import Any

import pytest

from sightline.events import ToolResult, ToolUpdate, ToolUse
from sightline.views.console.blocks import block_for
from tests.views.console.blocks.support import COLOURS, call, drawing, drawn, told, ui


def task(content: str, status: str = "pending", *notes: str) -> dict[str, Any]:
    return {"content": content, "status": status, **({"notes": list(notes)} if notes else {})}


def todo(*phases: tuple[str, list[dict[str, Any]]], **fields: Any) -> Any:
    listed = [{"name": name, "tasks": tasks} for name, tasks in phases]
    return call(**{"name": "Todo", "details": ui("todo", phases=listed), "content": "told"} | fields)


def job(status: str = "running", **fields: Any) -> dict[str, Any]:
    return {"id": "j-1", "type": "bash", "status": status, "label": "make", "duration_ms": 12_300} | fields


def test_phases_are_a_tree() -> None:
    """todo.md/Outputs: phases with their tasks below them, each with a sign for its status."""
    rows = drawn(
        todo(
            ("Build", [task("parse", "completed"), task("draw", "in_progress")]),
            ("Ship", [task("tag"), task("sing", "abandoned")]),
        ),
        drawing(unfolded=True),
    )
    assert rows == [
        "✓ Todo  1 of 4 done",
        "  Build",
        "  ├─ ✓ parse",
        "  └─ ◌ draw",
        "  Ship",
        "  ├─ ○ tag",
        "  └─ – sing",
    ]


def test_notes_are_counted_in_superscript_and_told_for_the_active_task_only() -> None:
    """todo.md/Outputs: note counts as superscripts, note bodies only of the task in progress."""
    rows = drawn(
        todo(("P", [task("now", "in_progress", "look here", "and there"), task("later", "pending", "hidden")])),
        drawing(unfolded=True),
    )
    assert "  ├─ ◌ now²" in rows
    assert "  └─ ○ later¹" in rows
    assert "  │    > look here" in rows
    assert "  │    > and there" in rows
    assert not any("hidden" in row for row in rows)
    many = drawn(todo(("P", [task("t", "pending", *["n"] * 12)])), drawing(unfolded=True))
    assert many[-1].endswith("t¹²")


def test_a_change_of_the_list_is_one_row() -> None:
    """The list itself is in its panel, and is not shown twice."""
    block = block_for(todo(("P", [task("a", "completed"), task("b")])), drawing(), {})
    assert list(block.render(80)) == ["✓ Todo  1 of 2 done"]


def test_a_folded_list_shows_eight_tasks_with_the_active_one_among_them() -> None:
    """todo.md/Limits & Caps: eight items when folded, where there is no panel; all of them when unfolded."""
    tasks = [task(f"t{n}", "completed" if n < 10 else "in_progress" if n == 10 else "pending") for n in range(20)]
    rows = drawn(todo(("P", tasks)), drawing(linear=True))
    shown = [row for row in rows if ": t" in row]
    assert len(shown) == 8
    assert any("doing: t10" in row for row in shown)
    assert rows[1].startswith("  … 8 more …")
    assert rows[-1].startswith("  … 4 more …")
    whole = drawn(todo(("P", tasks)), drawing(unfolded=True))
    assert len([row for row in whole if "─ " in row]) == 20


def test_call_and_result_are_one_block() -> None:
    """todo.md/Outputs: todo.md/Side Effects: the block of the call becomes the one of its result, in the same place."""
    fold, block = told(ToolUse("c", "Todo", arg="init"))
    assert block.render(80) == ("◌ Todo init",)
    details = ui("todo", phases=[{"name": "P", "tasks": [task("t", "in_progress")]}])
    fold.apply(ToolResult("c", "told", details))
    block.changed()
    assert list(block.render(80)) == ["✓ Todo new list  0 of 1 done"]
    assert len(fold.now.entries) == 1
    assert block.done


def test_a_failed_update_is_said_with_its_errors_and_the_list_as_it_is() -> None:
    """todo.md/Errors: the person is told that the update failed, and why; the changed list is shown nevertheless."""
    text = 'Errors: Task "x" not found\nRemaining items (1):'
    rows = drawn(todo(("P", [task("t", "in_progress")]), content=text, is_error=True), drawing(COLOURS))
    assert "Todo update failed" in rows[0]
    assert any('Task "x" not found' in row and COLOURS.open("error") in row for row in rows)
    assert any("◌" in row for row in rows)


def test_an_empty_list_says_so() -> None:
    """todo.md/Outputs: a list that was cleared says that it was."""
    assert drawn(todo(content="Todo list cleared.")) == ["✓ Todo", "  Todo list cleared."]


@pytest.mark.parametrize(
    "phases",
    [[{"name": "P"}], [{"name": 1, "tasks": []}], [{"name": "P", "tasks": [{"content": "t", "status": "odd"}]}], "x"],
    ids=["no tasks", "name", "status", "no list"],
)
def test_a_malformed_list_is_shown_as_text(phases: Any) -> None:
    """What is no todo list falls back to what the model was told."""
    assert drawn(call(details=ui("todo", phases=phases), content="told"))[1:] == ["│ told"]


@pytest.mark.parametrize(
    "args",
    [
        {"todos": [{"content": "one", "status": "completed"}, {"content": "two", "status": "in_progress"}]},
        {"plan": [{"step": "one", "status": "completed"}, {"step": "two", "status": "in_progress"}]},
        {"items": [{"text": "one", "status": "completed"}, {"text": "two", "status": "in_progress"}]},
    ],
    ids=["todos", "plan", "items"],
)
def test_a_plan_in_arguments_is_a_list(args: Any) -> None:
    """Agents that write plans with a tool of theirs show the same list, without phases."""
    rows = drawn(call(args=args, content="ok"), drawing(unfolded=True))
    assert rows == ["✓ Tool  1 of 2 done", "  ✓ one", "  ◌ two"]


def test_a_list_is_copied_as_a_check_list() -> None:
    """Copying gives headings and boxes, without the tree's lines."""
    _, block = told(
        ToolUse("c", "Todo"),
        ToolResult("c", "x", ui("todo", phases=[{"name": "P", "tasks": [task("t", "in_progress", "n")]}])),
    )
    assert block.source == "# P\n- [/] t\n  > n"


def test_jobs_are_rows_with_sign_label_id_and_time() -> None:
    """job.md/Outputs: id, status, label and duration of each job."""
    jobs = [job(), job("completed", id="j-2"), job("failed", id="j-3"), job("cancelled", id="j-4", duration_ms=90_000)]
    rows = drawn(call(name="Job", arg="all", details=ui("jobs", jobs=jobs), content="x"))
    assert rows == [
        "✓ Job all  1 running · 3 ended · 1 failed",
        "  ◌ make job 1 · 12 s",
        "  ✓ make job 2 · 12 s",
        "  ✕ make job 3 · 12 s",
        "  – make job 4 · 1 min 30 s",
    ]


def test_a_wait_shows_fresh_snapshots_without_any_text() -> None:
    """job.md/Outputs, Streaming behavior: updates with no text are drawn as they come."""
    fold, block = told(ToolUse("c", "Job", arg="all"))
    for seconds in (1000, 2000):
        fold.apply(ToolUpdate("c", ui("jobs", jobs=[job(duration_ms=seconds)])))
        block.changed()
        rows = block.render(80)
        assert rows[1] == f"  ◌ make job 1 · {seconds // 1000} s"
    assert not block.done


def test_what_a_failed_job_said_is_never_folded() -> None:
    """job.md/Errors: a failure is shown with its job; of one that went well the last line, unfolded."""
    jobs = [job("failed", error_text="bad\nworse"), job("completed", id="j-2", result_text="one\ntwo")]
    entry = call(details=ui("jobs", jobs=jobs), content="x")
    folded = drawn(entry)
    assert folded[2:4] == ["    bad", "    worse"]
    assert len(folded) == 5
    assert drawn(entry, drawing(unfolded=True))[-1] == "    two"


@pytest.mark.parametrize(
    ("status", "words"),
    [("cancelled", "cancelled"), ("not_found", "not found"), ("already_completed", "had already ended")],
)
def test_each_outcome_of_a_cancellation_is_told(status: str, words: str) -> None:
    """job.md/Outputs: cancelled, not found, or already completed, by id."""
    details = ui("jobs", jobs=[], cancelled=[{"id": "j-9", "status": status}])
    assert drawn(call(details=details, content="x"))[1:] == [f"  job 9: {words}"]


def test_no_jobs_is_said_in_words() -> None:
    """job.md/Errors: an empty list is a normal result, with its words."""
    rows = drawn(call(details=ui("jobs", jobs=[]), content="No background jobs."))
    assert rows[1:] == ["  No background jobs."]


def test_many_jobs_are_capped() -> None:
    """A long list shows eight rows folded and says how many more there are."""
    rows = drawn(call(details=ui("jobs", jobs=[job(id=f"j-{n}") for n in range(12)])))
    assert len(rows) == 10
    assert rows[-1].startswith("  … 4 more …")


def test_a_command_that_goes_on_as_a_job_closes_its_block() -> None:
    """job.md/Modes, Spawn paths: the call ends by saying which job goes on; it shows nothing of it any more.

    (job.md/Modes / Variants)
    """
    details = {"ui": {"kind": "command"}, "ended": "job", "job": "s-7"}
    rows = drawn(call(name="Bash", args={"command": "make"}, details=details, content="Background job s-7: started"))
    assert rows == ["↗ $ make  running in background, job 7"]
