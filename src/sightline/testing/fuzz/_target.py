"""What can be fuzzed: a way to make inputs, and what must hold of each."""

from random import Random
from typing import Any, Protocol


class Unsound(Exception):
    """An input for which what must hold does not."""


class Target(Protocol):
    """`open` and `close` are called in the process that fuzzes, around all inputs. An input is a text, bytes or a tuple
    of these, so that it can be printed as a literal and made shorter."""

    name: str

    def open(self) -> None: ...

    def close(self) -> None: ...

    def make(self, random: Random) -> Any: ...

    def check(self, given: Any) -> None:
        """Raises when something about this input is not as it must be."""
        ...


class Plain:
    """A target that needs nothing around its inputs."""

    name = ""

    def open(self) -> None: ...

    def close(self) -> None: ...


def hold(holds: bool, what: str) -> None:
    if not holds:
        raise Unsound(what)
