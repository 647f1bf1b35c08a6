"""Where the rows of an artifact begin, found by counting newlines, without interpreting what is between them.

Rules:

- A line is a row, as long as the output never moves the cursor up nor changes other rows (erases, inserts); where it
  first does, `rise` says so and counting ends: from `base` on, rows have to be interpreted.
- Every 64 KB or so a place is remembered: a row's number, where it begins, and the style left over from before it.
  Nothing else is remembered, so memory is a few bytes for each 64 KB of output.
- Unmasked bytes are counted, which is many times as fast; masking changes neither line ends nor styles.
- The style left over depends on the last occurrence of each styling sequence only: each sets things to fixed values.
"""

import re
from array import array
from bisect import bisect_left, bisect_right

import msgspec

from sightline.journal import ArtifactReader
from sightline.text import DEFAULT, OutputScreen, Style, clean_output, complete_prefix

SLICE = 64 * 1024
HEIGHT = 50  # rows that the cursor can still reach

_styling = re.compile(rb"(?:\x1b\[|\xc2\x9b)[0-9;:]*m").findall
_rise = re.compile(
    rb"(?:\x1b\[|\xc2\x9b)(?:[0-9;]*[AFHJLMSTdfrsu]|\?[0-9;]{0,8}(?:47|1047|1049)[0-9;]{0,8}[hl])|\x1b[78DEMc]"
).search
_RESETS = (b"\x1b[0m", b"\x1b[m")


class RowStart(msgspec.Struct, frozen=True, gc=False):
    """The beginning of a row."""

    offset: int = 0
    row: int = 0
    style: Style = DEFAULT


class LineIndex:
    """The places of an artifact that may still grow. `scan` looks at what is new."""

    def __init__(self, reader: ArtifactReader) -> None:
        self._reader = reader
        self._offsets = array("Q", [0])
        self._rows = array("Q", [0])
        self._styles = [DEFAULT]
        self._style = DEFAULT  # at `scanned`
        self._held = b""  # the beginning of a sequence whose end was not there yet
        self.scanned = 0
        self.tail = RowStart()  # the row that has no newline yet
        self.rise: int | None = None  # where the cursor first moves up, or other rows change
        self.base = RowStart()  # from where rows have to be interpreted, once there is a rise

    def scan(self, end: int) -> None:
        """Count up to a place in the artifact."""
        while self.scanned < end and self.rise is None:
            piece = self._reader.read_raw(self.scanned, min(SLICE, end - self.scanned))
            if not piece:
                return
            self._take(piece)

    def before(self, row: int) -> RowStart:
        """The last place that is not after a row."""
        if row >= self.tail.row:
            return self.tail
        return self._place(bisect_right(self._rows, row) - 1)

    def after(self, offset: int) -> RowStart:
        """The first place that is not before an offset."""
        number = bisect_left(self._offsets, offset)
        return self._place(number) if number < len(self._offsets) else self.tail

    def line_end(self, offset: int) -> int:
        """Where the newline of a line is that begins at an offset and is longer than any slice; its end if none."""
        number = bisect_right(self._offsets, offset)
        if number < len(self._offsets):
            after = self._offsets[number]
        elif self.tail.offset > offset:
            after = self.tail.offset
        else:
            return self.scanned
        # Slices are no longer than this, and the place noted after a long line is in the slice the line ends in.
        start = max(offset, after - SLICE)
        return start + self._reader.read_raw(start, after - start).find(b"\n")

    def _place(self, number: int) -> RowStart:
        return RowStart(self._offsets[number], self._rows[number], self._styles[number])

    def _take(self, piece: bytes) -> None:
        lines = piece.count(b"\n")
        after = piece.rfind(b"\n") + 1 if lines else 0
        plain = not self._held and _is_plain(piece)
        style = self._style if plain else self._styled(piece, after)
        if style is None:
            return
        if lines:
            self.tail = RowStart(self.scanned + after, self.tail.row + lines, style)
            if self.tail.offset - self._offsets[-1] >= SLICE:
                self._offsets.append(self.tail.offset)
                self._rows.append(self.tail.row)
                self._styles.append(style)
        self.scanned += len(piece)

    def _styled(self, piece: bytes, after: int) -> Style | None:
        """The style at the last row that begins in a piece; moves on to the style at its end. None: counting ends."""
        held = len(self._held)
        data = self._held + piece
        rise = _rise(data)
        if rise is not None:
            self._stop(self.scanned - held + rise.start(), data.count(b"\n", 0, rise.start()))
            return None
        style = style_after(self._style, data[: held + after]) if after else self._style
        whole = complete_prefix(data)
        self._style = style_after(style, data[held + after if after else 0 : whole])
        self._held = data[whole:]
        return style

    def _stop(self, offset: int, lines: int) -> None:
        self.rise = offset
        reach = self.tail.row + lines - HEIGHT
        self.base = self._place(bisect_right(self._rows, reach) - 1) if reach > 0 else RowStart()


def style_after(style: Style, data: bytes) -> Style:
    """The style that output leaves behind."""
    if _is_plain(data):
        return style
    reset = max(map(data.rfind, _RESETS))
    if reset >= 0:
        style, data = DEFAULT, data[reset:]
    found = list(dict.fromkeys(reversed(_styling(data))))
    if not found:
        return style
    screen = OutputScreen()
    screen.style = style
    screen.feed(clean_output(b"".join(reversed(found)).decode()))
    return screen.style


def _is_plain(data: bytes) -> bool:
    """Whether no sequence begins in it. One byte is looked for much faster than two: 9B is part of C2 9B."""
    return b"\x1b" not in data and b"\x9b" not in data
