"""Components below each other, as one.

A `Holder` passes keys to one of its children: the first, depth first, that takes any. The focus goes to that one too,
so that a list in a box is chosen from like a list without one.
"""

from collections.abc import Iterable

from sightline.tty._component import Component, Input, Rows


class Holder(Component):
    """Has children, and forwards input and focus."""

    def __init__(self, children: Iterable[Component] = ()) -> None:
        self.children = list(children)
        self._focused = False
        self._focused_child: Component | None = None

    @property
    def focused(self) -> bool:
        return self._focused

    @focused.setter
    def focused(self, focused: bool) -> None:
        self._focused = focused
        self._pass_focus_on()

    @property
    def wants_key_release(self) -> bool:  # type: ignore[override]
        taker = self._taker()
        return taker is not None and taker.wants_key_release

    def handle_input(self, event: Input) -> bool:
        taker = self._taker()
        return taker is not None and taker.handle_input(event)

    def contains(self, component: Component) -> bool:
        return component is self or any(child.contains(component) for child in self.children)

    def refresh(self, component: Component) -> None:
        for child in self.children:
            child.refresh(component)

    def invalidate(self) -> None:
        for child in self.children:
            child.invalidate()

    def dispose(self) -> None:
        for child in self.children:
            child.dispose()

    def _rendered(self, width: int) -> list[Rows]:
        if self._focused:
            self._pass_focus_on()  # children come and go
        return [child.render(width) for child in self.children]

    def _taker(self) -> Component | None:
        return next((child for child in self.children if _takes_keys(child)), None)

    def _pass_focus_on(self) -> None:
        taker = self._taker() if self._focused else None
        if self._focused_child is not None and self._focused_child is not taker:
            self._focused_child.focused = False
        self._focused_child = taker
        if taker is not None and not taker.focused:
            taker.focused = True


class Container(Holder):
    """Its children's rows in order. Add to `children`, take from it; it looks anew each time."""

    def __init__(self, children: Iterable[Component] = ()) -> None:
        super().__init__(children)
        self._parts: list[Rows] = []
        self._rows: list[str] = []

    def render(self, width: int) -> Rows:
        parts = self._rendered(width)
        if not same_rows(self._parts, parts):
            self._parts = parts
            self._rows = [row for part in parts for row in part]
        return self._rows

    def invalidate(self) -> None:
        self._parts = []
        super().invalidate()


def same_rows(before: list[Rows], now: list[Rows]) -> bool:
    return len(before) == len(now) and all(one is other for one, other in zip(before, now, strict=True))


def _takes_keys(component: Component) -> bool:
    own = type(component).handle_input
    if own is Holder.handle_input:
        return isinstance(component, Holder) and component._taker() is not None
    return own is not Component.handle_input
