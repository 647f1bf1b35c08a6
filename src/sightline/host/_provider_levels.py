"""The approval levels of somebody else's agent: which it has, and which a session begins with."""

from sightline.agent import level_left, level_notice, level_to_go_on_with
from sightline.events import Notice
from sightline.exceptions import UserMistake
from sightline.journal import Tree
from sightline.providers import APPROVALS, Approval, Provider


def levels_of(provider: Provider) -> list[Approval]:
    """Those that mean something to it. `auto` is what its own settings say."""
    known = provider.command.approvals if provider.command is not None else {}
    return [level for level in APPROVALS if level == "auto" or level in known]


def level_of(provider: Provider, word: str) -> Approval:
    levels = levels_of(provider)
    for level in levels:
        if word == level:
            return level
    raise UserMistake(f"no approval level {word} for {provider.title}", f"one of {', '.join(levels)}")


def first_level(provider: Provider, asked: str, tree: Tree) -> tuple[Approval, Notice | None]:
    """What was asked for; else, as with our own agent, what the session was left with, where that allows less."""
    had = level_left(tree)
    if asked or had is None:
        return level_of(provider, asked or "auto"), None
    level = level_to_go_on_with(had, "auto", None)
    if level not in levels_of(provider):
        level = "auto"  # it was another's
    return level, None if had == "auto" else level_notice(had, level, provider.name)
