"""The attacks there are: functions that registered themselves, each in its forms."""

import importlib
import pkgutil
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import msgspec

if TYPE_CHECKING:
    from sightline.testing.attack._lab import Lab

User = Literal["root", "user"]
Sandbox = Literal["bubblewrap", "landlock"]

USERS: tuple[User, ...] = ("root", "user")
SANDBOXES: tuple[Sandbox, ...] = ("bubblewrap", "landlock")

Attempt = Callable[["Lab", str], str]


class Attack(msgspec.Struct, frozen=True):
    """One form of one attack."""

    name: str
    point: int
    form: str
    attempt: Attempt
    users: tuple[User, ...] = USERS
    sandboxes: tuple[Sandbox, ...] = SANDBOXES


_known: list[Attack] = []


def attack(
    *,
    point: int,
    forms: Sequence[str] = ("",),
    users: Sequence[User] = USERS,
    sandboxes: Sequence[Sandbox] = SANDBOXES,
) -> Callable[[Attempt], Attempt]:
    """Registers a function as an attack on this point of the threat model, once for each form."""

    def register(attempt: Attempt) -> Attempt:
        name = attempt.__name__
        _known.extend(Attack(name, point, form, attempt, tuple(users), tuple(sandboxes)) for form in forms)
        return attempt

    return register


def corpus() -> list[Attack]:
    """All attacks, by point and name."""
    from sightline.testing.attack import cases

    for module in sorted(pkgutil.iter_modules(cases.__path__), key=lambda found: found.name):
        importlib.import_module(f"{cases.__name__}.{module.name}")
    return sorted(_known, key=lambda each: (each.point, each.name))
