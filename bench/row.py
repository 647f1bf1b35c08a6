"""One line of the table."""

from typing import NamedTuple


class Row(NamedTuple):
    """A measured figure that must not exceed its goal."""

    what: str
    goal: float
    result: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.result <= self.goal

    def line(self) -> str:
        digits = 2 if self.unit == "×" else 1 if self.goal < 10 else 0
        goal, result = (f"{value:.{digits}f} {self.unit}" for value in (self.goal, self.result))
        return f"{self.what:<58} {'≤ ' + goal:>12} {result:>12}{'' if self.met else '   MISSED'}"
