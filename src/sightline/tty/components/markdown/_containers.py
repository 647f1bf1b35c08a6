"""Quotes and list items, and the columns they take at the left of every row inside them."""

from typing import NamedTuple

from sightline.tty.theme._theme import Theme

_BULLETS = "•◦▪"
_BAR = "│"


class Quote(NamedTuple):
    """A block quote."""


class ListItem(NamedTuple):
    """A list item: `indent` columns of source lead to its content, `ordinal` is its place in its list."""

    kind: str
    number: int | None
    indent: int
    ordinal: int
    box: str = ""
    empty: bool = True


Container = Quote | ListItem
Stack = tuple[Container, ...]


class Prefix(NamedTuple):
    """What stands left of a block: on its first row, on those that follow, on empty ones; and its cells."""

    first: str = ""
    rest: str = ""
    bare: str = ""
    cells: int = 0


NO_PREFIX = Prefix()


def prefix(stack: Stack, shown: int, theme: Theme, width: int) -> Prefix:
    """The prefix within these containers, of which the first `shown` have shown their marker.

    It takes at most half the width: where there is no room for all, the outer ones go.
    """
    first: list[str] = []
    rest: list[str] = []
    solid, total = 0, 0
    room = min(width // 2, width - 2)
    for depth in range(len(stack) - 1, -1, -1):
        container = stack[depth]
        marker = _BAR if isinstance(container, Quote) else _marker(container, stack[:depth])
        if total + len(marker) + 1 > room:
            break
        total += len(marker) + 1
        if isinstance(container, Quote):
            first.append(theme.style("quote_border", marker) + " ")
            rest.append(first[-1])
            solid = solid or len(rest)
        else:
            rest.append(" " * (len(marker) + 1))
            first.append(theme.style(_role(container), marker) + " " if depth >= shown else rest[-1])
    first.reverse()
    bare = "".join(reversed(rest[solid - 1 :]))[:-1] if solid else ""
    return Prefix("".join(first), "".join(reversed(rest)), bare, total)


def in_quote(stack: Stack) -> bool:
    return any(isinstance(container, Quote) for container in stack)


def _marker(item: ListItem, outer: Stack) -> str:
    if item.box:
        return item.box
    if item.number is not None:
        return f"{item.number}{item.kind}"
    level = sum(isinstance(container, ListItem) and container.number is None for container in outer)
    return _BULLETS[level % len(_BULLETS)]


def _role(item: ListItem) -> str:
    return "success" if item.box == "[x]" else "list_marker"
