"""The rules of a session: one place, answers that stay, and everyone who follows them called after each change."""

from pathlib import Path

import pytest

from sightline.agent.permissions._approvals import Refusal
from sightline.agent.permissions._session_rules import SessionRules
from sightline.exceptions import UserMistake
from sightline.settings import Policy, remembered_rules
from sightline.tools import Need
from tests.agent.permissions.support import ended, root_of

MAKE = Need("exec", "make")


async def test_each_change_is_reported_when_it_applies(tmp_path: Path) -> None:
    """Whoever is called reads the new policy; after the removal no call comes, and removing twice is harmless."""
    rules = SessionRules(Policy("edit", [], [], tmp_path))
    seen: list[tuple[str, tuple[str, ...]]] = []
    end = rules.on_change(lambda: seen.append((rules.policy.approval, rules.policy.allow)))
    rules.set_level("auto")
    await rules.allow("exec(make)", always=False)
    rules.forget("exec(make)")
    rules.renew(Policy("full", ["read"], [], tmp_path))
    assert seen == [("auto", ()), ("auto", ("exec(make)",)), ("auto", ()), ("auto", ("read",))]
    end()
    end()
    rules.set_level("plan")
    assert len(seen) == 4


async def test_one_that_leaves_while_others_are_called_is_no_problem(tmp_path: Path) -> None:
    """An agent may end because of a change."""
    rules = SessionRules(Policy("edit", [], [], tmp_path))
    called: list[str] = []

    def leave() -> None:
        called.append("first")
        end()

    end = rules.on_change(leave)
    rules.on_change(lambda: called.append("second"))
    rules.set_level("plan")
    rules.set_level("auto")
    assert called == ["first", "second", "second"]


async def test_an_answer_for_always_is_remembered_and_forgotten(tmp_path: Path) -> None:
    """With its origin, which is that of an answer for the session until it is on disk."""
    rules = SessionRules(Policy("edit", [], [], tmp_path))
    origins: list[str] = []
    rules.on_change(lambda: origins.extend(rule.origin for rule in rules.rules))
    assert await rules.allow("exec(make)", always=True) == ""
    assert origins == ["session"]
    assert [rule.origin for rule in rules.rules] == ["always"]
    assert remembered_rules(tmp_path).allow == ("exec(make)",)
    rules.forget("exec(make)")
    assert (rules.rules, remembered_rules(tmp_path).allow) == ([], ())


async def test_what_is_no_rule_changes_nothing(tmp_path: Path) -> None:
    """Nor is it reported."""
    rules = SessionRules(Policy("edit", [], [], tmp_path))
    called: list[None] = []
    rules.on_change(lambda: called.append(None))
    before = rules.policy
    with pytest.raises(UserMistake):
        await rules.allow("perhaps((", always=True)
    with pytest.raises(UserMistake):
        rules.forget("exec(none)")
    assert (rules.policy, rules.rules, called) == (before, [], [])


async def test_settings_that_are_read_again_decide_open_requests(tmp_path: Path) -> None:
    """A rule that allows answers; one that denies refuses, and the model reads which."""
    root = root_of(tmp_path, "edit")
    child = root.child()
    first, second = await root.asks(MAKE), await child.asks(Need("exec", "rm -rf build"))
    root.permissions.renew(Policy("edit", ["exec(make)"], ["exec(rm *)"], tmp_path / "work"), [])
    await ended(first)
    with pytest.raises(Refusal, match=r"the rule exec\(rm \*\) denies it now"):
        await ended(second)
    assert not root.open_requests + child.open_requests
