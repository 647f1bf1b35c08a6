"""The delegation contract's two guards: a complete value or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.events import Delegation, DelegationItem, delegation_from_args, delegation_from_details

ITEM = {"id": "1", "agent": "Explore", "task": "find it", "status": "running"}


def details(**changes):
    return {"ui": {"kind": "agent_delegation", "mode": "parallel", "items": [ITEM], **changes}}


@pytest.mark.parametrize("mode", ["single", "parallel", "chain"])
@pytest.mark.parametrize("status", ["pending", "running", "ok", "error"])
def test_a_live_step_list_is_read(mode, status):
    """Every mode and every status of the contract."""
    read = delegation_from_details(details(mode=mode, items=[ITEM | {"status": status}], activeId="1"))
    assert read == Delegation(mode, [DelegationItem("1", "Explore", "find it", status)], "1")


def test_preview_and_active_id_are_optional_and_ignored_when_odd():
    """What the contract marks optional never makes a list malformed."""
    read = delegation_from_details(details(items=[ITEM | {"preview": 3}], activeId=7))
    assert read == Delegation("parallel", [DelegationItem("1", "Explore", "find it", "running")])
    assert delegation_from_details(details(items=[ITEM | {"preview": "p"}])).items[0].preview == "p"


@pytest.mark.parametrize(
    "bad",
    [
        None,
        [],
        "x",
        {},
        {"ui": None},
        {"ui": {"kind": "diff"}},
        details(mode="tree"),
        details(mode=["chain"]),
        details(items="x"),
        details(items=None),
        details(items=[ITEM, None]),
        details(items=[ITEM | {"status": "done"}]),
        details(items=[ITEM | {"status": ["ok"]}]),
        details(items=[{key: value for key, value in ITEM.items() if key != "id"}]),
        details(items=[ITEM | {"agent": 1}]),
        details(items=[ITEM | {"task": None}]),
    ],
)
def test_a_malformed_list_is_no_list(bad):
    """One bad item spoils the whole: the caller falls back to what it shows anyway."""
    assert delegation_from_details(bad) is None


@pytest.mark.parametrize(
    ("args", "mode", "count"),
    [
        ({"agent": "a", "task": "t"}, "single", 1),
        ({"tasks": [{"agent": "a", "task": "t"}, {"agent": "b", "task": "u"}]}, "parallel", 2),
        ({"chain": [{"agent": "a", "task": "t"}]}, "chain", 1),
        ({"chain": [{"agent": "a", "task": "t"}], "tasks": [{"agent": "b", "task": "u"}]}, "chain", 1),
        ({"chain": [3], "tasks": [{"agent": "b", "task": "u"}]}, "parallel", 1),
    ],
)
def test_a_plan_is_read_from_arguments_of_the_three_shapes(args, mode, count):
    """By shape alone, before anything ran; a plan has no statuses."""
    plan = delegation_from_args(args)
    assert (plan.mode, len(plan.items)) == (mode, count)
    assert {item.status for item in plan.items} == {None}


@pytest.mark.parametrize(
    "args", [None, "x", {}, {"agent": "a"}, {"tasks": []}, {"tasks": [{"agent": "a"}]}, {"chain": {}}]
)
def test_other_arguments_are_no_plan(args):
    """Half a shape is not the shape."""
    assert delegation_from_args(args) is None


def test_what_is_written_is_what_is_read():
    """A tool that uses the type produces details the guard accepts unchanged."""
    delegation = Delegation("chain", [DelegationItem("1", "a", "t", "ok", "done")], "1")
    assert delegation_from_details(delegation.as_details()) == delegation


values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=5)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["ui", "kind", "mode", "items", "id", "agent", "task", "tasks", "chain"]), inner
        ),
    ),
    max_leaves=12,
)


@given(values)
def test_guards_never_raise(value):
    """Whatever a tool sends, the guard answers."""
    delegation_from_details(value)
    delegation_from_details({"ui": {"kind": "agent_delegation", "mode": "chain", "items": value}})
    delegation_from_args(value)
