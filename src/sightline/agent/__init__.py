"""Our own agent: the loop, what it is told, what it remembers, and what it may do."""

from sightline.agent._agent import PROMPT_AT_MOST, Agent, How
from sightline.agent._bounds import bounded_text, bounded_value
from sightline.agent._build import Wanted, build, wanted_in
from sightline.agent._extension_files import add_extensions
from sightline.agent._hooks import Block, Call, Cancelled, Hooks, NewArgs, Summary
from sightline.agent._mending import mended
from sightline.agent._run import RunOutcome
from sightline.agent._secrets import Secrets
from sightline.agent._stage import Stage
from sightline.agent._summaries import summarise_branch

__all__ = [
    "PROMPT_AT_MOST",
    "Agent",
    "Block",
    "Call",
    "Cancelled",
    "Hooks",
    "How",
    "NewArgs",
    "RunOutcome",
    "Secrets",
    "Stage",
    "Summary",
    "Wanted",
    "add_extensions",
    "bounded_text",
    "bounded_value",
    "build",
    "mended",
    "summarise_branch",
    "wanted_in",
]
