"""Output of a call as rows: its end while the call runs, and what is left of it afterwards.

- A result is drawn from the fold alone, so that it looks the same live and replayed.
- The content of our own calls is written for the model. How a command ended, that it wrote nothing, and why it was
  refused stand in the header: the body shows the rest.
- The content of a provider's command is its output, and may hold more than the pieces that came while it ran.
"""

import msgspec

from sightline.events import call_ending
from sightline.text import OutputScreen, clean_line, clean_output, clean_text, row_text
from sightline.transcript import TranscriptCall
from sightline.views.console.shapes._shape import (
    FAILED_ROWS,
    Shape,
    ShapeBody,
    line_count,
    styled,
    whole_lines,
    wrapped,
)
from sightline.views.console.shapes._tail import Tail, lines_begun, styled_row

_OURS = frozenset(("agent", "exec", "person", "host"))
_LONGEST_LINE = 4000
_FEW = 25  # rows of an ended call that are shown whole
_HEAD = 4  # lines of a failed call that are shown before its end
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
    """The base of shapes that show output."""

    gutter = True
    _tail: Tail | None = None
    _tail_for: tuple[int, bool] | None = None

    @property
    def whole(self) -> int:
        """Rows up to which nothing is left out. An ended call gets some more, rather than a cut of a few rows."""
        return self.room if self.call.content is None else max(self.room * 3 // 2, _FEW)

    def tail_rows(self, width: int) -> ShapeBody:
        call, theme = self.call, self.drawing.theme
        key = (width, call.content is None)  # the fold drops most pieces when the call ends
        if self._tail is None or key != self._tail_for:
            self._tail, self._tail_for = Tail(call, width, 2 * max(self.unfolded, FAILED_ROWS)), key
        rows = self._tail.rows(self.whole + 1)
        cut = len(rows) > self.whole or call.skipped > 0
        if cut:
            rows = rows[1 - self.room :]
        shown = [styled_row(row, theme, width, failed=call.is_error) for row in rows]
        if cut:
            shown.insert(0, self._before(self._tail.lines, lines_begun(rows), width))
        return ShapeBody(shown, from_end=True)

    def last_of(self, text: str, width: int) -> ShapeBody:
        total, most = line_count(text), self.whole
        lines = text.removesuffix("\n").rsplit("\n", most + 1)[-most - 1 :] if text else []
        wrapped_lines = [self._wrapped(line, width) for line in lines]
        rows = [row for each in wrapped_lines for row in each]
        if len(rows) <= most and len(lines) == total:
            return ShapeBody(rows, from_end=True)
        # The first lines of what failed may hold the reason.
        first = text.split("\n", _HEAD)[:_HEAD] if self.call.is_error else []
        wrapped_first = [self._wrapped(line, width) for line in first]
        head = [row for each in wrapped_first for row in each][:_HEAD]
        shown = rows[1 + len(head) - self.room :]
        whole = whole_lines(wrapped_first, len(head)) + whole_lines(reversed(wrapped_lines), len(shown))
        return ShapeBody([*head, self.more(total - whole, "line", width), *shown], from_end=True)

    def _wrapped(self, line: str, width: int) -> list[str]:
        return styled(self.drawing.theme, "output", wrapped(clean_text(line[-_LONGEST_LINE:]), width))

    def _before(self, lines: int, shown: int, width: int) -> str:
        """The row above cut output: how many lines are left out where that is known, else the size of all output."""
        call = self.call
        has_gaps = call.skipped_lines < 0 or any(piece.dropped and piece.text for piece in call.pieces)
        if has_gaps:
            total = _total_lines(call)
        else:
            total = call.skipped_lines + line_count(call.output) if call.skipped else lines
        if total is not None and total > shown:
            return self.more(total - shown, "line", width)
        words = f"… the end of {size_words(call.received)}" if call.received else "… the end of it"
        return self._hint(words, "view_output", width)


def ending_words(call: TranscriptCall) -> str:
    """How a call ended: timeout, signal, exit code."""
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
    """The output as plain text: whole where all pieces are there, else the model's version, else its end."""
    if call.pieces and not has_more_than_pieces(call) and (not call.skipped or not call.content):
        return plain_output(call)
    return below_header(call)


def size_words(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.{1 if size < 10 * unit else 0}f} {name}"
    return f"{size} bytes"


def below_header(call: TranscriptCall) -> str:
    """The content of a command without the lines on how it ended, which the header shows."""
    return call_ending(call.details).without_outcome(call.content or "")


def without_refusal(call: TranscriptCall) -> TranscriptCall:
    """The call; of a refused one, the reason is the content."""
    ending = call_ending(call.details)
    if call.content is None or not ending.by:
        return call
    return msgspec.structs.replace(call, content=ending.why_refused)


def plain_output(call: TranscriptCall) -> str:
    """The text of the pieces, as a terminal would have left it."""
    screen = OutputScreen(height=1)
    for piece in call.pieces:
        screen.feed(clean_output(piece.text), piece.stream)
    screen.finish()
    return "\n".join([row_text(row).rstrip() for row in screen.take_settled()])


def has_more_than_pieces(call: TranscriptCall) -> bool:
    """Whether the result of a provider's command holds the lines that came while it ran, and others."""
    if not call.content or call.source in _OURS or call_ending(call.details).ended:
        return False
    came = plain_output(call).strip("\n")
    whole = clean_text(call.content).strip("\n")
    if call.skipped:  # the first line may be half a line
        came = came.partition("\n")[2]
    more = len(call.content.encode()) > call.received if call.skipped else len(whole) > len(came)
    lines = iter([line.rstrip() for line in whole.split("\n")])
    return more and all(line in lines for line in came.split("\n"))


def _total_lines(call: TranscriptCall) -> int | None:
    """How many lines an ended command wrote, as far as its result shows; None: unknown."""
    ending = call_ending(call.details)
    if not call.content or ending.cut or ending.ended == "job":
        return None
    is_ours = call.source in _OURS or bool(ending.ended)
    is_whole = ending.outcome_lines is not None if is_ours else len(call.content.encode()) >= call.received
    return line_count(below_header(call)) if is_whole else None
