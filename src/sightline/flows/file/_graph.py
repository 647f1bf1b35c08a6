"""What needs what: names that do not exist, circles, and what a step can therefore know of."""

from collections.abc import Iterable, Mapping
from typing import Literal

Needs = Mapping[str, Iterable[str]]


def reachable(start: str, needs: Needs) -> set[str]:
    """Everything a step needs, directly or through others."""
    found: set[str] = set()
    pending = list(needs.get(start, ()))
    while pending:
        name = pending.pop()
        if name not in found:
            found.add(name)
            pending.extend(needs.get(name, ()))
    return found


def cycles(needs: Needs) -> list[list[str]]:
    """One circle for each group of steps that wait for one another, beginning with its first step in the file."""
    found: list[list[str]] = []
    seen: set[str] = set()
    for name in needs:
        if name in seen:
            continue
        circle = _way_back(name, needs)
        if circle:
            found.append(circle)
            reach = reachable(name, needs)
            seen |= {other for other in reach if name in reachable(other, needs)}
    return found


def delegation_mode(needs: Needs) -> Literal["single", "chain", "parallel"]:
    """How a view should show the steps: one, a straight line in the order of the file, or anything else."""
    names = list(needs)
    if len(names) == 1:
        return "single"
    straight = all(list(needs[name]) == names[index : index + 1] for index, name in enumerate(names[1:]))
    return "chain" if straight and not list(needs[names[0]]) else "parallel"


def _way_back(start: str, needs: Needs) -> list[str]:
    """The shortest way from a step over its needs to itself, both ends included; empty when there is none."""
    came_from: dict[str, str] = {}
    pending = [start]
    for name in pending:
        for need in needs.get(name, ()):
            if need == start:
                way = [start, name]
                while way[-1] != start:
                    way.append(came_from[way[-1]])
                return [start, *reversed(way[1:-1]), start] if len(way) > 2 else [start, start]
            if need not in came_from:
                came_from[need] = name
                pending.append(need)
    return []
