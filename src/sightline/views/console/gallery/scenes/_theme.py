"""Themes."""

from collections.abc import Iterator

from sightline.tty import LOOKS, Component, Depth, Rows, Theme, theme_for, truncate
from sightline.views.console.gallery._scene import Scene, SceneState, Stage

_DEPTHS: tuple[Depth, ...] = ("true", "256", "16")


class _Roles(Component):
    """The name of each role, in it."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme
        self._rows: tuple[int, tuple[str, ...]] = (-1, ())

    def render(self, width: int) -> Rows:
        if self._rows[0] != width:
            self._rows = (width, tuple(self._lines(max(width, 1))))
        return self._rows[1]

    def _lines(self, width: int) -> Iterator[str]:
        line: list[str] = []
        for role in LOOKS:
            if line and len(" ".join([*line, role])) > width:
                yield self._line(line, width)
                line = []
            line.append(role)
        yield self._line(line, width)

    def _line(self, roles: list[str], width: int) -> str:
        return " ".join(self._theme.style(role, truncate(role, width)) for role in roles)


def _states(stage: Stage) -> Iterator[SceneState]:
    if stage.theme.depth not in (None, "none"):
        for dark in (True, False):
            for depth in _DEPTHS:
                colours = "true colour" if depth == "true" else f"{depth} colours"
                yield SceneState(f"{'dark' if dark else 'light'}, {colours}", _Roles(theme_for(dark=dark, depth=depth)))
    yield SceneState("no colours, weight only", _Roles(theme_for(dark=True, depth="none")))


SCENE = Scene("theme", "what each role looks like", _states)
