"""Usage as servers tell it. One odd number, or none at all, must not cost the answer it stands beside."""

from typing import Any, TypeVar

import msgspec

from sightline.chat_completions import tokens

T = TypeVar("T")


def told(value: Any, kind: type[T]) -> T | None:
    """What a server says about usage, as its API has it; None when it is anything else."""
    try:
        return None if value is None else msgspec.convert(value, kind)
    except (ValueError, RecursionError):
        return None


def learn(known: msgspec.Struct, value: Any) -> bool:
    """Usage that is told bit by bit: what is new of it is put into what is known. Whether it was usage at all."""
    new = told(value, type(known))
    for name in known.__struct_fields__:
        if (count := tokens(getattr(new, name, None))) is not None:
            setattr(known, name, count)
    return new is not None
