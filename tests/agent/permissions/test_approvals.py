"""Decisions for one agent: at the session's level, or at its cap where that allows less."""

from pathlib import Path

import pytest

from sightline.agent.permissions._approvals import Approvals
from sightline.agent.permissions._levels import LEVELS, lowest
from sightline.settings import Approval
from tests.agent.permissions.support import root_of


@pytest.mark.parametrize("session", LEVELS)
@pytest.mark.parametrize("cap", LEVELS)
async def test_a_cap_lowers_and_never_raises(tmp_path: Path, session: Approval, cap: Approval) -> None:
    """Whatever the one who gives it returns."""
    root = root_of(tmp_path, session)
    approvals = Approvals(root.rules, root.actor, root.requests, cap=lambda: cap)
    assert approvals.level == approvals.policy.approval == lowest(session, cap)
    assert root.permissions.level == session


async def test_a_cap_is_read_at_each_decision(tmp_path: Path) -> None:
    """Also where the rules of the session are the same as before."""
    root = root_of(tmp_path, "full")
    caps: list[Approval] = ["auto"]
    approvals = Approvals(root.rules, root.actor, root.requests, cap=lambda: caps[-1])
    for cap in ("edit", "plan", "full", "auto"):
        caps.append(cap)
        assert approvals.policy.approval == cap
