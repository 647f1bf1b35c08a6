"""Code: lines with syntax in colour, each folded where the row ends, with every character shown.

Nothing stands beside the code unless line numbers are requested, so that what is copied from the screen is the code.
Lines are final as they end: highlighting knows the state at a line's beginning and never looks back.
"""

from sightline.tty.components._highlight import State, highlighter
from sightline.tty.components._runs import TextRun, cut_runs, fold_runs, fold_spans, paint, plain
from sightline.tty.components._streamed import Streamed, StreamedReader
from sightline.tty.theme._theme import PLAIN, Theme

_DIGITS = 4


class CodeLines:
    """Rows of one block of code, line by line."""

    def __init__(
        self,
        theme: Theme,
        width: int,
        language: str,
        *,
        role: str = "code_block",
        margin: str = "",
        numbers: bool = False,
    ) -> None:
        self._theme = theme
        self._width = width
        self._base = theme.open(role)
        self._margin = margin
        self._number = 1 if numbers else 0
        self._highlighter = highlighter(language)
        self._state: State = ""
        self._carry: tuple[TextRun, ...] | None = None  # the last row of a line that was cut and continues

    def copy(self) -> "CodeLines":
        twin = CodeLines.__new__(CodeLines)
        twin.__dict__.update(self.__dict__)
        return twin

    def fence(self, text: str) -> list[str]:
        """The line before or after a block."""
        return fold_runs([TextRun(text, self._theme.open("code_border"))], self._width)

    def line(self, text: str, *, ended: bool = True) -> list[str]:
        """The rows of a line, or of a piece of one when it is longer than anyone reads."""
        runs = self._runs(text)
        if self._carry is not None:
            runs = [*self._carry, *runs]
        elif self._margin and text:
            runs = [TextRun(self._margin), *runs]
        elif self._number:
            runs = [TextRun(f"{self._number:>{_DIGITS}} ", self._theme.open("line_number")), *runs]
        if ended:
            self._carry = None
            self._number += bool(self._number)
            return fold_runs(runs, self._width)
        spans = fold_spans(plain(runs), self._width)
        self._carry = cut_runs(runs, spans[-1][0])
        return paint(runs, spans[:-1])

    def flush(self) -> list[str]:
        """End a line that was cut."""
        return [] if self._carry is None else self.line("")

    def _runs(self, text: str) -> list[TextRun]:
        if self._highlighter is None:
            return [TextRun(text, self._base)]
        tokens, self._state = self._highlighter.line(text, self._state)
        look = self._theme.open
        return [TextRun(part, self._base + look(role) if role else self._base) for role, part in tokens]


class _CodeReader(StreamedReader):
    """Lines of source into rows."""

    def __init__(self, lines: CodeLines) -> None:
        self._lines = lines
        self._rows: list[str] = []
        self._units: list[int] = []
        self._unit = 0

    @property
    def unit(self) -> int:
        return self._unit

    def copy(self) -> "_CodeReader":
        return _CodeReader(self._lines.copy())

    def feed(self, line: str, *, ended: bool) -> None:
        self._put(self._lines.line(line, ended=ended), ended=ended)

    def continue_line(self, piece: str, *, ended: bool) -> None:
        self.feed(piece, ended=ended)

    def end(self, *, streaming: bool) -> None:
        self._put(self._lines.flush(), ended=True)

    def take(self) -> tuple[list[str], list[int]]:
        taken = self._rows, self._units
        self._rows, self._units = [], []
        return taken

    def _put(self, rows: list[str], *, ended: bool) -> None:
        self._rows += rows
        self._units += [self._unit] * len(rows)
        self._unit += ended


class Code(Streamed):
    """One block of code, whole or as it arrives."""

    def __init__(self, text: str = "", language: str = "", *, line_numbers: bool = False, theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._language = language
        self._line_numbers = line_numbers
        super().__init__(text)

    def _reader(self, width: int) -> StreamedReader:
        return _CodeReader(CodeLines(self._theme, width, self._language, numbers=self._line_numbers))
