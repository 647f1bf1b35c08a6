"""Finding the entries in a journal, or a few of its events, without reading the others.

Most of a long journal is events. A line break never stands inside a record, and only an entry's line begins the way an
entry's line begins; so the file is searched for that, a chunk at a time, and nothing else of it is looked at.
"""

import os
from collections.abc import Iterator
from pathlib import Path

from sightline.journal._record import ENTRY_MARK, seq_of
from sightline.journal.tree._entry import ENTRY_CAP

_CHUNK = 4 * 1024 * 1024
_MARK = b"\n" + ENTRY_MARK
_BACK = 64 * 1024
# How far back the last number is looked for: further than the longest record.
_BACK_CAP = 2 * ENTRY_CAP


def entry_lines(fd: int, start: int, end: int) -> Iterator[tuple[int, bytes]]:
    """Each entry's line between these two places, which are the beginnings of lines, and where it begins."""
    base = position = max(start - 1, 0)  # with the line break before it
    buffer = b""
    while chunk := os.pread(fd, min(_CHUNK, end - position), position):
        position += len(chunk)
        buffer += chunk
        done = 0
        while (found := buffer.find(_MARK, done)) >= 0:
            stop = buffer.find(b"\n", found + 1)
            if stop >= 0:
                yield base + found + 1, buffer[found + 1 : stop]
                done = stop
            elif len(buffer) - found <= ENTRY_CAP + _CHUNK:
                break
            else:  # longer than any of ours
                done = found + 1
        done = max(done, len(buffer) - len(_MARK) + 1) if found < 0 else found
        base += done
        buffer = buffer[done:]


def lines_with(fd: int, mark: bytes, end: int) -> Iterator[bytes]:
    """Each line up to this place, which is the end of one, that has this in it. Of a line longer than any of ours only
    the end is looked at."""
    position, begun = 0, b""  # a line that continues in the next chunk
    while chunk := os.pread(fd, min(_CHUNK, end - position), position):
        position += len(chunk)
        lines, _, begun = ((begun if len(begun) <= ENTRY_CAP else b"") + chunk).rpartition(b"\n")
        found = lines.find(mark)
        while found >= 0:
            stop = lines.find(b"\n", found)
            stop = len(lines) if stop < 0 else stop
            yield lines[lines.rfind(b"\n", 0, found) + 1 : stop]
            found = lines.find(mark, stop)


def end_of_lines(fd: int) -> int:
    """Where the last whole line ends. What comes after it was being written when the writer was killed."""
    end = os.fstat(fd).st_size
    while end > 0:
        start = max(0, end - _BACK)
        found = os.pread(fd, end - start, start).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def last_seq(fd: int, end: int) -> int:
    """The number of the last event: the highest in the last lines."""
    size = _BACK
    while True:
        start = max(0, end - size)
        lines = os.pread(fd, end - start, start).split(b"\n")
        if seq := max(map(seq_of, lines[1:] if start else lines), default=0):
            return seq
        if not start or size >= _BACK_CAP:
            return 0
        size *= 8


def has_entries(folder: Path) -> bool:
    """Whether there is a conversation in a session. Its first entry stands near the beginning."""
    try:
        fd = os.open(folder / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return next(entry_lines(fd, 0, end_of_lines(fd)), None) is not None
    finally:
        os.close(fd)
