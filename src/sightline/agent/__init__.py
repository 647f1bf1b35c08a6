"""Our own agent: the loop, what it is told, what it remembers, and what it may do."""

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.agent._agent import PROMPT_AT_MOST, Agent
    from sightline.agent._bounds import bounded_text, bounded_value
    from sightline.agent._build import Wanted, build, model_of, wanted_in
    from sightline.agent._extension_files import add_extensions
    from sightline.agent._headless import headless_commands
    from sightline.agent._hooks import Block, Call, Cancelled, Hooks, NewArgs, Summary
    from sightline.agent._mending import mended
    from sightline.agent._permissions import (
        LEVELS,
        approval_facts,
        begin_with_level,
        forget_answer,
        level_left,
        level_notice,
        level_to_go_on_with,
        set_approval,
        tell_approval,
    )
    from sightline.agent._queue import GivenBack, How
    from sightline.agent._reloading import take_settings
    from sightline.agent._run import RunOutcome
    from sightline.agent._secrets import HARMLESS, HARMLESS_CODED, MaskedStream, Secrets, secrets_in
    from sightline.agent._stage import Stage
    from sightline.agent._summaries import summarise_branch

__all__ = [
    "HARMLESS",
    "HARMLESS_CODED",
    "LEVELS",
    "PROMPT_AT_MOST",
    "Agent",
    "Block",
    "Call",
    "Cancelled",
    "GivenBack",
    "Hooks",
    "How",
    "MaskedStream",
    "NewArgs",
    "RunOutcome",
    "Secrets",
    "Stage",
    "Summary",
    "Wanted",
    "add_extensions",
    "approval_facts",
    "begin_with_level",
    "bounded_text",
    "bounded_value",
    "build",
    "forget_answer",
    "headless_commands",
    "level_left",
    "level_notice",
    "level_to_go_on_with",
    "mended",
    "model_of",
    "secrets_in",
    "set_approval",
    "summarise_branch",
    "take_settings",
    "tell_approval",
    "wanted_in",
]

# An extension's file needs a few of these names in the console too, which runs no agent.
_MODULES = {
    "_agent": "PROMPT_AT_MOST Agent",
    "_bounds": "bounded_text bounded_value",
    "_build": "Wanted build model_of wanted_in",
    "_extension_files": "add_extensions",
    "_headless": "headless_commands",
    "_hooks": "Block Call Cancelled Hooks NewArgs Summary",
    "_mending": "mended",
    "_permissions": "LEVELS approval_facts begin_with_level forget_answer level_left level_notice level_to_go_on_with"
    " set_approval tell_approval",
    "_queue": "GivenBack How",
    "_reloading": "take_settings",
    "_run": "RunOutcome",
    "_secrets": "HARMLESS HARMLESS_CODED MaskedStream Secrets secrets_in",
    "_stage": "Stage",
    "_summaries": "summarise_branch",
}
_LATER = {name: module for module, names in _MODULES.items() for name in names.split()}

__getattr__ = later(__name__, _LATER)
