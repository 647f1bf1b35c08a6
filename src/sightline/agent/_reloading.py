"""Settings that changed while a session runs: which of them hold at once, and which only in a new one."""

from contextlib import suppress
from typing import TYPE_CHECKING

from sightline.agent._build import Wanted
from sightline.agent._missing_model import MissingModel
from sightline.agent._permissions import hold_to_policy, tell_approval
from sightline.exceptions import SightlineError

if TYPE_CHECKING:
    from sightline.agent._agent import Agent

# What was made of them when the session began stays as it is.
_WHEN_IT_BEGINS = (
    "models.default",
    "models.thinking",
    "permissions.sandbox",
    "todo.enabled",
    "jobs.max_jobs",
    "extensions",
    "context_files",
    "instructions",
)


def take_settings(agent: "Agent", wanted: Wanted) -> list[str]:
    """Go by these from now on; the names of those that changed and hold only in a new session."""
    from sightline.settings.keeping import changed_settings

    changed = changed_settings(agent.settings, wanted.settings)
    agent.settings = agent.workplace.settings = wanted.settings
    before = agent.approvals.policy.approval
    agent.approvals.renew(wanted.policy, wanted.rules)
    policy = agent.approvals.policy
    hold_to_policy(agent)
    if policy.approval != before:
        tell_approval(agent)
    if isinstance(agent.model, MissingModel):
        with suppress(SightlineError):
            agent.set_model(wanted.model or wanted.settings.models.default)
    later = list(_WHEN_IT_BEGINS)
    if set(policy.deny) - set(wanted.policy.deny):
        later.append("permissions.deny")
    if policy.approval != wanted.policy.approval:  # another was chosen for this session
        later.append("permissions.approval")
    return [name for name in changed if any(name == each or name.startswith(f"{each}.") for each in later)]
