"""Step lists: what `delegation-ui.md` says about them."""

from typing import Any

import pytest

from sightline.events import ToolUpdate, ToolUse, delegation_from_args, delegation_from_details
from tests.views.console.blocks.support import COLOURS, call, drawing, drawn, told, ui

DOCUMENT = "delegation-ui.md"
STATUSES = ("ok", "running", "error", "pending")


def steps(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [
        {"id": str(n), "agent": "Explore", "task": f"find {n}", "status": STATUSES[n % 4], **fields}
        for n in range(count)
    ]


def live(items: Any, mode: Any = "parallel", **more: Any) -> dict[str, Any]:
    return {"ui": {"kind": "agent_delegation", "mode": mode, "items": items, **more}}


@pytest.mark.parametrize(
    ("args", "fits"),
    [
        pytest.param({"chain": [{"agent": "a", "task": "t"}]}, True, id=f"{DOCUMENT}/Contracts: chain"),
        pytest.param({"tasks": [{"agent": "a", "task": "t"}]}, True, id=f"{DOCUMENT}/Contracts: tasks"),
        pytest.param({"agent": "a", "task": "t"}, True, id=f"{DOCUMENT}/Contracts: single"),
        pytest.param({"chain": ["x"]}, False, id=f"{DOCUMENT}/Contracts: a chain of something else"),
        pytest.param({"agent": "a"}, False, id=f"{DOCUMENT}/Contracts: no task"),
        pytest.param("chain", False, id=f"{DOCUMENT}/Contracts: no record"),
    ],
)
def test_arguments_are_a_plan_by_their_shape_alone(args: Any, fits: bool) -> None:
    """delegation-ui.md/Phase 2: the guard of arguments accepts the three shapes and nothing else."""
    assert (delegation_from_args(args) is not None) is fits


@pytest.mark.parametrize(
    ("details", "fits"),
    [
        pytest.param(live(steps(1)), True, id=f"{DOCUMENT}/Contracts: complete"),
        pytest.param(live([]), True, id=f"{DOCUMENT}/Contracts: empty"),
        pytest.param(live(steps(1), "bogus"), False, id=f"{DOCUMENT}/Contracts: unknown mode"),
        pytest.param(live(steps(1, status="bogus")), False, id=f"{DOCUMENT}/Contracts: unknown status"),
        pytest.param(live(steps(1, agent=3)), False, id=f"{DOCUMENT}/Contracts: an agent that is no text"),
        pytest.param(live("x"), False, id=f"{DOCUMENT}/Contracts: items that are no list"),
        pytest.param({"ui": {"kind": "other", "items": []}}, False, id=f"{DOCUMENT}/Contracts: another kind"),
        pytest.param(None, False, id=f"{DOCUMENT}/Contracts: nothing"),
    ],
)
def test_details_are_a_step_list_completely_or_not_at_all(details: Any, fits: bool) -> None:
    """delegation-ui.md/Phase 2: the guard of details gives a complete value or none."""
    assert (delegation_from_details(details) is not None) is fits


def test_each_status_has_its_sign() -> None:
    """delegation-ui.md/Phase 3: ◌ running, ○ pending, ✓ ok, ✕ error."""
    rows = drawn(call(details=live(steps(4))))
    assert rows[1:] == ["  ✓ Explore find 0", "  ◌ Explore find 1", "  ✕ Explore find 2", "  ○ Explore find 3"]


def test_a_plan_has_the_sign_of_no_status_and_no_suffix() -> None:
    """delegation-ui.md/Phase 3: a static plan from arguments shows · before each step, at once."""
    rows = drawn(call(args={"chain": [{"agent": "a", "task": "first\nmore"}, {"agent": "b", "task": "then"}]}))
    assert rows == ["◌ Tool chain (2 steps)", "  · a first", "  · b then"]


def test_a_step_list_takes_the_place_of_the_arguments() -> None:
    """Those of `task` are no plan, and may be drawn before its first update: no empty rows are left of them."""
    args = {"agent": "task", "id": "One", "description": "a part", "assignment": "Do it."}
    fold, block = told(ToolUse("c1", "task", args=args))
    assert len(block.render(80)) > 2
    fold.apply(ToolUpdate("c1", live(steps(1))))
    assert len(block.render(80)) == 2


@pytest.mark.parametrize(
    ("args", "title"),
    [
        pytest.param(
            {"chain": [{"agent": "a", "task": "t"}] * 3}, "chain (3 steps)", id=f"{DOCUMENT}/toolTitle: chain"
        ),
        pytest.param(
            {"tasks": [{"agent": "a", "task": "t"}] * 2}, "parallel (2 tasks)", id=f"{DOCUMENT}/toolTitle: tasks"
        ),
        pytest.param({"agent": "Explore", "task": "t"}, "Explore", id=f"{DOCUMENT}/toolTitle: single"),
    ],
)
def test_the_title_is_of_the_shape(args: Any, title: str) -> None:
    """delegation-ui.md/Phase 3: chain (n steps), parallel (n tasks), or the agent."""
    assert drawn(call(args=args))[0] == f"◌ Tool {title}"


def test_colours_follow_the_status_and_the_active_row() -> None:
    """delegation-ui.md/Phase 3: error, ok, running each in their role, others muted; the active agent in the accent."""
    rows = drawn(call(details=live(steps(4), activeId="2")), drawing(COLOURS))
    for row, role, sign in zip(rows[1:], ("success", "accent", "error", "muted"), "✓◌✕○", strict=True):
        assert COLOURS.style(role, sign) in row
    assert COLOURS.style("accent", "Explore") in rows[3]
    assert COLOURS.style("accent", "Explore") not in rows[1]
    assert COLOURS.style("muted", "find 0") in rows[1]


@pytest.mark.parametrize(
    ("statuses", "suffix"),
    [
        pytest.param(["ok", "running"], "1 ok / 2", id=f"{DOCUMENT}/formatDelegationSuffix: no error"),
        pytest.param(["ok", "error", "error"], "1 ok · 2 err / 3", id=f"{DOCUMENT}/formatDelegationSuffix: errors"),
        pytest.param([], "0 ok / 0", id=f"{DOCUMENT}/formatDelegationSuffix: empty"),
    ],
)
def test_the_header_counts(statuses: list[str], suffix: str) -> None:
    """delegation-ui.md/Phase 3: the suffix says how many are ok, how many failed, and of how many."""
    items = [{"id": str(n), "agent": "a", "task": "t", "status": status} for n, status in enumerate(statuses)]
    assert drawn(call(details=live(items)))[0].endswith(suffix)


@pytest.mark.parametrize(("unfolded", "most"), [(False, 8), (True, 50)], ids=["folded", "unfolded"])
def test_a_long_list_is_capped_and_says_how_many_more(unfolded: bool, most: int) -> None:
    """delegation-ui.md/Error Handling Strategy: 8 items folded, 50 unfolded, then `… n more …`."""
    rows = drawn(call(details=live(steps(60))), drawing(unfolded=unfolded))
    assert len(rows) == 1 + most + 1
    assert rows[-1].startswith(f"  … {60 - most} more …")


def test_a_long_plan_is_capped_too() -> None:
    """delegation-ui.md/Phase 3: a plan that is longer than the cap says that there is more."""
    rows = drawn(call(args={"tasks": [{"agent": "a", "task": "t"}] * 20}))
    assert len(rows) == 10
    assert rows[-1].startswith("  … 12 more …")


def test_what_is_long_is_cut_to_its_first_line() -> None:
    """delegation-ui.md/Phase 3: agents at 24 characters, tasks at 80, previews at 120, first line only.

    (delegation-ui.md/Error Handling Strategy)
    """
    item = {
        "id": "1",
        "agent": "A" * 30,
        "task": "T" * 90 + "\nsecond",
        "status": "ok",
        "preview": "P" * 130 + "\nmore",
    }
    _, step, preview = drawn(call(details=live([item])), drawing(unfolded=True), width=200)
    assert step == f"  ✓ {'A' * 23}… {'T' * 79}…"
    assert preview == f"    {'P' * 119}…"


def test_previews_are_shown_unfolded_only() -> None:
    """delegation-ui.md/Phase 3: a preview has a row of its own when unfolded, none when folded."""
    entry = call(details=live(steps(2, preview="looking\nat more")))
    assert not any("looking" in row for row in drawn(entry))
    assert drawn(entry, drawing(unfolded=True))[2] == "    looking"


@pytest.mark.parametrize(
    ("fields", "shown"),
    [
        pytest.param({"details": live(steps(1, status="bogus")), "content": "output"}, "output", id="output"),
        pytest.param({"details": live("x"), "args": {"some": "argument", "n": 1}}, "some: argument", id="arguments"),
        pytest.param({"details": live("x"), "args": {"agent": "a", "task": "t"}}, "· a t", id="the plan"),
    ],
)
def test_what_is_malformed_is_shown_as_any_other_call(fields: dict[str, Any], shown: str) -> None:
    """delegation-ui.md/Error Handling Strategy: a guard that fails means output, arguments or the plan."""
    assert shown in [row[2:] for row in drawn(call(**fields))]


def test_live_progress_wins_over_the_plan() -> None:
    """delegation-ui.md/Implementation Approach: details first, then arguments, then output."""
    args = {"chain": [{"agent": "planned", "task": "t"}]}
    rows = drawn(call(args=args, details=live(steps(1)), content="output"))
    assert rows[1] == "  ✓ Explore find 0"
    assert not any("planned" in row for row in rows)


@pytest.mark.parametrize("name", ["subagent", "Task", "anything", "bash", "read"])
def test_no_name_of_a_tool_matters(name: str) -> None:
    """delegation-ui.md/Constraints: the same shape gives the same rows whatever the tool is called."""
    rows = drawn(call(name=name, args={"chain": [{"agent": "a", "task": "t"}]}, details=live(steps(3))))
    assert rows[0] == f"◌ {name} chain (1 step)  1 ok · 1 err / 3"
    assert rows[1:] == drawn(call(details=live(steps(3))))[1:]
    assert drawn(call(name=name, args={"x": "y"}, content="said"))[1:] == ["│ said"]


def test_an_update_of_details_alone_is_drawn() -> None:
    """delegation-ui.md/Phase 1: a counter grows with every update, so that a change in details alone is seen."""
    fold, block = told(ToolUse("c", "Tool"))
    before = block.render(80)
    fold.apply(ToolUpdate("c", live([{"id": "1", "agent": "a", "task": "t", "status": "running"}])))
    block.changed()
    running = block.render(80)
    fold.apply(ToolUpdate("c", live([{"id": "1", "agent": "a", "task": "t", "status": "ok"}])))
    block.changed()
    ended = block.render(80)
    assert (before[-1:], running[-1], ended[-1]) == (("◌ Tool",), "  ◌ a t", "  ✓ a t")
    assert fold.now.entries[0].updates == 2
    assert block.render(80) is ended


def test_the_same_update_again_counts_and_costs_nothing_else() -> None:
    """delegation-ui.md/Phase 4: two updates that say the same count as two; the block stays the one it was.

    (delegation-ui.md/Anti-Patterns to Avoid)
    """
    fold, block = told(ToolUse("c", "Tool"))
    for _ in range(2):
        fold.apply(ToolUpdate("c", live(steps(1))))
        block.changed()
        block.render(80)
    assert fold.now.entries[0].updates == 2
    assert len(fold.now.entries) == 1


def test_details_are_never_shown_as_they_are() -> None:
    """delegation-ui.md/Anti-Patterns to Avoid: details that are no contract are not printed."""
    rows = drawn(call(details={"secret": "internal", "ui": {"kind": "nobody knows"}}, content="said"))
    assert rows == ["✓ Tool", "│ said"]


def test_a_failed_delegation_says_what_its_call_says() -> None:
    """What the call itself failed with is shown below the steps."""
    rows = drawn(call(details=live(steps(1)), content="no such agent", is_error=True))
    assert rows[0].startswith("✕ Tool")
    assert rows[-1] == "  no such agent"


def test_a_plan_keeps_its_output() -> None:
    """delegation-ui.md/Phase 3: A tool that never tells progress shows its plan, and what came of it below."""
    rows = drawn(call(args={"agent": "a", "task": "t"}, content="the answer", details=ui("unknown")))
    assert rows == ["✓ Tool a", "  · a t", "  the answer"]
