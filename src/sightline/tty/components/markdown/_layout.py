"""Blocks as rows, at one width.

Rows only ever come at the end, in the order blocks are handed over. One empty row stands between two blocks, except
inside a list, where the source decides. Nothing stands beside the rows of a block of code, and no row is padded: what
is copied from the screen is the text.
"""

from collections.abc import Sequence

from sightline.tty.components._code import CodeLines
from sightline.tty.components._runs import TextRun, cut_runs, paint, plain, word_spans, wrap_runs
from sightline.tty.components._table import TableLines
from sightline.tty.components.markdown._containers import NO_PREFIX, ListItem, Prefix, Stack, in_quote, prefix
from sightline.tty.components.markdown._inline import References, parse_inline
from sightline.tty.components.markdown._starts import Aligns
from sightline.tty.theme._theme import Theme


class MarkdownLayout:
    """Takes blocks, gives rows."""

    def __init__(self, theme: Theme, width: int) -> None:
        self.rows: list[str] = []
        self.units: list[int] = []
        self.unit = 0
        self.blank = False  # a blank line stood in the source since the last row
        self.within_paragraph = False  # the beginning of the open paragraph is in the rows already
        self._theme = theme
        self._width = width
        self._started = False
        self._shown = 0  # containers that have shown their marker
        self._common = 0  # containers the next block shares with the last
        self._prefix = NO_PREFIX
        self._next = ""  # the prefix of the next row
        self._base = ""
        self._carry: tuple[TextRun, ...] = ()
        self._code: CodeLines | None = None
        self._table: TableLines | None = None

    def copy(self) -> "MarkdownLayout":
        """A layout that continues from here with rows of its own."""
        twin = MarkdownLayout.__new__(MarkdownLayout)
        twin.__dict__.update(self.__dict__)
        twin.rows, twin.units = [], []
        if self._code is not None:
            twin._code = self._code.copy()
        if self._table is not None:
            twin._table = self._table.copy()
        return twin

    def leave(self, depth: int) -> None:
        """Containers above this depth are closed."""
        self._shown = min(self._shown, depth)
        self._common = min(self._common, depth)

    def flush(self) -> None:
        """End a line of code that was cut."""
        if self._code is not None:
            code, self._code = self._code, None
            self._end(code.flush())

    def unseen(self, depth: int) -> bool:
        """Whether nothing was shown of the container at this depth."""
        return self._shown < depth

    def bare(self, stack: Stack) -> None:
        """Containers with nothing in them."""
        self._open(stack)
        self._end([""])

    def paragraph(self, stack: Stack, text: str, references: References, *, ended: bool) -> None:
        """A paragraph, or a piece of one that is huge: its last row waits until it is known what follows."""
        if not self.within_paragraph:
            self._open(stack)
        runs = [*self._carry, *parse_inline(text.rstrip(" \n") if ended else text, self._theme, self._base, references)]
        self.within_paragraph = not ended
        if ended:
            self._carry = ()
            self._end(wrap_runs(runs, self._room))
            return
        spans = word_spans(plain(runs), self._room)
        self._put(paint(runs, spans[:-1]))
        self._carry = cut_runs(runs, spans[-1][0])

    def heading(self, stack: Stack, level: int, text: str, references: References) -> None:
        self._open(stack)
        mark = TextRun("#" * level + (" " if text else ""), self._theme.open("heading_mark"))
        title = parse_inline(text.rstrip(" \n"), self._theme, self._base + self._theme.open("heading"), references)
        self._end(wrap_runs([mark, *title], self._room))

    def rule(self, stack: Stack) -> None:
        self._open(stack)
        self._end([self._theme.style("rule", "─" * self._room)])

    def definitions(self, stack: Stack, found: Sequence[tuple[str, str]]) -> None:
        self._open(stack)
        dim, address = self._theme.open("link_url"), self._theme.open("link")
        for name, url in found:
            self._end(
                wrap_runs([TextRun(f"[{' '.join(name.split())}]: ", dim), TextRun(url, address, url)], self._room)
            )

    def open_code(self, stack: Stack, fence: str, info: str) -> None:
        self._open(stack)
        self._code = CodeLines(self._theme, self._room, (info.split() or [""])[0])
        self._end(self._code.fence(fence + info))

    def open_indented(self, stack: Stack) -> None:
        self._open(stack)
        self._code = CodeLines(self._theme, self._room, "", margin="    ")

    def open_html(self, stack: Stack) -> None:
        self._open(stack)
        self._code = CodeLines(self._theme, self._room, "", role="muted")

    def code_line(self, line: str, *, ended: bool) -> None:
        self.blank = False
        if self._code is not None:
            put = self._end if ended else self._put
            put(self._code.line(line, ended=ended))

    def close_code(self, fence: str) -> None:
        if self._code is not None:
            self._end(self._code.flush())
            self._end(self._code.fence(fence))
            self._code = None

    def open_table(self, stack: Stack, header: Sequence[str], aligns: Aligns, references: References) -> None:
        self._open(stack)
        bold = self._base + self._theme.open("table_header")
        names = tuple(tuple(parse_inline(cell, self._theme, bold, references)) for cell in header)
        self._table = TableLines(self._theme, self._room, names, aligns)

    def table_row(self, cells: Sequence[str], references: References) -> None:
        if self._table is not None:
            row = tuple(tuple(parse_inline(cell, self._theme, self._base, references)) for cell in cells)
            for rows in self._table.add(row):
                self._end(rows)

    def close_table(self) -> None:
        if self._table is not None:
            table, self._table = self._table, None
            for rows in table.close():
                self._end(rows)

    @property
    def _room(self) -> int:
        return self._width - self._prefix.cells

    def _open(self, stack: Stack) -> None:
        """A block begins: the row between it and the last one, and what stands at its left."""
        self.flush()
        if self._started and (self.blank or not self._tight(stack)):
            shared = stack[: self._common]
            self.rows.append(prefix(shared, len(shared), self._theme, self._width).bare if shared else "")
            self.units.append(self.unit)
        self._started, self.blank = True, False
        self._prefix = prefix(stack, self._shown, self._theme, self._width) if stack else NO_PREFIX
        self._next = self._prefix.first
        self._shown = self._common = len(stack)
        self._base = self._theme.open("quote") if in_quote(stack) else ""

    def _tight(self, stack: Stack) -> bool:
        """Whether the last block and this one belong to one list, so that the source decides what is between them."""
        inside = self._common > 0 and isinstance(stack[self._common - 1], ListItem)
        if inside or len(stack) <= self._common:
            return inside
        sibling = stack[self._common]
        return isinstance(sibling, ListItem) and sibling.ordinal > 0

    def _end(self, rows: Sequence[str]) -> None:
        """The last rows of a unit."""
        self._put(rows)
        self.unit += 1

    def _put(self, rows: Sequence[str]) -> None:
        left: Prefix = self._prefix
        self.units += [self.unit] * len(rows)
        if left.cells == 0:
            self.rows += rows
            return
        for row in rows:
            if self._next is left.rest or self._next == left.rest:
                self.rows.append(left.rest + row if row else left.bare)
            else:
                self.rows.append(self._next + row if row else self._next[:-1])
                self._next = left.rest
