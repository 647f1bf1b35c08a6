"""A tree one can walk through, open and close."""

from collections.abc import Callable, Sequence

import msgspec

from sightline.text import clean_line
from sightline.tty._component import CachedComponent, Input, Rows
from sightline.tty.cells._width import measure, truncate
from sightline.tty.input._bindings import Bindings
from sightline.tty.theme._theme import PLAIN, Theme, selected

_OPEN, _CLOSED, _LEAF = "▾ ", "▸ ", "◦ "
_SELECTED, _OTHER = "› ", "  "
_EMPTY = "nothing here"
_PAGE = 10


class TreeNode(msgspec.Struct, eq=False):
    """A label with what is below it. After a change, invalidate the tree."""

    label: str
    children: list["TreeNode"] = []
    expanded: bool = False


class _Line(msgspec.Struct):
    node: TreeNode
    parent: int
    guides: str


class Tree(CachedComponent):
    """Up, down, page keys, home and end move, right opens, left closes or goes to the parent, space does either, enter
    chooses."""

    def __init__(
        self,
        roots: Sequence[TreeNode],
        *,
        on_select: Callable[[TreeNode], None] | None = None,
        max_rows: int | None = None,
        bindings: Bindings | None = None,
        theme: Theme = PLAIN,
    ) -> None:
        self._roots = list(roots)
        self._on_select = on_select
        self._max_rows = max_rows
        self._bindings = bindings or Bindings()
        self._theme = theme
        self._at = 0
        self._lines: list[_Line] | None = None

    @property
    def selected(self) -> TreeNode | None:
        lines = self._visible()
        return lines[self._at].node if lines else None

    def set_roots(self, roots: Sequence[TreeNode]) -> None:
        self._roots = list(roots)
        self._at = 0
        self.invalidate()

    def handle_input(self, event: Input) -> bool:
        for action, act in _ACTIONS.items():
            if self._bindings.matches(event, action):
                if self._visible():
                    act(self)
                return True
        return False

    def invalidate(self) -> None:
        super().invalidate()
        self._lines = None

    @property
    def _page(self) -> int:
        return _PAGE if self._max_rows is None else max(self._max_rows - 1, 1)

    def _visible(self) -> list[_Line]:
        if self._lines is None:
            self._lines = _flat(self._roots)
            self._at = min(self._at, max(len(self._lines) - 1, 0))
        return self._lines

    def _draw(self, width: int) -> Rows:
        lines, width = self._visible(), max(width, 1)
        if not lines:
            return (self._theme.style("muted", truncate(_OTHER + _EMPTY, width)),)
        if self._max_rows is None or len(lines) <= max(self._max_rows, 1):
            return tuple(self._row(index, width) for index in range(len(lines)))
        shown = max(self._max_rows - 1, 1)
        first = min(max(self._at - shown // 2, 0), len(lines) - shown)
        count = truncate(f"{_OTHER}({self._at + 1}/{len(lines)})", width)
        return (*(self._row(index, width) for index in range(first, first + shown)), self._theme.style("dim", count))

    def _row(self, index: int, width: int) -> str:
        line = self._visible()[index]
        node = line.node
        pointer = _SELECTED if index == self._at else _OTHER
        mark = _LEAF if not node.children else _OPEN if node.expanded else _CLOSED
        # Deep inside, the label matters more than how deep: guides get half of the row.
        guides = (
            line.guides if len(line.guides) <= width // 2 else "… " + line.guides[len(line.guides) - width // 2 + 2 :]
        )
        theme = self._theme
        label = truncate(clean_line(node.label), max(width - len(pointer) - len(guides) - len(mark), 0))
        row = theme.style("accent", pointer) + theme.style("border", guides) + theme.style("muted", mark) + label
        if measure(row) > width:
            row = truncate(row, width)
        return selected(row, width, theme) if index == self._at else row

    def _right(self) -> None:
        node = self._visible()[self._at].node
        if node.children and not node.expanded:
            self._toggle()
        elif node.children:
            self._go_to(self._at + 1)

    def _left(self) -> None:
        line = self._visible()[self._at]
        if line.node.children and line.node.expanded:
            self._toggle()
        elif line.parent >= 0:
            self._go_to(line.parent)

    def _enter(self) -> None:
        node = self._visible()[self._at].node
        if self._on_select is not None:
            self._on_select(node)
        else:
            self._toggle()

    def _toggle(self) -> None:
        node = self._visible()[self._at].node
        if node.children:
            node.expanded = not node.expanded
            self.invalidate()

    def _go_to(self, index: int) -> None:
        index = min(max(index, 0), len(self._visible()) - 1)
        if index != self._at:
            self._at = index
            super().invalidate()  # the lines stay as they are


def _flat(roots: list[TreeNode]) -> list[_Line]:
    """The lines one sees, from top to bottom. Without recursion: a tree may be deeper than the interpreter's stack."""
    lines: list[_Line] = []
    waiting = [(node, -1, "", index == 0, True) for index, node in enumerate(reversed(roots))]
    while waiting:
        node, parent, indent, last, root = waiting.pop()
        lines.append(_Line(node, parent, "" if root else indent + ("└─ " if last else "├─ ")))
        if node.expanded:
            below = "" if root else indent + ("   " if last else "│  ")
            number = len(lines) - 1
            waiting += [
                (child, number, below, index == 0, False) for index, child in enumerate(reversed(node.children))
            ]
    return lines


_ACTIONS: dict[str, Callable[[Tree], None]] = {
    "select_up": lambda tree: tree._go_to(tree._at - 1),
    "select_down": lambda tree: tree._go_to(tree._at + 1),
    "select_page_up": lambda tree: tree._go_to(tree._at - tree._page),
    "select_page_down": lambda tree: tree._go_to(tree._at + tree._page),
    "select_first": lambda tree: tree._go_to(0),
    "select_last": lambda tree: tree._go_to(len(tree._visible()) - 1),
    "tree_expand": Tree._right,
    "tree_collapse": Tree._left,
    "tree_toggle": Tree._toggle,
    "select_confirm": Tree._enter,
}
