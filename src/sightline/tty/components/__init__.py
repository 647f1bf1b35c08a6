"""What can be drawn: components on the `render(width) -> rows` contract."""

from __future__ import annotations

from sightline._later import later

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from sightline.tty.components._backfill import backfill, show_end
    from sightline.tty.components._box import Box
    from sightline.tty.components._code import Code
    from sightline.tty.components._container import Container
    from sightline.tty.components._diff import Diff
    from sightline.tty.components._fuzzy import fuzzy_match
    from sightline.tty.components._image import Image
    from sightline.tty.components._input import Input
    from sightline.tty.components._key_hints import KeyHints
    from sightline.tty.components._loader import Cancel, CancellableLoader, Loader
    from sightline.tty.components._markdown import Markdown
    from sightline.tty.components._progress import ProgressBar
    from sightline.tty.components._select import Item, SelectList
    from sightline.tty.components._spacer import Spacer
    from sightline.tty.components._table import Table
    from sightline.tty.components._tabs import Tabs
    from sightline.tty.components._text import Text
    from sightline.tty.components._transcript import Transcript
    from sightline.tty.components._tree import Tree, TreeNode
    from sightline.tty.components.editor._completion import CompletionProvider, FileCompletion, StaticCompletion
    from sightline.tty.components.editor._editor import Editor

__all__ = [
    "Box",
    "Cancel",
    "CancellableLoader",
    "Code",
    "CompletionProvider",
    "Container",
    "Diff",
    "Editor",
    "FileCompletion",
    "Image",
    "Input",
    "Item",
    "KeyHints",
    "Loader",
    "Markdown",
    "ProgressBar",
    "SelectList",
    "Spacer",
    "StaticCompletion",
    "Table",
    "Tabs",
    "Text",
    "Transcript",
    "Tree",
    "TreeNode",
    "backfill",
    "fuzzy_match",
    "show_end",
]

# Each is imported when asked for: a program uses few of them, and none before its first paint.
_LATER = {
    "Box": "_box",
    "Cancel": "_loader",
    "CancellableLoader": "_loader",
    "Code": "_code",
    "CompletionProvider": "editor._completion",
    "Container": "_container",
    "Diff": "_diff",
    "Editor": "editor._editor",
    "FileCompletion": "editor._completion",
    "Image": "_image",
    "Input": "_input",
    "Item": "_select",
    "KeyHints": "_key_hints",
    "Loader": "_loader",
    "Markdown": "_markdown",
    "ProgressBar": "_progress",
    "SelectList": "_select",
    "Spacer": "_spacer",
    "StaticCompletion": "editor._completion",
    "Table": "_table",
    "Tabs": "_tabs",
    "Text": "_text",
    "Transcript": "_transcript",
    "Tree": "_tree",
    "TreeNode": "_tree",
    "backfill": "_backfill",
    "fuzzy_match": "_fuzzy",
    "show_end": "_backfill",
}

__getattr__ = later(__name__, _LATER)


def __dir__() -> list[str]:
    """The public names, loaded or not: for completion and `help()`."""
    return __all__
