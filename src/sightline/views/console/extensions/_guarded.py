"""A component of an extension, whose failures must not harm the screen."""

from collections.abc import Callable

from sightline.tty import CURSOR, Component, ImageRow, Input, Rows, Theme, measure, truncate
from sightline.tty.components._text import styled_lines

_ROWS_AT_MOST = 2000


class Guarded(Component):
    """Draws it, forwards keys and disposes of it, until it raises.

    Its rows are used as they are when they are no wider than the screen, with nothing in them but text, style and the
    cursor mark. Otherwise they are made so. The same rows from it are the same rows from here.
    """

    def __init__(self, component: Component, theme: Theme, on_failure: Callable[[Exception], None]) -> None:
        self.component = component
        self.failed = False
        self._theme = theme
        self._on_failure = on_failure
        self._made_of: tuple[int, object] | None = None
        self._rows: Rows = ()

    @property
    def wants_key_release(self) -> bool:  # type: ignore[override]
        return bool(getattr(self.component, "wants_key_release", False))

    @property
    def focused(self) -> bool:
        return bool(getattr(self.component, "focused", False))

    @focused.setter
    def focused(self, focused: bool) -> None:
        self._try(lambda: setattr(self.component, "focused", focused))

    @property
    def children(self) -> list[Component]:
        """Searched for a list, to number its choices."""
        return [self.component]

    def render(self, width: int) -> Rows:
        if self.failed:
            return ()
        try:
            rows = self.component.render(width)
            if self._made_of is None or self._made_of[0] != width or self._made_of[1] is not rows:
                self._rows = tuple(self._row(row, width) for row in rows[:_ROWS_AT_MOST])
                self._made_of = (width, rows)
        except Exception as error:
            self._fail(error)
            return ()
        return self._rows

    def handle_input(self, event: Input) -> bool:
        try:
            return not self.failed and bool(self.component.handle_input(event))
        except Exception as error:
            self._fail(error)
            return True

    def contains(self, component: Component) -> bool:
        try:
            return component is self or component is self.component or self.component.contains(component)
        except Exception as error:
            self._fail(error)
            return False

    def refresh(self, component: Component) -> None:
        self._try(lambda: self.component.refresh(component))

    def invalidate(self) -> None:
        self._made_of = None
        self._try(self.component.invalidate)

    def dispose(self) -> None:
        self._try(self.component.dispose)

    def _try(self, do: Callable[[], None]) -> None:
        try:
            do()
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        if not self.failed:
            self.failed = True
            self._on_failure(error)

    def _row(self, row: str, width: int) -> str:
        if isinstance(row, ImageRow):
            return row
        if not row.isprintable():
            before, mark, after = row.partition(CURSOR)
            row = self._one_line(before) + (mark + self._one_line(after) if mark else "")
        return row if measure(row) <= width else truncate(row, width)

    def _one_line(self, row: str) -> str:
        """Tabs as spaces; line breaks, and everything but style that a terminal would obey, gone."""
        return "".join(styled_lines(row.replace("\n", " "), self._theme))
