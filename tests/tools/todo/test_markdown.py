"""todo.md/Markdown round-trip helpers: the list as text a person can edit, and back."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.tools.todo import PlannedPhase, PlannedTask, from_markdown, to_markdown
from sightline.tools.todo._list import normalized

_WORDS = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=8)
_LINE = st.lists(_WORDS, min_size=1, max_size=3).map(" ".join)
_NOTE = st.lists(st.one_of(_LINE, st.just(""), _LINE.map("  ".__add__), _LINE.map("> ".__add__)), max_size=3).map(
    lambda lines: "\n".join([*lines, "end"])
)
_TASK = st.builds(
    PlannedTask,
    _LINE,
    st.sampled_from(["pending", "in_progress", "completed", "abandoned"]),
    st.lists(_NOTE, max_size=2),
)
_PHASES = st.lists(st.builds(PlannedPhase, _LINE, st.lists(_TASK, max_size=3)), max_size=3)


@given(_PHASES)
def test_a_list_survives_the_round_trip(phases: list[PlannedPhase]) -> None:
    """todo.md/Markdown round-trip helpers: phases, statuses and notes, all of them."""
    normalized(phases)
    assert msgspec.to_builtins(from_markdown(to_markdown(phases))) == msgspec.to_builtins(phases)


def test_the_form() -> None:
    """todo.md/Markdown round-trip helpers: headings, checklist items, block quotes."""
    tasks = [
        PlannedTask("done", "completed"),
        PlannedTask("now", "in_progress", ["n1\nn2", "n3"]),
        PlannedTask("next", "pending"),
        PlannedTask("not", "abandoned"),
    ]
    text = to_markdown([PlannedPhase("One", tasks), PlannedPhase("Two", [])])
    assert text == (
        "# One\n\n- [x] done\n- [/] now\n  > n1\n  > n2\n\n  > n3\n- [ ] next\n- [-] not\n\n# Two\n\n".rstrip("\n")
        + "\n"
    )
    assert to_markdown([]) == ""


@pytest.mark.parametrize(
    ("text", "phases"),
    [
        pytest.param("- [ ] a", [("Todos", [("a", "in_progress")])], id="todo.md/Markdown/orphans"),
        pytest.param("# P\n- [>] a", [("P", [("a", "in_progress")])], id="todo.md/Markdown/> is in progress"),
        pytest.param("# P\n- [~] a", [("P", [("a", "abandoned")])], id="todo.md/Markdown/~ is abandoned"),
        pytest.param("## P\n* [X] a", [("P", [("a", "completed")])], id="todo.md/Markdown/other marks"),
        pytest.param(
            "# P\n- [/] a\n- [/] b\n",
            [("P", [("a", "in_progress"), ("b", "pending")])],
            id="todo.md/Markdown/normalized",
        ),
        pytest.param("# P\r\n- [x] a\r\n", [("P", [("a", "completed")])], id="todo.md/Markdown/CR LF"),
        pytest.param("words\n# P\n- [?] a\n- b\n> lost", [("P", [])], id="todo.md/Markdown/anything else"),
    ],
)
def test_what_a_person_may_write(text: str, phases: list[tuple[str, list[tuple[str, str]]]]) -> None:
    """Leniently, and normalized like any other list."""
    found = from_markdown(text)
    assert [(phase.name, [(task.content, task.status) for task in phase.tasks]) for phase in found] == phases


@pytest.mark.parametrize("breaking", ["two\nlines", " padded ", "tab\there"])
def test_a_task_of_several_lines_stays_one_task(breaking: str) -> None:
    """As text it is one line: breaks and blanks at its ends cannot be written."""
    (phase,) = from_markdown(to_markdown([PlannedPhase(breaking, [PlannedTask(breaking)])]))
    assert len(phase.tasks) == 1
    assert phase.tasks[0].content.split() == breaking.split()
    assert phase.name.split() == breaking.split()
