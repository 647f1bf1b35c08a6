"""The approval level that a session with a provider begins with."""

from sightline.agent import LEVELS, level_left, level_notice, resumed_level
from sightline.events import Notice
from sightline.exceptions import UserMistake
from sightline.journal import SessionTree, Store
from sightline.providers import Approval, Provider


def level_of(provider: Provider, word: str) -> Approval:
    for level in provider.levels:
        if word == level:
            return level
    raise UserMistake(f"no approval level {word} for {provider.title}", f"one of {', '.join(provider.levels)}")


def allows_less(level: Approval, other: Approval) -> bool:
    return LEVELS.index(level) < LEVELS.index(other)


def level_left_in(store: Store, session: str, provider: Provider) -> Approval:
    """The level for a run that names none: what the session was left with, where that allows less than `auto`."""
    return first_level(provider, "", SessionTree.load(store.folder(session)), named=False)[0]


def first_level(
    provider: Provider, requested: str, tree: SessionTree, *, named: bool
) -> tuple[Approval, Notice | None]:
    """The requested level; where it was not named for this session, the one it was left with if that is lower."""
    had, now = level_left(tree), level_of(provider, requested or "auto")
    if had is None or (requested and named):
        return now, None
    level = resumed_level(had, now, None)
    if level not in provider.levels:
        level = now  # it was another agent's
    return level, None if had == level == now else level_notice(had, level)
