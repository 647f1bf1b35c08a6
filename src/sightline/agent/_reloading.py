"""Settings that changed while a session runs: which of them hold at once, and which only in a new one."""

from contextlib import suppress
from typing import TYPE_CHECKING

from sightline.agent._build import Wanted, denying
from sightline.agent._missing_model import MissingModel
from sightline.exceptions import SightlineError
from sightline.settings import denied_paths

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
    agent.approvals.renew(wanted.policy)
    policy = agent.approvals.policy
    agent.workplace.is_denied = denying(policy)
    agent.workplace.read_only = tuple(denied_paths(policy, wanted.cwd))
    if isinstance(agent.model, MissingModel):
        with suppress(SightlineError):
            agent.set_model(wanted.model or wanted.settings.models.default)
    dropped = set(policy.deny) - set(wanted.policy.deny)
    return [name for name in changed if _holds_later(name) or (name == "permissions.deny" and dropped)]


def _holds_later(name: str) -> bool:
    return any(name == later or name.startswith(f"{later}.") for later in _WHEN_IT_BEGINS)
