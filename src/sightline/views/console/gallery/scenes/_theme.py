"""Themes."""

from collections.abc import Iterator

from sightline.tty import LOOKS, CachedComponent, Depth, Theme, theme_for, truncate
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_DEPTHS: tuple[Depth, ...] = ("true", "256", "16")


class _Roles(CachedComponent):
    """The name of each role, drawn in the role."""

    def __init__(self, theme: Theme) -> None:
        self._theme = theme

    def _draw(self, width: int) -> Iterator[str]:
        width = max(width, 1)
        line: list[str] = []
        for role in LOOKS:
            if line and len(" ".join([*line, role])) > width:
                yield self._line(line, width)
                line = []
            line.append(role)
        yield self._line(line, width)

    def _line(self, roles: list[str], width: int) -> str:
        return " ".join(self._theme.style(role, truncate(role, width)) for role in roles)


@scene("theme", "what each role looks like")
def states(stage: Stage) -> Iterator[SceneState]:
    if stage.theme.depth not in (None, "none"):
        for dark in (True, False):
            for depth in _DEPTHS:
                colours = "true colour" if depth == "true" else f"{depth} colours"
                yield SceneState(f"{'dark' if dark else 'light'}, {colours}", _Roles(theme_for(dark=dark, depth=depth)))
    yield SceneState("no colours, weight only", _Roles(theme_for(dark=True, depth="none")))
