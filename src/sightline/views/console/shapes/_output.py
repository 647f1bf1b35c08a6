"""What a call writes, as rows: its end while it runs, and what is left of it afterwards.

What a call came to is drawn from what the fold keeps of it alone, so that it looks the same live and replayed.
"""

from sightline.text import Screen, clean_line, clean_output, clean_text, row_text
from sightline.transcript import Call
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import Body, Shape, details_of, wrapped
from sightline.views.console.shapes._tail import Tail, styled_row

_LONGEST_LINE = 4000
_UNITS = ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB"))
_ENDED = {
    "timeout": "timed out",
    "cancelled": "cancelled",
    "refused": "refused",
    "host": "ended with its host",
    "spawn": "not started",
    "unfinished": "never made",
}


class OutputShape(Shape):
    """The base of those that show output."""

    def __init__(self, call: Call, drawing: Drawing) -> None:
        super().__init__(call, drawing)
        self._tail: Tail | None = None
        self._tail_for: tuple[int, bool] | None = None

    def tail_rows(self, width: int) -> Body:
        call, theme = self.call, self.drawing.theme
        key = (width, call.content is None)  # the fold lets go of most of it when the call ends
        if self._tail is None or key != self._tail_for:
            self._tail, self._tail_for = Tail(call, width, self.unfolded), key
        room = self.room
        rows = self._tail.rows(room + 1)
        cut = len(rows) > room or call.skipped > 0
        shown = [styled_row(row, theme, width) for row in (rows[len(rows) - room + 1 :] if len(rows) > room else rows)]
        if cut:
            shown.insert(0, self._before(width))
        return Body(shown, cut, from_end=True)

    def last_of(self, text: str, width: int) -> Body:
        lines = text.removesuffix("\n").rsplit("\n", self.room + 1)[-self.room - 1 :] if text else []
        rows = [row for line in lines for row in wrapped(clean_text(line[-_LONGEST_LINE:]), width)]
        if len(rows) <= self.room and len(lines) == text.removesuffix("\n").count("\n") + bool(text):
            return Body(rows, from_end=True)
        shown = rows[-(self.room - 1) :]
        hidden = max(text.count("\n") + 1 - len(shown), 1)
        return Body([self.more(hidden, "line", width), *shown], cut=True, from_end=True)

    def _before(self, width: int) -> str:
        size = self.call.received
        words = f"… the end of {size_words(size)}" if size else "… the end of it"
        return self._hint(words, "view_output", width)


def ending_words(call: Call) -> str:
    """How it ended: the exit code, and what else there is to say."""
    if call.content is None:
        return ""
    details = details_of(call)
    ended, signal = details.get("ended"), details.get("signal")
    if ended == "job":
        job = details.get("job")
        return f"goes on as job {clean_line(job)}" if isinstance(job, str) else "goes on as a job"
    words = _ENDED.get(ended, "") if isinstance(ended, str) else ""
    if isinstance(signal, int) and not words:
        words = f"signal {signal}"
    code = "" if call.exit_code is None else f"exit {call.exit_code}"
    return " · ".join([part for part in (words, code) if part])


def output_text(call: Call) -> str:
    """What it wrote, as plain text: all of it where it is here, else what the model was told, else its end."""
    if call.pieces and (not call.skipped or not call.content):
        screen = Screen(height=1)
        for piece in call.pieces:
            screen.feed(clean_output(piece.text), piece.stream)
        screen.finish()
        return "\n".join([row_text(row).rstrip() for row in screen.take_settled()])
    return call.content or ""


def size_words(size: int) -> str:
    for unit, name in _UNITS:
        if size >= unit:
            return f"{size / unit:.{1 if size < 10 * unit else 0}f} {name}"
    return f"{size} bytes"
