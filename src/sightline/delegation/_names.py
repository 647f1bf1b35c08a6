"""Names of agents: given, generated, and made unique in a session."""

import random
import re
from collections.abc import Callable, Container, Sequence

NAME_AT_MOST = 48
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_-]+")
_ADJECTIVES = (
    *("Amber", "Brisk", "Calm", "Clear", "Cosmic", "Deft", "Eager", "Early", "Fair", "Fleet", "Gentle", "Golden"),
    *("Green", "Honest", "Humble", "Ivory", "Jolly", "Keen", "Kind", "Light", "Lively", "Lucid", "Lunar", "Merry"),
    *("Mild", "Neat", "Noble", "Polar", "Prime", "Quick", "Quiet", "Rapid", "Ready", "Silver", "Sharp", "Steady"),
)
_NOUNS = (
    *("Acorn", "Anchor", "Badger", "Beacon", "Birch", "Breeze", "Brook", "Canyon", "Cedar", "Cliff", "Comet", "Crane"),
    *("Delta", "Falcon", "Fern", "Finch", "Fjord", "Garnet", "Glacier", "Grove", "Harbor", "Heron", "Iris", "Lark"),
    *("Maple", "Marten", "Meadow", "Otter", "Owl", "Pebble", "Pine", "Quartz", "Raven", "Reef", "River", "Robin"),
)
_is_of_side_question = re.compile(r"btw-\d+", re.IGNORECASE).fullmatch
ROOT = "Main"  # how the agent of the session is addressed


def generated_name(choose: Callable[[Sequence[str]], str] = random.choice) -> str:
    return choose(_ADJECTIVES) + choose(_NOUNS)


def as_name(text: str) -> str:
    """What a model gave as a name, as one that can stand in a path and in an address; may be empty. The paths of side
    questions are given to no other agent."""
    name = _NOT_IN_NAMES.sub("-", text.strip())[:NAME_AT_MOST].strip("-_")
    return "" if _is_of_side_question(name) else name


def unique_name(name: str, taken: Container[str]) -> str:
    """The name, or with a number from 2 on. `taken`: in lower case."""
    if name.lower() not in taken:
        return name
    number = 2
    while f"{name}-{number}".lower() in taken:
        number += 1
    return f"{name}-{number}"
