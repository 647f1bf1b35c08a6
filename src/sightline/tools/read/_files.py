"""Opening a file of any kind without being hurt by it, and what it turns out to be.

Rules:

- Only regular files are read: a pipe, a device or a socket could block a reader for ever.
- A small text is read whole, so that an edit can be based on it; of a big one only the selected lines.
- What is not text is never shown, only named.
- Of a big file no more than a piece is ever held. Lines before a selected one are only counted. What comes after the
  last one is not even read, except in files small enough that knowing how many lines there are costs nothing.
- Reading runs in a thread and checks once per piece whether the call was cancelled.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.files import _images
from sightline.tools.files._regular import opened, read_all
from sightline.tools.read._excerpt import Excerpt, ExcerptCollector, ExcerptPlan

WHOLE = 4 * 1024**2  # bytes of a text that is read whole
PIECE = 256 * 1024  # bytes of a big text that are read at once
COUNTED_TO_THE_END = 32 * 1024**2  # bytes of a text whose lines are counted
WIDE = "[UTF-16 text, shown decoded; it cannot be edited]"
GARBLED = "[Not valid UTF-8: bytes that are not text are shown as \ufffd, and the file cannot be edited this way]"
_ESC = 27  # of text with colours in it
_CONTROLS = bytes(set(range(32)) - {*b"\t\n\r\f\b", _ESC}) + b"\x7f"
_GARBAGE = 0.3  # the share of it that makes a file no text


class WholeText(msgspec.Struct, frozen=True):
    text: str
    note: str = ""  # why it cannot be edited as it is shown


class ImageData(msgspec.Struct, frozen=True):
    data: bytes


class Binary(msgspec.Struct, frozen=True):
    size: int


Content = WholeText | Excerpt | ImageData | Binary


def load(path: Path, plan: ExcerptPlan, stopped: Callable[[], bool]) -> Content:
    """A file's content, by its kind. Blocking. ToolError when it cannot be read."""
    with opened(path) as fd:
        size = os.fstat(fd).st_size
        head = os.pread(fd, _images.SNIFFED, 0)
        if _images.sniff(head) is not None:
            if size > _images.MAX_INPUT:
                raise _images.too_large(size)
            return ImageData(read_all(fd, _images.MAX_INPUT))
        is_wide = head.startswith((b"\xff\xfe", b"\xfe\xff"))
        if looks_binary(head) and not is_wide:
            return Binary(size)
        data = read_all(fd, WHOLE) if size <= WHOLE else b""
        if size <= WHOLE and len(data) <= WHOLE:  # some files of the system hold more than they claim
            return _whole(data, is_wide=is_wide)
        if is_wide:
            return Binary(size)
        os.lseek(fd, 0, os.SEEK_SET)
        excerpt = stream(fd, plan, max(size, len(data)), stopped)
        return Binary(size) if any("\0" in line for line in excerpt.lines.values()) else excerpt


def read_text(path: Path, most: int) -> str:
    """A whole text file. ToolError when it is no text or longer than this."""
    with opened(path) as fd:
        data = read_all(fd, most)
    if len(data) > most:
        raise ToolError(f"{path.name} has more than {most // 1024**2} MB, which is too large for this.")
    if looks_binary(data):
        raise ToolError(f"{path.name} is a binary file.")
    return data.decode("utf-8", "replace")


def looks_binary(data: bytes) -> bool:
    """A zero byte, or too much that no text has."""
    if b"\0" in data:
        return True
    controls = len(data) - len(data.translate(None, _CONTROLS))
    text = data.decode("utf-8", "replace")
    return controls > len(data) * _GARBAGE or text.count("\ufffd") > len(text) * _GARBAGE


