"""What can be drawn: components on the `render(width) -> rows` contract."""

from __future__ import annotations as annotations

from sightline._later import later

TYPE_CHECKING = False
# Each is imported on first use: a program uses few of them, and none before its first paint.
if TYPE_CHECKING:
    from sightline.tty.components._backfill import backfill as backfill
    from sightline.tty.components._backfill import show_end as show_end
    from sightline.tty.components._box import Box as Box
    from sightline.tty.components._code import Code as Code
    from sightline.tty.components._container import Container as Container
    from sightline.tty.components._diff import Diff as Diff
    from sightline.tty.components._fuzzy import fuzzy_match as fuzzy_match
    from sightline.tty.components._image import ImageComponent as Image  # noqa: F401, the name that extension files use
    from sightline.tty.components._image import ImageComponent as ImageComponent
    from sightline.tty.components._input import Input as Input
    from sightline.tty.components._key_hints import KeyHints as KeyHints
    from sightline.tty.components._loader import Cancel as Cancel
    from sightline.tty.components._loader import CancellableLoader as CancellableLoader
    from sightline.tty.components._loader import Loader as Loader
    from sightline.tty.components._markdown import Markdown as Markdown
    from sightline.tty.components._progress import ProgressBar as ProgressBar
    from sightline.tty.components._select import Item as Item
    from sightline.tty.components._select import SelectList as SelectList
    from sightline.tty.components._spacer import Spacer as Spacer
    from sightline.tty.components._table import Table as Table
    from sightline.tty.components._tabs import Tabs as Tabs
    from sightline.tty.components._text import TextComponent as Text  # noqa: F401, the name that extension files use
    from sightline.tty.components._text import TextComponent as TextComponent
    from sightline.tty.components._transcript import BlockColumn as BlockColumn
    from sightline.tty.components._transcript import BlockColumn as Transcript  # noqa: F401, the name that extension files use
    from sightline.tty.components._tree import Tree as Tree
    from sightline.tty.components._tree import TreeNode as TreeNode
    from sightline.tty.components.editor._completion import CompletionProvider as CompletionProvider
    from sightline.tty.components.editor._completion import FileCompletion as FileCompletion
    from sightline.tty.components.editor._completion import StaticCompletion as StaticCompletion
    from sightline.tty.components.editor._editor import Editor as Editor

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
