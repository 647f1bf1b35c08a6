"""Blank rows."""

from sightline.tty._component import Component, Rows


class Spacer(Component):
    """So many blank rows."""

    def __init__(self, rows: int = 1) -> None:
        self._rows: Rows = ("",) * max(rows, 0)

    def render(self, width: int) -> Rows:
        return self._rows