def is_utf8(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _whole(data: bytes, *, is_wide: bool) -> Content:
    if is_wide:
        text = data.decode("utf-16", "replace")
        return Binary(len(data)) if "\0" in text else WholeText(text, WIDE)
    if b"\0" in data:
        return Binary(len(data))
    try:
        return WholeText(data.decode())
    except UnicodeDecodeError:
        return WholeText(data.decode("utf-8", "replace"), GARBLED)


class Stopped(Exception):
    """The call was cancelled."""


class _Position:
    """Where in a file, and in which line, the next unread byte is."""

    def __init__(self, fd: int, stopped: Callable[[], bool]) -> None:
        self._fd = fd
        self._stopped = stopped
        self.piece = b""
        self.at = 0
        self.line = 1
        self.at_line_start = True
        self.ended = False

    def more(self) -> bool:
        """Read the next piece; false at the end of the file."""
        if self._stopped():
            raise Stopped
        if self.piece:
            self.at_line_start = self.piece.endswith(b"\n")
        piece = os.read(self._fd, PIECE)
        if not piece:
            self.piece, self.at, self.ended = b"", 0, True
            return False
        self.piece, self.at = piece, 0
        return True

    def skip_to(self, line: int) -> bool:
        """Go to the start of a line; false when the file has fewer."""
        while self.line < line:
            newlines = _newlines(self.piece[self.at :] if self.at else self.piece)
            if self.line + newlines >= line:
                self.at = _after_newline(self.piece, self.at, line - self.line)
                self.line = line
                break
            self.line += newlines
            if not self.more():
                return False
        return self.at < len(self.piece) or self.more()

    def take_line(self, most: int, *, raw: bool) -> tuple[bytes, int]:
        """The line here, at most this much of it, and its whole size, line end not included."""
        taken, size, end = b"", 0, -1
        while True:
            end = self.piece.find(b"\n", self.at)
            stop = len(self.piece) if end < 0 else end
            taken += self.piece[self.at : min(stop, self.at + max(0, most - len(taken)))]
            size += stop - self.at
            if end >= 0:
                self.at, self.line = end + 1, self.line + 1
                break
            self.at = stop
            if not self.more():
                break
        if end >= 0 and not raw and size == len(taken) and taken.endswith(b"\r"):
            return taken[:-1], size - 1
        return taken, size

    def lines_to_the_end(self) -> int:
        while True:
            self.line += _newlines(self.piece[self.at :])
            self.at = len(self.piece)
            if not self.more():
                return self.line - self.at_line_start


def stream(fd: int, plan: ExcerptPlan, size: int, stopped: Callable[[], bool] = lambda: False) -> Excerpt:
    """Read from the start of an open file of this size."""
    position = _Position(fd, stopped)
    collector = ExcerptCollector(plan)
    _skip_mark(position)
    for one in plan.ranges:
        if not position.skip_to(one.first) or not _take(position, collector, one.last, plan):
            break
    if position.ended:
        return collector.excerpt(position.line - position.at_line_start, size)
    total = position.lines_to_the_end() if size <= COUNTED_TO_THE_END else None
    return collector.excerpt(total, size)


def _take(position: _Position, collector: ExcerptCollector, last: int | None, plan: ExcerptPlan) -> bool:
    """The lines from here to `last`; false when there are no more, or no more may be shown."""
    while last is None or position.line <= last:
        if position.at >= len(position.piece) and not position.more():
            return False
        if collector.full:  # the next line may be the longest of all
            return False
        number = position.line
        # One character can be cut at its start, and a carriage return belongs to the line end.
        if not collector.add(number, *position.take_line(plan.longest_line + 5, raw=plan.raw)):
            return False
        if position.ended:
            return False
    return True


def _skip_mark(position: _Position) -> None:
    if position.more() and position.piece.startswith(b"\xef\xbb\xbf"):
        position.at = 3


def _newlines(data: bytes) -> int:
    # Deleting them goes from one to the next by memchr, where counting looks at every byte: two to three times as fast.
    return len(data) - len(data.replace(b"\n", b""))


def _after_newline(data: bytes, start: int, count: int) -> int:
    """Where the line after the `count`-th newline from `start` begins; by halves, so that it costs one more count."""
    end = len(data)
    while count > 1:
        middle = (start + end) // 2
        before = data.count(b"\n", start, middle)
        if before < count:
            count, start = count - before, middle
        else:
            end = middle
    return data.find(b"\n", start) + 1
