"""Texts that are too long for a model: their beginning or their end, in whole lines where that is possible; and sizes.

Rules:

- Secrets are masked in what a tool returns, and half of a value is not recognised there. So code that cuts within a
  line passes the rest through `cut_end`, which removes what may be the beginning of a value.
- `cut_end` is a context variable and not an argument: tools know nothing of secrets, and cuts are made far below them.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal

import msgspec

MAX_LINES = 3000
MAX_BYTES = 50 * 1024
MAX_DIFF_LINE = 2000

_cut_end: ContextVar[Callable[[str], str] | None] = ContextVar("cut_end", default=None)


@contextmanager
def cutting(end: Callable[[str], str]) -> Iterator[None]:
    """Within the block `end` is applied to every text that is cut."""
    token = _cut_end.set(end)
    try:
        yield
    finally:
        _cut_end.reset(token)


def cut_end(text: str) -> str:
    """What is left of a text that was cut, without what may be the beginning of a secret value at its end."""
    end = _cut_end.get()
    return text if end is None else end(text)


class Truncated(msgspec.Struct, frozen=True, kw_only=True):
    """What is left of a text, and how much there was. A last line without a newline is a line too."""

    text: str
    truncated: bool = False
    by: Literal["lines", "bytes"] | None = None  # the limit that was met
    mid_line: bool = False  # one line alone was too long and is cut inside
    shown_lines: int
    shown_bytes: int
    total_lines: int
    total_bytes: int


def truncate_head(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """The beginning of a text."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes and count_lines(data) <= max_lines:
        return _whole(text, data)
    end = _after_newlines(data, max_lines)
    if end <= max_bytes:
        return _part(data, 0, end, by="lines")
    end = data.rfind(b"\n", 0, max_bytes) + 1
    if end:
        return _part(data, 0, end, by="bytes")
    return _part(data, 0, character_start(data, max_bytes), by="bytes", mid_line=True)


def truncate_tail(text: str, max_lines: int = MAX_LINES, max_bytes: int = MAX_BYTES) -> Truncated:
    """The end of a text."""
    data = text.encode("utf-8", "replace")
    if len(data) <= max_bytes and count_lines(data) <= max_lines:
        return _whole(text, data)
    start = _before_last_lines(data, max_lines)
    if len(data) - start <= max_bytes:
        return _part(data, start, len(data), by="lines")
    newline = data.find(b"\n", len(data) - max_bytes - 1, len(data) - 1)
    if newline >= 0:
        return _part(data, newline + 1, len(data), by="bytes")
    return _part(data, _next_character(data, len(data) - max_bytes), len(data), by="bytes", mid_line=True)


def fitting(text: str, most: int) -> str:
    """The beginning of a text, as much of it as takes this many bytes in JSON: what details may hold of it."""
    left = text[:most]
    while (size := len(msgspec.json.encode(left.encode("utf-8", "replace").decode()))) > most:
        left = left[: min(len(left) - 1, len(left) * most // size)]
    return left if len(left) == len(text) else cut_end(left)


def fitting_diff(diff: str, most: int) -> str:
    """The whole lines of a diff that fit, and how many do not. Long lines are cut."""
    rows = diff.split("\n")
    clipped = [row if len(row) <= MAX_DIFF_LINE else f"{cut_end(row[:MAX_DIFF_LINE])}…" for row in rows]
    room = most
    for index, row in enumerate(clipped):
        room -= len(msgspec.json.encode(row))
        if room < 0:
            return "\n".join([*clipped[:index], f"… {len(rows) - 1 - index} more lines", ""])
    return "\n".join(clipped)


def count_lines(data: bytes) -> int:
    return data.count(b"\n") + (not data.endswith(b"\n") and data != b"")


def character_start(data: bytes, at: int) -> int:
    """Where the UTF-8 character at or around this place begins."""
    while 0 < at < len(data) and data[at] & 0xC0 == 0x80:
        at -= 1
    return at


def _next_character(data: bytes, at: int) -> int:
    while at < len(data) and data[at] & 0xC0 == 0x80:
        at += 1
    return at


def _after_newlines(data: bytes, count: int) -> int:
    """Where the first `count` lines end."""
    end = 0
    for _ in range(count):
        end = data.find(b"\n", end) + 1
        if end == 0:
            return len(data)
    return end


def _before_last_lines(data: bytes, count: int) -> int:
    """Where the last `count` lines begin."""
    start = len(data) - data.endswith(b"\n")
    for _ in range(count):
        start = data.rfind(b"\n", 0, start)
        if start < 0:
            return 0
    return start + 1


def _whole(text: str, data: bytes) -> Truncated:
    lines = count_lines(data)
    return Truncated(text=text, shown_lines=lines, shown_bytes=len(data), total_lines=lines, total_bytes=len(data))


def _part(data: bytes, start: int, end: int, *, by: Literal["lines", "bytes"], mid_line: bool = False) -> Truncated:
    part = data[start:end]
    text = part.decode("utf-8", "replace")
    return Truncated(
        text=cut_end(text) if mid_line and not start else text,
        truncated=True,
        by=by,
        mid_line=mid_line,
        shown_lines=count_lines(part),
        shown_bytes=len(part),
        total_lines=count_lines(data),
        total_bytes=len(data),
    )


def human_size(size: int) -> str:
    """`512 B`, `1.5 KB`."""
    amount = float(size)
    for unit in ("B", "KB", "MB", "GB"):
        if amount < 1024:
            return f"{size} B" if unit == "B" else f"{amount:.1f} {unit}"
        amount /= 1024
    return f"{amount:.1f} TB"
