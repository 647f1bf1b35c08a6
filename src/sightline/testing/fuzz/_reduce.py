"""A failing input made shorter: chunks are taken away, large ones first, while it still fails."""

import time
from collections.abc import Callable
from typing import Any

_SECONDS = 5.0


def reduced(given: Any, fails: Callable[[Any], bool]) -> Any:
    """The shortest found in five seconds. Of a tuple each part that is a text or bytes is made shorter."""
    deadline = time.monotonic() + _SECONDS
    if isinstance(given, tuple):
        for place, part in enumerate(given):
            if isinstance(part, str | bytes):
                given = (*given[:place], _shorter(part, _in_place(given, place, fails), deadline), *given[place + 1 :])
        return given
    return _shorter(given, fails, deadline) if isinstance(given, str | bytes) else given


def _in_place(given: tuple[Any, ...], place: int, fails: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda part: fails((*given[:place], part, *given[place + 1 :]))


def _shorter(given: Any, fails: Callable[[Any], bool], deadline: float) -> Any:
    size = len(given) // 2
    while size:
        at = 0
        while at < len(given):
            if time.monotonic() > deadline:
                return given
            without = given[:at] + given[at + size :]
            if fails(without):
                given = without
            else:
                at += size
        size //= 2
    return given
