"""What several agents of one session may do: one policy, each under its own path, none more than its parent."""

from pathlib import Path

import pytest

from sightline.agent.permissions._approvals import Refusal
from sightline.agent.permissions._levels import LEVELS, lowest
from sightline.agent.permissions._network import NetworkJudge
from sightline.events import Notice, Request, RequestResolved, State
from sightline.exceptions import UserMistake
from sightline.settings import Approval, Policy
from sightline.tools import Need
from tests.agent.permissions.support import AgentOfTest, ended, root_of, turn

MAKE = Need("exec", "make")
BOXED = Need("exec", "make", sandboxed=True)


def inside(agent: AgentOfTest) -> Need:
    return Need("write", str(agent.log.folder / "work" / "a.txt"))


def outside(agent: AgentOfTest) -> Need:
    return Need("write", str(agent.log.folder / "elsewhere.txt"))


@pytest.mark.parametrize("choice", ["this session", "always here"])
async def test_an_answer_for_longer_answers_every_agent_that_waits_for_the_same(tmp_path: Path, choice: str) -> None:
    """The rule is the session's: the others are not left with a question that is decided."""
    root = root_of(tmp_path, "edit")
    first, second = root.child(), root.child(cap="edit")
    waiting = [await agent.asks(MAKE) for agent in (root, first, second)]
    first.answers(choice)
    for task in waiting:
        await ended(task)
    assert [event.answer for event in second.of(RequestResolved)] == ["once"]
    assert len(first.of(Notice)) == 1
    assert not root.of(Notice) + second.of(Notice)
    await first.child().asks(MAKE)
    assert len([event for event in root.log.published if isinstance(event, Request)]) == 3


async def test_an_answer_for_once_is_for_the_agent_that_waits(tmp_path: Path) -> None:
    """The other one's request stays open, under its own path."""
    root = root_of(tmp_path, "edit")
    first, second = root.child(), root.child()
    waiting, other = await first.asks(MAKE), await second.asks(MAKE)
    first.answers("once")
    await ended(waiting)
    assert not other.done()
    assert [request.agent for request in second.open_requests] == [second.actor.path] == ["Explore-2"]
    second.answers("no")
    with pytest.raises(Refusal, match="the user refused"):
        await ended(other)


async def test_an_answer_fits_only_what_it_is_about(tmp_path: Path) -> None:
    """Another command of another agent stays open."""
    root = root_of(tmp_path, "edit")
    child = root.child()
    waiting, other = await root.asks(MAKE), await child.asks(Need("exec", "make clean"))
    root.answers("this session")
    await ended(waiting)
    assert not other.done()
    await child.close()
    with pytest.raises(Refusal):
        await ended(other)


async def test_lowering_to_plan_refuses_what_all_agents_wait_for(tmp_path: Path) -> None:
    """And each model reads why."""
    root = root_of(tmp_path, "full")
    child = root.child("edit")
    grandchild = child.child()
    waiting = [await agent.asks(outside(agent)) for agent in (child, grandchild)]
    root.permissions.set_level("plan")
    for task in waiting:
        with pytest.raises(Refusal, match="the approval level is now plan"):
            await ended(task)
    assert not child.open_requests + grandchild.open_requests


async def test_a_higher_level_answers_all_but_those_it_does_not_lift(tmp_path: Path) -> None:
    """What a capped agent waits for is still its user's to decide."""
    root = root_of(tmp_path, "edit")
    free, capped = root.child(), root.child("edit")
    below = capped.child("full")
    waiting = [await agent.asks(MAKE) for agent in (root, free)]
    still = [await agent.asks(MAKE) for agent in (capped, below)]
    root.permissions.set_level("full")
    for task in waiting:
        await ended(task)
    await turn()
    assert [task.done() for task in still] == [False, False]
    for agent, task in zip((capped, below), still, strict=True):
        agent.answers("once")
        await ended(task)


async def test_a_capped_agent_decides_as_at_its_cap(tmp_path: Path) -> None:
    """Under a root that may do everything."""
    root = root_of(tmp_path, "full")
    child = root.child("edit")
    work = tmp_path / "work"
    alike = Policy("edit", [], [], work)
    elsewhere = Need("read", "/etc/hosts"), Need("network", "example.org:443")
    for need in (inside(root), outside(root), MAKE, BOXED, *elsewhere):
        assert child.permissions.policy.decide(need) == alike.decide(need)
        assert root.verdict(need) == "allow"
    assert [agent.permissions.limits().sandbox for agent in (root, child)] == [False, True]


@pytest.mark.parametrize("cap", [None, *LEVELS])
async def test_under_plan_no_agent_writes(tmp_path: Path, cap: Approval | None) -> None:
    """Whatever its cap, and whatever rules allow."""
    root = root_of(tmp_path, "plan", allow=["write", "exec"])
    child = root.child(cap)
    for need in (inside(root), MAKE, BOXED):
        assert child.verdict(need) == "deny"
        with pytest.raises(Refusal, match="the approval level is plan"):
            await ended(await child.asks(need))
    assert not child.of(Request)


@pytest.mark.parametrize("level", LEVELS)
async def test_a_cap_of_plan_is_plan(tmp_path: Path, level: Approval) -> None:
    """No write, no command and no connection of one; the rules do not count, as at that level."""
    root = root_of(tmp_path, level, allow=["write", "exec", "network(example.org)"])
    child = root.child("plan")
    judge = NetworkJudge(child.permissions.approvals, child.actor, lambda: True)
    ruling = judge.rule("example.org", 443)
    assert ruling is not None
    assert (ruling.allowed, ruling.rule) == (False, "approval plan")
    assert [child.verdict(need) for need in (inside(root), MAKE, BOXED)] == ["deny"] * 3


