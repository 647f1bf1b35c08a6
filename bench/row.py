"""One line of the table."""

from typing import NamedTuple


class Row(NamedTuple):
    """A measured figure that must not exceed its goal; without a goal it is there to compare with."""

    what: str
    goal: float | None
    result: float
    unit: str = "×"

    @property
    def met(self) -> bool:
        return self.goal is None or self.result <= self.goal

    def line(self) -> str:
        scale = self.result if self.goal is None else self.goal
        digits = 2 if self.unit == "×" else 1 if scale < 10 else 0
        goal = "–" if self.goal is None else f"≤ {self.goal:.{digits}f} {self.unit}"
        result = f"{self.result:.{digits}f} {self.unit}"
        return f"{self.what:<58} {goal:>12} {result:>12}{'' if self.met else '   MISSED'}"
