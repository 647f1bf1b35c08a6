"""Block structure, line by line.

Rules:

- A line is fed whole, or cut where it is too long; nothing is ever read twice. Blocks are handed to the layout as soon
  as no further line can change them: a heading or rule at its line, a line of code or HTML at its end, a table's row at
  its end, a paragraph when it closes (until then it may become a heading or a table), or in pieces when it is huge.
- Hence the result is a function of the text alone, however it was cut, and what was handed over is final.
- A reference is known from its definition on: used before, it stays text. Definitions are shown, so nothing is lost.
- A list is as loose as its source: a blank row stands between items, and between the blocks of an item, where a blank
  line was.
- Of a line over the limit, the rest belongs to the paragraph, table row or line of code it is in; elsewhere it is a
  paragraph.

`copy` is cheap (all state but the known references is immutable): the unsettled tail is drawn by a copy that is fed the
unfinished line and closed.
"""

import re
from functools import lru_cache

from sightline.tty.components._streamed import StreamedReader
from sightline.tty.components.markdown import _starts as starts
from sightline.tty.components.markdown._containers import Container, ListItem, Quote, Stack
from sightline.tty.components.markdown._inline import address, cut_inline, normal_label
from sightline.tty.components.markdown._layout import MarkdownLayout

PARAGRAPH_AT_MOST = 1024
_TABLE_ROW_AT_MOST = 8192
_DEPTH_AT_MOST = 32
_REFERENCES_AT_MOST = 1000