@pytest.mark.parametrize("session", LEVELS)
@pytest.mark.parametrize("cap", LEVELS)
@pytest.mark.parametrize("below", LEVELS)
async def test_no_agent_exceeds_its_parent(tmp_path: Path, session: Approval, cap: Approval, below: Approval) -> None:
    """The lowest of all that are above it, and of its own."""
    root = root_of(tmp_path, session)
    child = root.child(cap)
    grandchild = child.child(below)
    assert child.permissions.level == lowest(session, cap)
    assert grandchild.permissions.level == lowest(session, cap, below)
    assert child.child().permissions.level == child.permissions.level
    for level in LEVELS:
        root.permissions.set_level(level)
        assert grandchild.permissions.policy.approval == lowest(level, cap, below)


async def test_rules_of_the_session_apply_to_a_capped_agent(tmp_path: Path) -> None:
    """What they allow below plan, and what they deny at any level; new ones at once."""
    root = root_of(tmp_path, "full", allow=["exec(make)"], deny=["read(secret/**)"])
    child = root.child("edit")
    secret = str(tmp_path / "work" / "secret" / "a")
    assert (child.verdict(MAKE), child.verdict(Need("read", secret))) == ("allow", "deny")
    before = child.permissions.limits().is_denied
    assert before is not None
    assert before(secret)
    root.permissions.renew(Policy("full", [], ["write"], tmp_path / "work"), [])
    assert (child.verdict(MAKE), child.verdict(inside(root))) == ("ask", "deny")


async def test_a_policy_is_derived_once(tmp_path: Path) -> None:
    """The session's itself where the cap lowers nothing; else a new one only after a change."""
    root = root_of(tmp_path, "auto")
    free, capped = root.child(), root.child("edit")
    assert free.permissions.policy is root.permissions.policy is root.rules.policy
    lowered = capped.permissions.policy
    assert capped.permissions.policy is lowered
    await root.rules.allow("exec(make)", always=False)
    assert capped.permissions.policy is not lowered
    assert capped.permissions.policy.allow == ("exec(make)",)
    root.permissions.set_level("edit")
    assert capped.permissions.policy is root.rules.policy


async def test_only_the_root_changes_the_level(tmp_path: Path) -> None:
    """Nothing is changed, stored or published by any other agent."""
    root = root_of(tmp_path, "edit")
    child = root.child("edit")
    policy, before = root.rules.policy, len(root.log.published)
    permissions = child.permissions
    for level in LEVELS:
        with pytest.raises(UserMistake, match="a subagent cannot change"):
            permissions.set_level(level)
        with pytest.raises(UserMistake):
            permissions.approvals.set_level(level)
        with pytest.raises(UserMistake):
            permissions.begin(level)
    for renew in (lambda: permissions.renew(policy, []), lambda: permissions.approvals.renew(policy)):
        with pytest.raises(UserMistake):
            renew()
    with pytest.raises(UserMistake):
        permissions.publish_level()
    assert root.rules.policy is policy
    assert (len(root.log.published), root.log.entries) == (before, [])
    root.permissions.set_level("plan")
    assert [entry.data for entry in root.log.entries] == [{"level": "plan"}]
    states = [event for event in root.log.published if isinstance(event, State)]
    assert [(event.agent, event.value["level"]) for event in states] == [("", "plan")]


async def test_facts_have_the_level_of_the_agent_and_the_rules_of_the_session(tmp_path: Path) -> None:
    """For a view of either."""
    root = root_of(tmp_path, "full", allow=["exec(make)"])
    child = root.child("edit")
    await root.rules.allow("read", always=False)
    assert (root.permissions.facts()["level"], child.permissions.facts()["level"]) == ("full", "edit")
    assert root.permissions.facts()["rules"] == child.permissions.facts()["rules"]
    assert [rule.rule for rule in child.permissions.approvals.rules] == ["exec(make)", "read"]


async def test_what_is_refused_is_noted_for_the_agent_that_needed_it(tmp_path: Path) -> None:
    """With no user there. A level that would not help is not named."""
    root = root_of(tmp_path, "auto")
    child = root.child("plan")
    root.log.has_answers = False
    with pytest.raises(Refusal, match="the approval level is plan"):
        await ended(await child.asks(inside(root)))
    assert (len(child.permissions.approvals.refused), root.permissions.approvals.refused) == (1, [])
    (notice,) = child.of(Notice)
    assert "--approval" not in notice.hint
    assert "no higher approval level than plan" in notice.hint


async def test_requests_of_an_agent_that_ended_are_resolved(tmp_path: Path) -> None:
    """When its end returns that is published, under its path; the others wait on."""
    root = root_of(tmp_path, "edit")
    child = root.child()
    gone, still = await child.asks(MAKE), await root.asks(MAKE)
    await child.close()
    assert [(event.agent, event.answer) for event in child.of(RequestResolved)] == [("Explore-1", None)]
    with pytest.raises(Refusal):
        await ended(gone)
    assert not still.done()
    root.permissions.set_level("full")
    await ended(still)


async def test_an_agent_that_ended_is_no_longer_called(tmp_path: Path) -> None:
    """Changes concern those that are there; closing it twice is harmless."""
    root = root_of(tmp_path, "edit")
    child = root.child()
    assert len(root.rules._listeners) == 2
    await child.close()
    await child.close()
    assert len(root.rules._listeners) == 1
    root.permissions.set_level("full")
    await root.close()
    assert not root.rules._listeners
