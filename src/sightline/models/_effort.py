"""The thinking effort in a request to an OpenAI model. The words it takes differ from family to family.

Only models that are known to think get one: the others refuse the field. Off is the least a model can do.
"""

import re

from sightline.models._api import ModelFacts
from sightline.settings import Thinking

_thinkers = re.compile(r"(?:o\d|gpt-5|codex|gpt-oss)")
_chat_only = re.compile(r"gpt-5[.\d]*-chat")
_gpt_5 = re.compile(r"gpt-5(?:-|\Z)")
_gpt_5_and_on = re.compile(r"gpt-5\.(\d+)")


def thinks(facts: ModelFacts) -> bool:
    """Whether it is known to: by what is known of the model, else by its family."""
    if facts.thinking is not None:
        return facts.thinking
    return facts.provider == "openai" and bool(_thinkers.match(facts.id)) and not _chat_only.match(facts.id)


def effort(facts: ModelFacts, thinking: Thinking) -> str:
    """The word for a level; empty when none is sent."""
    if not thinks(facts):
        return ""
    later = _gpt_5_and_on.match(facts.id)
    if thinking == "off":
        return _least(facts, numbered=later is not None)
    if thinking == "minimal":
        return "minimal" if _gpt_5.match(facts.id) else "low"
    if thinking == "max":
        return "xhigh" if later and (int(later[1]) >= 2 or "-max" in facts.id) else "high"
    return thinking


def _least(facts: ModelFacts, *, numbered: bool) -> str:
    if facts.provider != "openai":
        return ""
    if numbered:
        return "low" if "codex" in facts.id else "none"
    return "minimal" if _gpt_5.match(facts.id) and "codex" not in facts.id else "low"
