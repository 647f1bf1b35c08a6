"""Select list."""

from collections.abc import Iterator

from sightline.tty.components import Item, SelectList
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_MODELS = (
    Item("small", "small", "quick and cheap"),
    Item("large", "large", "for hard questions"),
    Item("scripted", "scripted", "plays a script, needs no network"),
)
_FILES = tuple(
    Item(name, name) for name in ("src/ledger.py", "src/painter.py", "src/display.py", "README.md", "Makefile")
)
_GROUPED = (
    Item("a", "claude", "installed", "providers"),
    Item("b", "codex", "installed", "providers"),
    Item("c", "scripted", "", "for tests"),
)
_KEYS = (("up/down", "move"), ("enter", "choose"))


@scene("select", "a list to choose from, with a filter")
def states(stage: Stage) -> Iterator[SceneState]:
    def choices(items: tuple[Item, ...], **options: object) -> SelectList:
        made = SelectList(items, bindings=stage.bindings, theme=stage.theme, **options)  # type: ignore[arg-type]
        made.on_select = lambda item: stage.report(f"chosen: {item.label}")
        return made

    second = choices(_MODELS)
    second.move(1)
    yield SceneState("with descriptions, the second highlighted", second, interactive=True, keys=_KEYS)
    filtered = choices(_FILES, filter=True)
    filtered.set_query("spy")
    yield SceneState("filtered by what is typed: letters in order, anywhere", filtered, interactive=True, keys=_KEYS)
    nothing = choices(_FILES, filter=True)
    nothing.set_query("zzz")
    yield SceneState("nothing matches", nothing)
    yield SceneState("in groups", choices(_GROUPED))
    many = tuple(Item(str(number), f"choice {number}") for number in range(1, 31))
    yield SceneState("more than there is room for", choices(many, max_rows=4), interactive=True, keys=_KEYS)
