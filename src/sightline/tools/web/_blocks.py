"""The rows of a text in markdown, as blocks are put one after the other."""

import re

MAX_OUTPUT = 8 * 1024**2  # characters
_DEPTH = 12  # of lists, and of quotes, that is shown
_SPACES = re.compile(r" {2,}")


class TextBlocks:
    """`add` words, then `flush` them as a paragraph, heading or item. `full`: there is no room for more."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.heading = 0
        self.quotes = 0
        self.full = False
        self._words: list[str] = []
        self._mark: int | None = None  # where a link began
        self._lists: list[int | None] = []  # the number of the last item; None: no numbers
        self._deeper = 0  # lists beyond the depth that is shown
        self._marker = ""
        self._after_item = False
        self._size = 0

    def count(self, size: int) -> None:
        self._size += size + 1
        self.full = self.full or self._size > MAX_OUTPUT

    def add(self, words: str) -> None:
        if words:
            self._words.append(words)
            self.count(len(words))

    def mark(self) -> None:
        self._mark = len(self._words)

    def link(self, target: str) -> None:
        """What was added since the mark leads there."""
        start, self._mark = self._mark or 0, None
        words = "".join(self._words[start:])
        text = " ".join(words.split())
        if text and text != target:
            before = " " if words[:1].isspace() else ""
            after = " " if words[-1:].isspace() else ""
            self._words[start:] = [f"{before}[{text}]({target}){after}"]
            self.count(len(target) + 4)

    def taken(self) -> str:
        """The words since the last flush, and no longer here."""
        text = _SPACES.sub(" ", "".join(self._words))
        self._words, self._mark = [], None
        return "\n".join(line.strip() for line in text.split("\n")).strip("\n").replace("``", "")

    def flush(self) -> None:
        text = self.taken()
        heading, self.heading = self.heading, 0
        if not text.strip():
            self.heading = heading if not text and heading else 0
            return
        if heading:
            self._put([f"{'#' * heading} {' '.join(text.split())}"], is_item=False)
        else:
            self._put(text.split("\n"), is_item=bool(self._marker))

    def put(self, rows: list[str]) -> None:
        """A block as it is."""
        self.count(sum(map(len, rows)))
        self._put(rows, is_item=bool(self._marker))

    def _put(self, rows: list[str], *, is_item: bool) -> None:
        quote = "> " * min(self.quotes, _DEPTH)
        if self.rows and not (is_item and self._after_item):
            self.rows.append(quote.rstrip() if self.rows[-1].startswith(">") and quote else "")
        indent = "  " * len(self._lists)
        first = self._marker or indent
        self.rows += [f"{quote}{first if number == 0 else indent}{row}".rstrip() for number, row in enumerate(rows)]
        self.count((len(quote) + len(indent)) * len(rows))
        self._after_item, self._marker = is_item, ""

    def open_list(self, *, ordered: bool) -> None:
        if len(self._lists) < _DEPTH:
            self._lists.append(0 if ordered else None)
        else:
            self._deeper += 1

    def close_list(self) -> None:
        if self._deeper:
            self._deeper -= 1
        elif self._lists:
            self._lists.pop()
        self._marker = ""

    def item(self) -> None:
        number = self._lists[-1] if self._lists else None
        if number is not None:
            self._lists[-1] = number + 1
        self._marker = "  " * (len(self._lists) - 1) + ("- " if number is None else f"{number + 1}. ")


def fence(code: str, language: str) -> list[str]:
    """A block of code, fenced by more backticks than it has itself."""
    longest = max((len(run) for run in re.findall(r"`{3,}", code)), default=2)
    mark = "`" * (longest + 1)
    return [mark + language, *code.split("\n"), mark]


def table_rows(rows: list[list[str]]) -> list[str]:
    """A table; one with a single column, or a row only, is no table but its cells."""
    rows = [row for row in rows if any(row)]
    width = max(map(len, rows), default=0)
    if width < 2 or len(rows) < 2 or width * len(rows) > 4 * sum(map(len, rows)):
        return [" ".join(filter(None, row)) for row in rows]
    written = [f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |" for row in rows]
    return [written[0], f"|{' --- |' * len(rows[0])}", *written[1:]]
