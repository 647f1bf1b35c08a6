"""The approval levels of somebody else's agent: which it has, and which a session begins with."""

from sightline.agent import LEVELS, level_left, level_notice, level_to_go_on_with
from sightline.events import Notice
from sightline.exceptions import UserMistake
from sightline.journal import Store, Tree
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


def allows_less(level: Approval, other: Approval) -> bool:
    return LEVELS.index(level) < LEVELS.index(other)


def level_left_in(store: Store, session: str, provider: Provider) -> Approval:
    """The level for a run that names none: what the session was left with, where that allows less than `auto`."""
    return first_level(provider, "", Tree.load(store.folder(session)), named=False)[0]


def first_level(provider: Provider, asked: str, tree: Tree, *, named: bool) -> tuple[Approval, Notice | None]:
    """What was asked for; where it was not named for this session, as with our own agent, what that was left with, if
    it allows less."""
    had, now = level_left(tree), level_of(provider, asked or "auto")
    if had is None or (asked and named):
        return now, None
    level = level_to_go_on_with(had, now, None)
    if level not in levels_of(provider):
        level = now  # it was another's
    return level, None if had == level == now else level_notice(had, level, provider.name)