class MarkdownBlocks(StreamedReader):
    """The open blocks of one text."""

    def __init__(self, layout: MarkdownLayout) -> None:
        self.layout = layout
        self._stack: Stack = ()
        self._leaf = ""  # paragraph, fence, indented, html, table, or none
        self._text = ""  # of the open paragraph, or of a table's row that was cut
        self._end = ""  # what closes the open fence or HTML
        self._margin = 0  # the fence's own indentation, taken off its lines
        self._blanks = 0  # blank lines of indented code, shown only when more code follows
        self._columns = 0
        self._references: dict[str, str] = {}

    def copy(self) -> "MarkdownBlocks":
        twin = MarkdownBlocks.__new__(MarkdownBlocks)
        twin.__dict__.update(self.__dict__)
        twin.layout = self.layout.copy()
        twin._references = dict(self._references)
        return twin

    @property
    def unit(self) -> int:
        return self.layout.unit

    def take(self) -> tuple[list[str], list[int]]:
        layout = self.layout
        taken = layout.rows, layout.units
        layout.rows, layout.units = [], []
        return taken

    def feed(self, line: str, *, ended: bool) -> None:
        at, depth = self._match_containers(line)
        whole = depth == len(self._stack)
        if whole and self._continue_verbatim(line, at, ended=ended):
            return
        at, opened = self._open_blocks(line, at, depth, ended=ended)
        if at < 0:
            return
        text = line[at:].lstrip(" ")
        if text and self._leaf == "paragraph" and not opened:
            self._extend_paragraph("\n" + text)  # also the lazy kind, which leaves its containers open
            return
        if not opened:
            self._leave(depth)
        if not text:
            self._blank(counts=ended and not opened)
        elif self._leaf == "table":
            self._table_row(text, ended=ended)
        else:
            self._begin_paragraph(text)

    def continue_line(self, piece: str, *, ended: bool) -> None:
        if self._leaf == "paragraph":
            self._extend_paragraph(piece)
        elif self._leaf in ("fence", "indented", "html"):
            self.layout.code_line(piece, ended=ended)
        elif self._leaf == "table" and self._text:
            self._table_row(self._text + piece, ended=ended)
        elif piece.strip(" "):
            self._close_leaf()
            self._begin_paragraph(piece.lstrip(" "))

    def end(self, *, streaming: bool) -> None:
        self._close_leaf(streaming=streaming)
        self._leave(0)
        self.layout.flush()

    # containers

    def _match_containers(self, line: str) -> tuple[int, int]:
        """How many of the open containers the line continues, and where its rest begins."""
        at = 0
        for depth, container in enumerate(self._stack):
            first = _first(line, at)
            if isinstance(container, ListItem):
                if first - at >= container.indent and first < len(line):
                    at += container.indent
                elif first == len(line) and not container.empty:
                    at = min(at + container.indent, first)
                else:
                    return at, depth
            elif first < len(line) and line[first] == ">" and first - at < 4:
                at = first + 2 if line[first + 1 : first + 2] == " " else first + 1
            else:
                return at, depth
        return at, len(self._stack)

    def _leave(self, depth: int) -> None:
        """Close the containers above a depth, with what is open in them."""
        if depth == len(self._stack):
            return
        self._close_leaf()
        while len(self._stack) > depth:
            if self.layout.unseen(len(self._stack)):
                self.layout.bare(self._stack)
            self._stack = self._stack[:-1]
        self.layout.leave(depth)

    def _push(self, container: Container) -> None:
        self._fill()
        self._stack += (container,)

    def _fill(self) -> None:
        """The innermost item has content."""
        if self._stack and isinstance(item := self._stack[-1], ListItem) and item.empty:
            self._stack = (*self._stack[:-1], item._replace(empty=False))

    def _open_blocks(self, line: str, at: int, depth: int, *, ended: bool) -> tuple[int, bool]:
        """Open what the rest of the line begins. Where its text is left (-1: nowhere), and whether anything opened."""
        sibling = self._stack[depth] if depth < len(self._stack) else None
        whole, opened = sibling is None, False
        while True:
            first = _first(line, at)
            if first == len(line):
                return first, opened
            in_paragraph = self._leaf == "paragraph" and not opened
            if first - at >= 4:
                if in_paragraph:
                    return at, opened
                self._leave_for(depth, opened=opened)
                self._indented_line(line[at + 4 :], ended=ended)
                return -1, True
            char = line[first]
            if char == ">" and len(self._stack) < _DEPTH_AT_MOST:
                self._leave_for(depth, opened=opened)
                self._close_leaf()
                self._push(Quote())
                at = first + 2 if line[first + 1 : first + 2] == " " else first + 1
            elif char in "#`~<=-_*|:" and self._leaf_start(
                line[first:], first - at, depth, whole, opened=opened, ended=ended
            ):
                return -1, True
            elif char in "-+*0123456789" and (marker := starts.item(line[first:])) is not None:
                refused = in_paragraph and whole and (marker.empty or marker.number not in (None, 1))
                if refused or len(self._stack) >= _DEPTH_AT_MOST:
                    return at, opened
                self._leave_for(depth, opened=opened)
                self._close_leaf()
                self._push(_item(marker, first - at, None if opened else sibling))
                at = min(first + marker.width, len(line))
            else:
                return at, opened
            opened, sibling = True, None

    def _leave_for(self, depth: int, *, opened: bool) -> None:
        """A block begins: containers that the line does not continue end, the first time something opens."""
        if not opened:
            self._leave(depth)

    # leaves

    def _leaf_start(self, text: str, margin: int, depth: int, whole: bool, *, opened: bool, ended: bool) -> bool:
        """Open the leaf a text begins, if it begins one; true when it did, and the line is used up."""
        if self._leaf == "paragraph" and not opened and whole and self._promote_paragraph(text):
            return True
        in_paragraph = self._leaf == "paragraph" and not opened
        if (found := starts.heading(text)) is not None:
            self._start(depth, opened=opened)
            self.layout.heading(self._stack, *found, self._references)
        elif (fence := starts.fence(text)) is not None:
            self._start(depth, opened=opened)
            self._leaf, self._margin, self._end = "fence", margin, fence[0]
            self.layout.open_code(self._stack, *fence)
        elif starts.is_rule(text):
            self._start(depth, opened=opened)
            self.layout.rule(self._stack)
        elif (end := starts.html(text, within_paragraph=in_paragraph)) is not None:
            self._start(depth, opened=opened)
            self._leaf, self._end = "html", end
            self.layout.open_html(self._stack)
            self._html_line(" " * margin + text, ended=ended)
        else:
            return False
        return True

    def _start(self, depth: int, *, opened: bool) -> None:
        self._leave_for(depth, opened=opened)
        self._close_leaf()
        self._fill()

    def _continue_verbatim(self, line: str, at: int, *, ended: bool) -> bool:
        """A line of the open fence, HTML or indented code."""
        if self._leaf == "fence":
            first = _first(line, at)
            if first - at < 4 and starts.closes_fence(line[first:], self._end):
                self._close_leaf()
            else:
                self.layout.code_line(line[min(at + self._margin, first) :], ended=ended)
            return True
        if self._leaf == "html" and (self._end or line[at:].strip(" ")):
            self._html_line(line[at:], ended=ended)
            return True
        if self._leaf == "indented" and not line[at:].strip(" "):
            self._blanks += 1
            self.layout.blank = True
            return True
        return False

    def _html_line(self, line: str, *, ended: bool) -> None:
        self.layout.code_line(line, ended=ended)
        if self._end and re.search(self._end, line, re.IGNORECASE):
            self._leaf = self._end = ""

    def _indented_line(self, text: str, *, ended: bool) -> None:
        if self._leaf != "indented":
            self._close_leaf()
            self._fill()
            self._leaf, self._blanks = "indented", 0
            self.layout.open_indented(self._stack)
        for _ in range(self._blanks):
            self.layout.code_line("", ended=True)
        self._blanks = 0
        self.layout.code_line(text, ended=ended)

    def _blank(self, *, counts: bool) -> None:
        if self._leaf in ("paragraph", "table", "html"):
            self._close_leaf()
        if counts:
            self.layout.blank = True

    def _table_row(self, text: str, *, ended: bool) -> None:
        if not ended and len(text) < _TABLE_ROW_AT_MOST:
            self._text = text
            return
        self._text = ""
        found = starts.cells(text)
        cells, rest = found[: self._columns], found[self._columns :]
        if rest:  # a bar that was meant as text
            cells = (*cells[:-1], " | ".join((cells[-1], *rest)))
        self.layout.table_row(cells, self._references)

    def _begin_paragraph(self, text: str) -> None:
        self._close_leaf()
        if (
            self._stack
            and isinstance(item := self._stack[-1], ListItem)
            and item.empty
            and (found := starts.task(text))
        ):
            self._stack = (*self._stack[:-1], item._replace(box=found[0]))
            text = text[found[1] :]
        self._fill()
        self._leaf, self._text = "paragraph", ""
        self._extend_paragraph(text)

    def _extend_paragraph(self, text: str) -> None:
        self._text += _one_break(text)
        while len(self._text) > PARAGRAPH_AT_MOST:
            cut = _paragraph_cut(self._text[:PARAGRAPH_AT_MOST], tuple(self._references.items()))
            self.layout.paragraph(self._stack, self._text[:cut], self._references, ended=False)
            self._text = self._text[cut:]

    def _promote_paragraph(self, text: str) -> bool:
        """A line that makes the paragraph above it something else: a heading, or a table's header."""
        if not self.layout.within_paragraph and (level := starts.underline(text)) is not None:
            title, self._leaf, self._text = self._take_definitions(self._text), "", ""
            if not title:  # there were only definitions, and the line is what it would be without them
                return False
            self.layout.heading(self._stack, level, title, self._references)
            return True
        above, _, header = self._text.rpartition("\n")
        if not header.strip(" ") or (found := starts.table(header, text)) is None:
            return False
        self._text = above
        self._close_leaf()
        self._leaf, self._columns = "table", len(found[0])
        self.layout.open_table(self._stack, *found, self._references)
        return True

    def _close_leaf(self, *, streaming: bool = False) -> None:
        leaf, self._leaf = self._leaf, ""
        if leaf == "paragraph":
            text = self._text if self.layout.within_paragraph else self._take_definitions(self._text)
            self._text = ""
            if text or self.layout.within_paragraph:
                self.layout.paragraph(self._stack, text, self._references, ended=True)
        elif leaf == "table":
            if self._text:
                self._table_row(self._text, ended=True)
            self.layout.close_table()
        elif leaf == "fence" and not streaming:
            self.layout.close_code(self._end)

    def _take_definitions(self, text: str) -> str:
        """What is left of a paragraph when the definitions at its beginning are known and shown."""
        found: list[tuple[str, str]] = []
        references = self._references
        while text.startswith("["):
            line, _, rest = text.partition("\n")
            if (known := starts.definition(line)) is None:
                break
            name, url = known[0], address(known[1])
            if len(references) < _REFERENCES_AT_MOST:
                references.setdefault(normal_label(name), url)
            found.append((name, url))
            text = rest
        if found:
            self.layout.definitions(self._stack, found)
        return text


