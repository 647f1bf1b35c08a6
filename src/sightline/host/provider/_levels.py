"""The approval level of another program's agent that a session begins with."""

from sightline.agent import LEVELS, level_left, level_notice, level_to_go_on_with
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


def first_level(provider: Provider, asked: str, tree: SessionTree, *, named: bool) -> tuple[Approval, Notice | None]:
    """What was asked for; where it was not named for this session, as with our own agent, what that was left with, if
    it allows less."""
    had, now = level_left(tree), level_of(provider, asked or "auto")
    if had is None or (asked and named):
        return now, None
    level = level_to_go_on_with(had, now, None)
    if level not in provider.levels:
        level = now  # it was another's
    return level, None if had == level == now else level_notice(had, level)
