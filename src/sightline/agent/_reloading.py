"""Settings that changed while a session runs: which of them apply at once, and which only in a new one."""

from contextlib import suppress
from typing import TYPE_CHECKING

from sightline.agent._build import AgentSpec
from sightline.agent.permissions._given_rules import with_stored_rules
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
    "skills",
    "context_files",
    "instructions",
)


def take_settings(agent: "Agent", spec: AgentSpec) -> list[str]:
    """Apply these from now on; returns the names of those that changed and apply only in a new session."""
    from sightline.settings.editing import changed_settings

    spec = with_stored_rules(spec, agent.memory.tree)
    changed = changed_settings(agent.workplace.settings, spec.settings)
    agent.workplace.settings = spec.settings
    agent.permissions.renew(spec.policy, spec.rules)
    policy = agent.permissions.policy
    if agent.model.why_missing is not None:
        with suppress(SightlineError):
            agent.model.choose(spec.options.model or spec.settings.models.default)
    later = list(_WHEN_IT_BEGINS)
    if set(policy.deny) - set(spec.policy.deny):
        later.append("permissions.deny")
    if policy.approval != spec.policy.approval:  # another was chosen for this session
        later.append("permissions.approval")
    return [name for name in changed if any(name == each or name.startswith(f"{each}.") for each in later)]
