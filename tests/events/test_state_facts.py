"""Values of `state` events: written as one shape, read from any that was ever written, and nothing else."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.events import (
    AgentState,
    ApprovalState,
    BranchState,
    CommandsState,
    CompactionState,
    ContextState,
    DismissedFindings,
    EditorTextState,
    ExtensionWidget,
    JobsState,
    LabelState,
    ModelState,
    OfferedCommand,
    ProviderState,
    QueuedMessage,
    QueueState,
    RetryState,
    SessionJob,
    StartingState,
    State,
    StateFact,
    StatusTextsState,
    SteeringState,
    StopsAgentsState,
    ThinkingState,
    TitleState,
    TodoState,
    TodoTask,
    WidgetsState,
    state_fact,
)

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ({"attempt": 2, "attempts": 5, "seconds": 20.0, "reason": "busy"}, RetryState("busy", 2, 5, 20.0)),
        ({"attempt": 1, "of": 3, "delay": 2, "reason": "busy"}, RetryState("busy", 1, 3, 2.0)),
        ({"attempt": 1, "of": 3, "delay": 0.5, "status": 429}, RetryState("", 1, 3, 0.5)),
        ({"reason": "busy"}, RetryState("busy")),
        ({"error": "busy", "attempt": None}, RetryState("busy")),
        (None, None),
        ("busy", None),
        ({"attempt": "two"}, None),
    ],
)
def test_a_retry_is_read_however_it_was_written(written: Any, read: RetryState | None) -> None:
    """Our own agent and each provider had a shape of their own."""
    assert RetryState.of(written) == read


@given(st.builds(RetryState, st.text(), st.none() | st.integers(0, 99), st.none() | st.integers(0, 99)))
def test_what_is_written_is_read_back(fact: RetryState) -> None:
    """As a `state` of its key."""
    event = fact.as_state()
    assert isinstance(event, State)
    assert event.key == "retry"
    assert RetryState.of(event.value) == fact


# Each value as it is stored in journals since the first version that wrote it.
STORED: list[tuple[str, Any, StateFact]] = [
    ("provider", "codex", ProviderState("codex")),
    ("model", "anthropic/claude", ModelState("anthropic/claude")),
    ("model", "", ModelState("")),
    ("thinking", "high", ThinkingState("high")),
    ("approval", {"level": "edit", "flags": ["--sandbox"]}, ApprovalState("edit", ["--sandbox"])),
    ("approval", {"level": "auto", "flags": []}, ApprovalState("auto")),
    ("context", {"used": 5, "of": 100}, ContextState(5, 100)),
    ("context", {"used": None, "of": None}, ContextState()),
    ("steering", False, SteeringState(False)),
    ("stops_agents", True, StopsAgentsState(True)),
    ("starting", "Gemini", StartingState("Gemini")),
    ("label", {"target": "e1", "label": "here"}, LabelState("e1", "here")),
    ("branch", {"leaf": "e1", "ranges": [[1, 4], [9, 12]]}, BranchState([(1, 4), (9, 12)], "e1")),
    ("queue", [{"text": "then", "how": "follow_up"}], QueueState([QueuedMessage("then", "follow_up")])),
    ("todo", [{"text": "a", "status": "pending"}], TodoState([TodoTask("a", "pending")])),
    (
        "todo",
        [{"text": "a", "status": "completed", "phase": "One", "notes": ["n"]}],
        TodoState([TodoTask("a", "completed", "One", ["n"])]),
    ),
    (
        "jobs",
        [{"id": "s-1", "label": "make", "status": "running", "started": 12}],
        JobsState([SessionJob("s-1", "make", "running", 12.0)]),
    ),
    ("commands", [{"name": "deploy", "about": "all"}], CommandsState([OfferedCommand("deploy", "all")])),
    ("ui.status", {"x.a": "words"}, StatusTextsState({"x.a": "words"})),
    (
        "ui.widgets",
        {"x.a": {"lines": ["1", "2"], "placement": "below"}},
        WidgetsState({"x.a": ExtensionWidget(["1", "2"], "below")}),
    ),
    ("agent", {"state": "idle"}, AgentState("idle")),
    (
        "agent",
        {"state": "aborted", "model": "m", "reason": "too long", "unread": 2, "definition": "Explore"},
        AgentState("aborted", "m", "too long", 2, "Explore"),
    ),
    (
        "agent",
        {"state": "running", "provider": "codex", "workplace": "worktree"},
        AgentState("running", provider="codex", workplace="worktree"),
    ),
    ("agent", {"state": "running", "is_review": True}, AgentState("running", is_review=True)),
    ("dismissed_findings", {"s-c1": [1, 3]}, DismissedFindings({"s-c1": [1, 3]})),
    ("ui.title", "mine", TitleState("mine")),
    ("ui.editor_text", {"text": "t", "number": 3}, EditorTextState(3, "t")),
]
# Written once, and read: what these say is said in another way now.
OLDER: list[tuple[str, Any, StateFact]] = [
    ("compaction", {"running": True, "why": "long", "tokens": 9}, CompactionState(True, "long", 9)),
    (
        "compaction",
        {"running": False, "why": "asked", "tokens": 9, "after": 3, "summary": "s"},
        CompactionState(False, "asked", 9, 3, "s"),
    ),
    ("compaction", {"at": "boundary"}, CompactionState(at="boundary")),
]


@pytest.mark.parametrize(("key", "value", "fact"), STORED + OLDER)
def test_what_journals_hold_is_read(key: str, value: Any, fact: StateFact) -> None:
    """From the event, and from the last values of all keys."""
    assert state_fact(State(key, value)) == fact
    assert type(fact).among({key: value}) == fact
    assert type(fact).among({}) is None


@pytest.mark.parametrize(("key", "value", "fact"), STORED)
def test_what_is_written_is_what_older_programs_read(key: str, value: Any, fact: StateFact) -> None:
    """No field is lost on the way, and no name is another."""
    assert msgspec.json.decode(msgspec.json.encode(fact.as_state().value)) == value
    assert fact.as_state().key == key


@pytest.mark.parametrize(
    ("kind", "value", "read"),
    [
        (QueueState, [1, {"how": "steer"}, {"text": 5}, {"text": "a", "how": "steer"}], [QueuedMessage("a", "steer")]),
        (TodoState, [None, {"text": "a", "status": "done", "more": 1}], [TodoTask("a", "done")]),
        (StatusTextsState, {"a": 5, "b": "words"}, {"b": "words"}),
        (WidgetsState, {"a": 5, "b": {"lines": ["x"]}}, {"b": ExtensionWidget(["x"])}),
    ],
)
def test_a_row_that_does_not_fit_is_left_out(kind: type[StateFact], value: Any, read: Any) -> None:
    """The others are read all the same."""
    assert kind.of(value) == kind(read)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("queue", {"a": 1}),
        ("queue", "x"),
        ("ui.status", ["x"]),
        ("model", None),
        ("branch", {"leaf": "e1"}),
        ("agent", {"state": "asleep"}),
        ("agent", {"model": "m"}),
        ("agent", "running"),
        ("new", 5),
    ],
)
def test_what_does_not_fit_says_nothing(key: str, value: Any) -> None:
    """Nor does a key of a later version."""
    assert state_fact(State(key, value)) is None


@given(JSON, st.sampled_from(sorted({key for key, _, _ in STORED + OLDER})))
def test_no_value_can_break_it(value: Any, key: str) -> None:
    """It is the struct or nothing."""
    assert isinstance(RetryState.of(value), RetryState | None)
    assert isinstance(state_fact(State(key, value)), StateFact | None)
