"""Table."""

from collections.abc import Iterator

from sightline.tty.components import Table
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_HEADER = ("job", "state", "seconds", "command")
_ROWS = (
    ("1", "done", "0.4", "make lint"),
    ("2", "running", "12.9", "python -m pytest -q tests/tty"),
    ("3", "failed", "3.0", "cargo build --release --features everything,and-more,and-still-more-of-it"),
)
_ALIGN = ("right", "left", "right", "left")


@scene("table", "rows under a header")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme
    yield SceneState("columns, some of them to the right", Table(_HEADER, _ROWS, _ALIGN, theme=theme))
    wide = tuple(f"column {number}" for number in range(1, 16))
    yield SceneState("no room for columns: one under the other", Table(wide, [tuple("abcdefghijklmno")], theme=theme))
    yield SceneState("wide characters", Table(("名前", "値"), (("日本語", "１"), ("emoji 👩‍👩‍👧", "2")), theme=theme))
    yield SceneState("without rows", Table(_HEADER, (), theme=theme))
