"""The approval levels of a session on the page: which its agent has, and which of them can be chosen there."""

from sightline.providers import get_provider
from sightline.views._levels import LEVELS, LEVELS_OF_OTHERS

# `full` would also answer open requests: it is set in a terminal only.
_CHOSEN_HERE = ("plan", "edit", "auto")


def levels_in(provider: str) -> dict[str, str]:
    """Those of an agent, with what each lets it do. `provider`: its name as the session has it, nothing for our own.
    One that is unknown here may have all of them."""
    if not provider:
        return LEVELS
    try:
        known = get_provider(provider).levels
    except KeyError:
        return LEVELS_OF_OTHERS
    return {level: about for level, about in LEVELS_OF_OTHERS.items() if level in known}


def chosen_here(levels: dict[str, str]) -> dict[str, str]:
    """Those of them that can be chosen on the page."""
    return {level: levels[level] for level in _CHOSEN_HERE if level in levels}