def _first(line: str, at: int) -> int:
    """The first column from `at` on that is not blank; the line's length when all are."""
    size = len(line)
    while at < size and line[at] == " ":
        at += 1
    return at


def _one_break(text: str) -> str:
    """Two blanks at a line's end mean a break, more mean no more than two."""
    bare = text.rstrip(" ")
    return bare + "  " if len(text) - len(bare) > 1 else text


@lru_cache(maxsize=4)  # a copy that draws the tail asks the same again, frame after frame, until the line ends
def _paragraph_cut(text: str, references: tuple[tuple[str, str], ...]) -> int:
    """Where a paragraph this long is cut: at a blank where nothing is open, at any blank, or at its end."""
    cut = cut_inline(text, dict(references))
    if cut < len(text) // 4:
        cut = max(text.rfind(" ", len(text) // 2), text.rfind("\n", len(text) // 2)) + 1
    return cut or len(text)


def _item(marker: starts.Marker, margin: int, before: Container | None) -> ListItem:
    """The item a marker begins: the next of the list before it, where that is of the same kind."""
    indent = margin + marker.width
    if isinstance(before, ListItem) and before.kind == marker.kind:
        number = None if before.number is None else before.number + 1
        return ListItem(marker.kind, number, indent, before.ordinal + 1)
    return ListItem(marker.kind, marker.number, indent, 0)
