"""What a call writes, as rows: its end while it runs, and what is left of it afterwards.

What a call came to is drawn from what the fold keeps of it alone, so that it looks the same live and replayed.
"""

from sightline.events import call_ending
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import FAILED_ROWS, Shape, ShapeBody, line_count, styled, wrapped
from sightline.views.console.shapes._tail import Tail, styled_row
from sightline.views.console.shapes._told import below_header, has_more_than_pieces, lines_in_all, plain_output

_LONGEST_LINE = 4000
_FEW = 25  # rows of what has ended that are not worth a cut
_HEAD = 4  # lines of what failed that are shown before its end
_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB"))
_ENDED = {
    "timeout": "timed out",
    "cancelled": "cancelled",
    "refused": "refused",
    "host": "stopped with its session",
    "spawn": "not started",
    "unfinished": "not run",
}


class OutputShape(Shape):
    """The base of those that show output."""

    gutter = True

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        super().__init__(call, drawing)
        self._tail: Tail | None = None
        self._tail_for: tuple[int, bool] | None = None

    @property
    def whole(self) -> int:
        """Rows up to which nothing is left out: of what has ended more than there is room for, where that is a cut
        for the sake of little."""
        return self.room if self.call.content is None else max(self.room * 3 // 2, _FEW)

    def tail_rows(self, width: int) -> ShapeBody:
        call, theme = self.call, self.drawing.theme
        key = (width, call.content is None)  # the fold lets go of most of it when the call ends
        if self._tail is None or key != self._tail_for:
            self._tail, self._tail_for = Tail(call, width, 2 * max(self.unfolded, FAILED_ROWS)), key
        rows = self._tail.rows(self.whole + 1)
        cut = len(rows) > self.whole or call.skipped > 0
        kept = rows[1 - self.room :] if cut else rows
        shown = [styled_row(row, theme, width, failed=call.is_error) for row in kept]
        if cut:
            shown.insert(0, self._before(self._tail.count, len(shown), width))
        return ShapeBody(shown, from_end=True)

    def last_of(self, text: str, width: int) -> ShapeBody:
        total, most = line_count(text), self.whole
        lines = text.removesuffix("\n").rsplit("\n", most + 1)[-most - 1 :] if text else []
        rows = self._laid_out(lines, width)
        if len(rows) <= most and len(lines) == total:
            return ShapeBody(rows, from_end=True)
        # How something that failed began may say why.
        head = self._laid_out(text.split("\n", _HEAD)[:_HEAD], width)[:_HEAD] if self.call.is_error else []
        shown = rows[1 + len(head) - self.room :]
        left_out = self.more(max(total - len(head) - len(shown), 1), "line", width)
        return ShapeBody([*head, left_out, *shown], from_end=True)

    def _laid_out(self, lines: list[str], width: int) -> list[str]:
        rows = [row for line in lines for row in wrapped(clean_text(line[-_LONGEST_LINE:]), width)]
        return styled(self.drawing.theme, "output", rows)

    def _before(self, rows: int, shown: int, width: int) -> str:
        """How much is left out: lines where all of them were here or the result tells how many there were."""
        call = self.call
        passed_over = call.skipped_lines < 0 or any(piece.dropped and piece.text for piece in call.pieces)
        if not passed_over:
            total: int | None = call.skipped_lines + line_count(call.output) if call.skipped else rows
        else:
            total = lines_in_all(call)
        if total is not None and total > shown:
            return self.more(total - shown, "line", width)
        words = f"… the end of {size_words(call.received)}" if call.received else "… the end of it"
        return self._hint(words, "view_output", width)


def ending_words(call: TranscriptCall) -> str:
    """How it ended: the exit code, and what else there is to say."""
    if call.content is None:
        return ""
    ending = call_ending(call.details)
    if ending.ended == "job":
        return "running in background" + (f", job {job_name(ending.job)}" if ending.job else "")
    words = _ENDED.get(ending.ended, "")
    if ending.signal is not None and not words:
        words = f"signal {ending.signal}"
    code = "" if call.exit_code is None else f"exit {call.exit_code}"
    return " · ".join([part for part in (words, code) if part])


def job_name(id: str) -> str:
    """`1` of `job-1`: jobs of a session have numbers."""
    return clean_line(id).rpartition("-")[2]


def output_text(call: TranscriptCall) -> str:
    """What it wrote, as plain text: all of it where it is here, else what the model was told, else its end."""
    if call.pieces and not has_more_than_pieces(call) and (not call.skipped or not call.content):
        return plain_output(call)
    return below_header(call)


def size_words(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.{1 if size < 10 * unit else 0}f} {name}"
    return f"{size} bytes"
