"""The frame of all dialogs: a box with parts below each other, one of which may be long and is scrolled.

- It takes as many rows as it needs, at most those available (`height`). Where they are few, the frame and the hints go
  first, then choices are scrolled.
- What does not fit is announced, with the keys that show it; hints take as many rows as they need. In linear mode
  everything is written.
- Ctrl+C and escape mean the same: back, or close.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from sightline.tty import Component, Input, Rows, measure, truncate
from sightline.tty.components import Box, Item, KeyHints, SelectList, TextComponent
from sightline.tty.components._box import Border
from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions

Height = Callable[[], int]

_SMALL = 12
_PANE_AT_LEAST = 2
_CHOICES = 8
_ALL_PAGES = 1_000_000
_AROUND_CHOICES = 2  # rows of a list that are no choices
_AIRY = 18  # rows from which empty ones set the parts apart


def usual_height() -> int:
    return 24


class Pane(Component):
    """A part that may be longer than its room: a window on its rows."""

    def __init__(self, inner: Component, drawing: DrawingOptions) -> None:
        self.inner = inner
        self._drawing = drawing
        self._room = 10
        self._top = 0
        self._made_of: tuple[Rows, int, int, int] | None = None
        self._rows: Rows = ()

    def set_room(self, rows: int) -> None:
        self._room = max(rows, _PANE_AT_LEAST)

    def scroll(self, pages: int) -> bool:
        """Scroll. False: all of it is in sight."""
        if self._made_of is None or len(self._made_of[0]) <= self._room:
            return False
        self._top += pages * (self._room - 1)
        return True

    def to_start(self) -> bool:
        return self.scroll(-_ALL_PAGES)

    def to_end(self) -> bool:
        return self.scroll(_ALL_PAGES)

    def render(self, width: int) -> Rows:
        rows = self.inner.render(width)
        if len(rows) <= self._room or self._drawing.linear:
            self._made_of = (rows, width, 0, self._room)
            return rows
        window = self._room - 1
        self._top = min(max(self._top, 0), len(rows) - window)
        made_of = (rows, width, self._top, self._room)
        if self._made_of is None or self._made_of[0] is not rows or self._made_of[1:] != made_of[1:]:
            self._made_of = made_of
            self._rows = (*rows[self._top : self._top + window], self._place(len(rows), window, width))
        return self._rows

    def invalidate(self) -> None:
        self._made_of = None
        self.inner.invalidate()

    def _place(self, rows: int, window: int, width: int) -> str:
        keys = self._drawing.bindings
        up, down = (next(iter(keys.keys(name)), "") for name in ("select_page_up", "select_page_down"))
        text = f"rows {self._top + 1:,}–{self._top + window:,} of {rows:,} · {up}, {down} for the rest"
        return self._drawing.theme.style("hint", truncate(text, width))


class _Hints(KeyHints):
    """All hints, in several rows where one is too narrow."""

    def _draw(self, width: int) -> Rows:
        return tuple(KeyHints(group, theme=self._theme).render(width)[0] for group in _fitting(self._hints, width))


def _fitting(hints: Sequence[tuple[str, str]], width: int) -> list[list[tuple[str, str]]]:
    groups: list[list[tuple[str, str]]] = []
    for hint in hints:
        row = " · ".join(" ".join(each) for each in [*(groups[-1] if groups else ()), hint])
        if groups and measure(row) <= width:
            groups[-1].append(hint)
        else:
            groups.append([hint])
    return groups


class _Air(Component):
    """An empty row, where there are enough."""

    def __init__(self, has_room: Callable[[], bool]) -> None:
        self._has_room = has_room

    def render(self, width: int) -> Rows:
        return _EMPTY if self._has_room() else ()


_EMPTY = ("",)


class Dialog(Box, Answerable):
    """A titled box of parts. A subclass shows them with `show`, again for each step."""

    def __init__(
        self, title: str, drawing: DrawingOptions, height: Height = usual_height, *, role: str = "accent"
    ) -> None:
        super().__init__(theme=drawing.theme, border_role=role)
        self.drawing = drawing
        self.theme = drawing.theme
        self.bindings = drawing.bindings
        self._height = height
        self._spoken_title = title
        self._hints = _Hints(theme=self.theme)
        self._air = _Air(lambda: self.rows >= _AIRY and not drawing.linear)
        self.pane: Pane | None = None
        self.set_title(title)

    @property
    def rows(self) -> int:
        """Rows available."""
        return self._height()

    @property
    def is_small(self) -> bool:
        """Too few rows for a frame and hints."""
        return self.rows < _SMALL and not self.drawing.linear

    def text(self, text: str, role: str | None = None) -> TextComponent:
        return TextComponent(text, role, theme=self.theme)

    def choices(
        self, items: Iterable[Item], on_select: Callable[[str], None], *, numbered: bool = True, **options: Any
    ) -> SelectList:
        """A list to choose from; `on_select` is called with the value of the chosen item."""
        made = SelectList(items, numbered=numbered, bindings=self.bindings, theme=self.theme, **options)
        made.on_select = lambda item: on_select(item.value)
        made.on_cancel = self.cancel
        return made

    def cancel(self) -> None:
        """Back, or close."""
        self.finish(None)

    def show(self, *parts: Component | None, hints: Sequence[tuple[str, str]] = ()) -> None:
        """Show these parts. The hints are pairs of an action's name and what it does here."""
        pairs = [(next(iter(self.bindings.keys(action)), ""), meaning) for action, meaning in hints]
        self._hints.set_hints([(key, meaning) for key, meaning in pairs if key])
        heading = [self.text(self._spoken_title)] if self.drawing.linear else []
        self.children = [*heading, *self._apart([part for part in parts if part is not None]), self._hints]
        self.pane = next((part for part in parts if isinstance(part, Pane)), None)
        self.invalidate()
        self._pass_focus_on()

    def _apart(self, parts: Sequence[Component]) -> Iterator[Component]:
        """The parts, with empty rows around a list and above the hints."""
        for part in parts:
            if isinstance(part, SelectList) and part is not parts[0]:
                yield self._air
            yield part
        yield self._air

    def handle_input(self, event: Input) -> bool:
        if self.pane is not None:
            for action, pages in (("select_page_up", -1), ("select_page_down", 1)):
                if self.bindings.matches(event, action) and self.pane.scroll(pages):
                    return True
            if self.bindings.matches(event, "select_first") and self.pane.to_start():
                return True
            if self.bindings.matches(event, "select_last") and self.pane.to_end():
                return True
        if self.bindings.matches(event, "interrupt") or self.bindings.matches(event, "select_cancel"):
            self.cancel()
            return True
        return super().handle_input(event)

    def render(self, width: int) -> Rows:
        small = self.is_small
        border: Border = "none" if small or self.drawing.linear else "rounded"
        if border != self._border:
            self._border = border
            self._made_of = None
        if small != (self._hints not in self.children):
            self.children = [child for child in self.children if child is not self._hints]
            self.children += [] if small else [self._hints]
        frame = 0 if border == "none" else 2
        for child in self.children:
            if isinstance(child, SelectList):
                child.set_max_rows(min(_CHOICES, self.rows - frame - _PANE_AT_LEAST - _AROUND_CHOICES))
        if self.pane is not None:
            self.pane.set_room(self._room(width, frame=frame))
        return super().render(width)

    def _room(self, width: int, *, frame: int) -> int:
        inner = max(width - (4 if frame else 2), 1)
        others = sum(len(child.render(inner)) for child in self.children if child is not self.pane)
        return self.rows - others - frame


def details_of(request: dict[str, object]) -> dict[str, object]:
    details = request.get("details")
    return details if isinstance(details, dict) else {}


def kind_of(request: dict[str, object]) -> str:
    """The shape of the details (`details.ui.kind`); empty where they name none."""
    ui = details_of(request).get("ui")
    return str(ui.get("kind")) if isinstance(ui, dict) else ""
