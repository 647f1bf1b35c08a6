"""The approval levels: what each lets an agent do, in the words every view uses, and which an agent has."""

LEVELS = {
    "plan": "reads only; no edits, no commands",
    "edit": "edits files, asks before it runs commands",
    "auto": "edits files, runs sandboxed commands",
    "full": "does everything without asking, commands without the sandbox",
}
# Of another program's agent, which has no sandbox of ours.
LEVELS_OF_OTHERS = {
    "plan": "reads only",
    "edit": "edits files",
    "auto": "as its own settings say",
    "full": "does everything without asking",
}
# `full` would also answer open requests: it is set in a terminal only.
_ON_THE_PAGE = ("plan", "edit", "auto")


def levels_in(provider: str) -> dict[str, str]:
    """Those of an agent, with what each lets it do. `provider`: its name as the session has it, nothing for our own.
    One that is unknown here may have all of them."""
    if not provider:
        return LEVELS
    from sightline.providers import get_provider

    try:
        known = get_provider(provider).levels
    except KeyError:
        return LEVELS_OF_OTHERS
    return {level: about for level, about in LEVELS_OF_OTHERS.items() if level in known}


def levels_on_page(levels: dict[str, str]) -> dict[str, str]:
    """Those of them that can be chosen on the page."""
    return {level: levels[level] for level in _ON_THE_PAGE if level in levels}
