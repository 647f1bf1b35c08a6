"""The end of a command's output as rows: interpreted as a terminal would, once, as it comes.

- A call holds the end of its output as pieces, and drops the oldest. A frame reads only what is new. Where its place
  cannot be found (a cut piece, a source without offsets), the tail, which is bounded, is read anew.
- A dropped beginning leaves half a line: it is not shown.
"""

from collections import deque
from collections.abc import Iterable

from sightline.text import DEFAULT, ContinuedRow, OutputScreen, Row, clean_output
from sightline.transcript import TranscriptCall, TranscriptPiece
from sightline.tty import Theme, measure, truncate

_LIVE = 50
_RESET = "\x1b[0m"


class Tail:
    """Rows of one call's output, for one width."""

    def __init__(self, call: TranscriptCall, width: int, most: int, *, live: int = _LIVE) -> None:
        self._call = call
        self._width = max(width, 2)
        self._most = most
        self._live = live
        self._last: TranscriptPiece | None = None
        self._begin()

    def _begin(self) -> None:
        self._screen = OutputScreen(self._width, self._live)
        self._settled: deque[Row] = deque(maxlen=self._most)
        self._lines_settled = 0
        self._half = False

    def rows(self, most: int) -> list[Row]:
        """The last rows."""
        self._read()
        live = self._screen.live
        return [*self._settled, *live][-most:] if most else []

    @property
    def lines(self) -> int:
        """How many lines were read, dropped ones included."""
        return self._lines_settled + lines_begun(self._screen.live)

    def take(self) -> list[Row]:
        """Rows that became final since the last call; of very many, the last."""
        self._read()
        rows = list(self._settled)
        self._settled.clear()
        return rows

    def take_rest(self) -> list[Row]:
        """Rows that were not final: the output has ended."""
        self._screen.finish()
        return self._screen.take_settled()

    def _read(self) -> None:
        for piece in self._unread():
            text = piece.text
            if self._half:
                _, newline, text = text.partition("\n")
                self._half = not newline
            self._screen.feed(clean_output(text), piece.stream)
        settled = self._screen.take_settled()
        self._settled += settled
        self._lines_settled += lines_begun(settled)
        if self._call.pieces:
            self._last = self._call.pieces[-1]

    def _unread(self) -> list[TranscriptPiece]:
        pieces, last = self._call.pieces, self._last
        if not pieces or pieces[-1] is last:
            return []
        found = None if last is None else _after(pieces, last)
        if found is not None:
            return found
        self._begin()
        self._half = bool(self._call.skipped) and "\n" in "".join([piece.text for piece in pieces[:2]])
        return pieces


def lines_begun(rows: Iterable[Row]) -> int:
    """How many lines have their first row here."""
    return sum(not isinstance(row, ContinuedRow) for row in rows)


def _after(pieces: list[TranscriptPiece], last: TranscriptPiece) -> list[TranscriptPiece] | None:
    """What came after a piece, which may have grown since; None: unknown."""
    if not last.size:  # a source without offsets: only what was just added can be found
        at = len(pieces) - 1
        if at and pieces[at - 1] is last:
            return pieces[at:]
    else:
        at = len(pieces) - 1
        while at >= 0 and pieces[at].offset > last.offset:
            at -= 1
    if at < 0 or not _is_grown(last, pieces[at]):
        return None
    grown = pieces[at]
    rest = TranscriptPiece(grown.stream, grown.text[len(last.text) :], size=1)
    return [rest, *pieces[at + 1 :]]


def _is_grown(old: TranscriptPiece, new: TranscriptPiece) -> bool:
    same = old.stream == new.stream and old.offset == new.offset and old.dropped == new.dropped
    return same and len(new.text) >= len(old.text) and new.text.startswith(old.text)


def styled_row(row: Row, theme: Theme, width: int, *, failed: bool = False) -> str:
    """A row of output in its own colours, or in that of output. Only a failed call's stderr is drawn as an error: any
    other holds progress and remarks."""
    parts: list[str] = []
    for run in row:
        opening = "" if run.style is DEFAULT else theme.open_style(run.style)
        if run.style.fg is None and run.style.bg is None and not run.style.inverse:
            opening = theme.open("error" if failed and run.stream == "stderr" else "output") + opening
        parts.append(f"{opening}{run.text}{_RESET}" if opening else run.text)
    text = "".join(parts)
    return text if measure(text) <= width else truncate(text, width)
