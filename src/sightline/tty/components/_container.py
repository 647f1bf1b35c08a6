"""Components below each other, as one."""

from collections.abc import Iterable

from sightline.tty._component import Component, Rows


class Container(Component):
    """Its children's rows in order. Add to `children`, take from it; it looks anew each time."""

    def __init__(self, children: Iterable[Component] = ()) -> None:
        self.children = list(children)
        self._parts: list[Rows] = []
        self._rows: list[str] = []

    def render(self, width: int) -> Rows:
        parts = [child.render(width) for child in self.children]
        same = len(parts) == len(self._parts) and all(new is old for new, old in zip(parts, self._parts, strict=True))
        if not same:
            self._parts = parts
            self._rows = [row for part in parts for row in part]
        return self._rows

    def contains(self, component: Component) -> bool:
        return component is self or any(child.contains(component) for child in self.children)

    def refresh(self, component: Component) -> None:
        for child in self.children:
            child.refresh(component)

    def invalidate(self) -> None:
        self._parts = []
        for child in self.children:
            child.invalidate()

    def dispose(self) -> None:
        for child in self.children:
            child.dispose()
