"""The printed gallery: every state of every scene, one after the other, for review and for tests."""

from collections.abc import Callable, Iterable, Iterator
from typing import Literal

from sightline.text import clean_line
from sightline.tty import CURSOR, PLAIN, CachedComponent, Depth, Theme, theme_for, wrap
from sightline.views.console.gallery._scene import Scene, SceneState, Stage

Look = Literal["dark", "light"]


def printed(scenes: Iterable[Scene], *, width: int, look: Look, depth: Depth | None) -> Iterator[str]:
    """The lines a terminal of this width, background and colour depth shows; without a depth, plain text."""
    theme = theme_for(dark=look == "dark", depth=depth) if depth is not None else PLAIN
    for number, scene in enumerate(scenes):
        rows = [*([""] if number else []), *_scene_rows(scene, theme, width)]
        yield from rows if depth is not None else (clean_line(row).rstrip() for row in rows)


def _scene_rows(scene: Scene, theme: Theme, width: int) -> Iterator[str]:
    yield from heading(scene, theme, width)
    for state in scene.states(Stage(theme)):
        yield from ("", *caption(state, theme, width))
        state.component.focused = state.interactive
        yield from (row.replace(CURSOR, "") for row in state.component.render(width))
        state.component.dispose()


def heading(scene: Scene, theme: Theme, width: int) -> list[str]:
    """The rows above a scene."""
    name = theme.style("heading", scene.name)
    return wrap(f"{theme.style('heading_mark', '##')} {name}{theme.style('muted', ': ' + scene.about)}", width)


def caption(state: SceneState, theme: Theme, width: int) -> list[str]:
    """The rows above a state."""
    return [theme.style("dim", row) for row in wrap(f"· {state.caption}", width)]


class Above(CachedComponent):
    """Rows above a component, with a blank one before them."""

    def __init__(self, rows: Callable[[int], list[str]]) -> None:
        self._above = rows

    def _draw(self, width: int) -> list[str]:
        return ["", *self._above(width)]
