"""One line of the table."""

from math import nan
from typing import NamedTuple


class Row(NamedTuple):
    """A figure that must not exceed its goal; without one it is there to compare with, or has why it is missing."""

    what: str
    goal: float | None
    result: float
    unit: str = "×"
    reason: str = ""

    @property
    def met(self) -> bool:
        return self.goal is None or self.result <= self.goal

    @classmethod
    def without(cls, what: str, reason: str) -> "Row":
        """What could not be measured, and why."""
        return cls(what, None, nan, reason=reason)

    def line(self) -> str:
        if self.reason:
            return f"{self.what:<58} {'–':>12}   {self.reason}"
        scale = self.result if self.goal is None else self.goal
        digits = (2 if scale >= 0.01 else 4) if self.unit == "×" else 1 if scale < 10 else 0
        goal = "–" if self.goal is None else f"≤ {self.goal:.{digits}f} {self.unit}"
        result = f"{self.result:.{digits}f} {self.unit}"
        return f"{self.what:<58} {goal:>12} {result:>12}{'' if self.met else '   MISSED'}"
