"""Tree."""

from collections.abc import Iterator

from sightline.tty.components import Tree, TreeNode
from sightline.views.console.gallery._scene import SceneState, Stage, scene

_KEYS = (("up/down", "move"), ("right", "open"), ("left", "close"), ("home/end", "first, last"))


def _project(*, expanded: bool) -> list[TreeNode]:
    tty = TreeNode("tty", [TreeNode("ledger.py"), TreeNode("painter.py")], expanded)
    source = TreeNode("src", [tty, TreeNode("views", [TreeNode("console.py")])], expanded)
    return [source, TreeNode("README.md")]


def _deep() -> list[TreeNode]:
    node = TreeNode("the innermost")
    for depth in range(30, 0, -1):
        node = TreeNode(f"level {depth}", [node], expanded=True)
    return [node]


@scene("tree", "something to walk through, open and close")
def states(stage: Stage) -> Iterator[SceneState]:
    theme = stage.theme
    yield SceneState("closed", Tree(_project(expanded=False), theme=theme))
    yield SceneState("open", Tree(_project(expanded=True), theme=theme), interactive=True, keys=_KEYS)
    many = [TreeNode(f"file {number:02}.txt") for number in range(40)]
    yield SceneState("more than there is room for", Tree(many, max_rows=6, theme=theme), interactive=True, keys=_KEYS)
    yield SceneState("deeper than there is room for", Tree(_deep(), max_rows=4, theme=theme))
    yield SceneState("empty", Tree([], theme=theme))
