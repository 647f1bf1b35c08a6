"""Progress bar."""

from collections.abc import Iterator

from sightline.tty.components import ProgressBar
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_PACE = 0.05


def _growing(stage: Stage) -> ProgressBar:
    bar = ProgressBar(0, 100, "growing", theme=stage.theme)

    def more(value: int) -> None:
        bar.set(value, 100)
        stage.request_render(bar)
        if value < 100:
            stage.call_later(_PACE, lambda: more(value + 1))
        else:
            stage.finish(bar)

    stage.call_later(_PACE, lambda: more(1))
    return bar


@scene("progress", "how far something is")
def states(stage: Stage) -> Iterator[SceneState]:
    for caption, value, total, label in (
        ("not begun", 0, 100, "downloading"),
        ("some of it", 37, 100, "downloading"),
        ("all of it", 100, 100, "downloading"),
        ("without words", 5, 8, ""),
        ("unknown total", 1234, None, "read"),
    ):
        yield SceneState(caption, ProgressBar(value, total, label, theme=stage.theme))
    if stage.moving:
        yield SceneState("growing", _growing(stage), live=True)
