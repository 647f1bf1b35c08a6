"""The tree, looked at from outside: which settings there are, what values they take, in words too.

A key is the tuple of names that leads to a setting. Tables with names of one's own (`models.servers.NAME`) have as many
keys as are used.
"""

from functools import cache
from typing import Any, Literal, TypeAlias, get_args, get_origin

import msgspec
from msgspec import Meta

from sightline.settings._tree import Settings, SettingsSection

Key = tuple[str, ...]
Kind: TypeAlias = Any  # a type of the tree: a section, str, list[str], Annotated[int, Meta(ge=1)], …

# Rules add up, so that a project or a flag cannot lose a rule that denies; every other value replaces the one before.
EXTENDED: frozenset[Key] = frozenset({("permissions", "allow"), ("permissions", "deny")})

_LARGEST_SHOWN = 1_000_000


def kind_at(key: Key) -> Kind | None:
    """What may stand there; None when there is no such setting."""
    kind: Kind = Settings
    for name in key:
        if kind is Any:
            return Any
        if is_section(kind):
            kind = kind.__annotations__.get(name)
        elif _origin(kind) is dict:
            kind = get_args(kind)[1]
        else:
            return None
        if kind is None:
            return None
    return kind


def is_section(kind: Kind) -> bool:
    return isinstance(kind, type) and issubclass(kind, SettingsSection)


def is_table(kind: Kind) -> bool:
    return is_section(kind) or _origin(kind) is dict


def _origin(kind: Kind) -> object:
    return get_origin(kind)


@cache
def all_keys() -> tuple[Key, ...]:
    """Every setting, in the order of the tree; a table of one's own names counts as one."""
    return tuple(_keys(Settings, ()))


def _keys(section: Kind, above: Key) -> list[Key]:
    found: list[Key] = []
    for name, kind in section.__annotations__.items():
        key = (*above, name)
        found += _keys(kind, key) if is_section(kind) else [key]
    return found


def value_at(settings: object, key: Key) -> object:
    for name in key:
        settings = settings[name] if isinstance(settings, dict) else getattr(settings, name)
    return settings


def leaves(key: Key, kind: Kind, value: object) -> list[tuple[Key, object]]:
    """The settings in a value of a file. A key below that the tree does not have is one of them."""
    open_table = kind is Any or is_table(kind)
    if not isinstance(value, dict) or not open_table or not value:
        return [(key, value)]
    found: list[tuple[Key, object]] = []
    for name, below in value.items():
        inner = (*key, name)
        inner_kind = kind_at(inner)
        found += [(inner, below)] if inner_kind is None else leaves(inner, inner_kind, below)
    return found


def checked(kind: Kind, value: object) -> object:
    """The value in the type of the tree. ValueError with a description of that type."""
    if kind is Any:
        return value
    if is_table(kind):
        if value == {}:
            return value
        raise ValueError(describe(kind))
    try:
        return msgspec.convert(value, kind)
    except msgspec.ValidationError:
        raise ValueError(describe(kind)) from None


def from_text(kind: Kind, text: str) -> Any:
    """A value as it is written in a variable or on the command line. ValueError as above."""
    bare = _bare(kind)
    if _origin(bare) is list:
        return checked(kind, split_list(text))
    if bare is str or _origin(bare) is Literal:
        return checked(kind, text)
    if bare is Any:
        return _guessed(text)
    if bare is bool:
        return checked(kind, {"true": True, "1": True, "false": False, "0": False}.get(text.strip().lower()))
    return checked(kind, _number(text) if bare in (int, float) else None)


def split_list(text: str) -> list[str]:
    """Between commas; a comma in the parentheses of a rule belongs to the rule."""
    items, depth = [""], 0
    for character in text:
        depth = max(0, depth + (character == "(") - (character == ")"))
        if character == "," and not depth:
            items.append("")
        else:
            items[-1] += character
    return [item.strip() for item in items if item.strip()]


def _guessed(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    number = _number(text)
    return text if number is None else number


def _number(text: str) -> int | float | None:
    for read in (int, float):
        try:
            return read(text.strip()[:40])
        except ValueError:
            continue
    return None


def _bare(kind: Kind) -> Any:
    """Without its limits."""
    return kind.__origin__ if hasattr(kind, "__metadata__") else kind


def choices_of(kind: Kind) -> tuple[str, ...]:
    """The values there are; none where it is not one of a few."""
    bare = _bare(kind)
    return get_args(bare) if _origin(bare) is Literal else ()


def is_text(kind: Kind) -> bool:
    return _bare(kind) is str


def is_list(kind: Kind) -> bool:
    return _origin(_bare(kind)) is list


def describe(kind: Kind) -> str:
    """What it must be, to follow "must be"."""
    bare = _bare(kind)
    if bare is Any:
        return "any value"
    if is_table(bare):
        return "a table"
    if is_list(bare):
        return "a list of strings"
    if choices := choices_of(bare):
        return f"one of {', '.join(choices)}"
    if bare is bool:
        return "true or false"
    if bare is str:
        return "text"
    limits = _limits(kind.__metadata__[0]) if hasattr(kind, "__metadata__") else ""
    return ("a whole number" if bare is int else "a number") + limits


def _limits(meta: Meta) -> str:
    least = f" above {meta.gt:g}" if meta.gt is not None else f" of at least {meta.ge}"
    return least if meta.le is None or meta.le >= _LARGEST_SHOWN else f"{least} and at most {meta.le}"
