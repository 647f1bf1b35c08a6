"""Code."""

from collections.abc import Iterator

from sightline.tty.components import Code
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_PYTHON = '''\
@cache
def widest(rows: list[str], limit: int = 0x50) -> int:
    """The widest of the rows."""
    return min(max(map(len, rows), default=0), limit)  # never more

class Row(str): ...
'''
_SHELL = 'for file in *.py; do\n    test -s "$file" || echo "empty: $file"  # nothing in it\ndone'
_LONG = "rows = [" + ", ".join(f'"row {number}"' for number in range(12)) + "]"


@scene("code", "source with its syntax in colour")
def states(stage: Stage) -> Iterator[SceneState]:
    for caption, text, language, numbers in (
        ("Python", _PYTHON, "python", False),
        ("with line numbers", _PYTHON, "python", True),
        ("a shell script", _SHELL, "sh", False),
        ("an unknown language", "some := words |> here", "nosuch", False),
        ("longer than a row: folded, every character there", _LONG, "python", False),
    ):
        code = Code(text, language, line_numbers=numbers, theme=stage.theme)
        code.finish()
        yield SceneState(caption, code)
    yield SceneState("still arriving", Code(_PYTHON[: _PYTHON.index("widest") + 3], "python", theme=stage.theme))
