"""Writing to a descriptor that may be a terminal, a file, or a pipe whose reader is slow or gone."""

import os
import select

import msgspec

from sightline.text import clean_styled, message

# A pipe that polls as writable takes at least this much without blocking (PIPE_BUF on Linux).
_SAFE = 4096


def write_all(fd: int, data: bytes) -> None:
    """Write everything, waiting for a slow reader. BrokenPipeError when there is none any more."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(fd, view) :]
        except BlockingIOError:  # another program left the descriptor non-blocking
            select.select([], [fd], [])


def write_text(fd: int, text: str) -> None:
    """Text for people. Whatever it quotes (names of files, titles, commands, words of a server), it cannot drive the
    terminal: of control sequences only colour and weight are left."""
    write_all(fd, clean_styled(text).encode())


def write_message(fd: int, level: str, text: str, hint: str = "") -> None:
    write_all(fd, message(level, text, hint).encode())


async def write_patiently(fd: int, data: bytes) -> None:
    """Like `write_all`, but the event loop continues while the reader is slow: a cancel must never wait for a pager."""
    view = memoryview(data)
    while view:
        if not _writable(fd):
            await _until_writable(fd)
        try:
            view = view[os.write(fd, view[:_SAFE]) :]
        except BlockingIOError:
            continue


def _writable(fd: int) -> bool:
    poll = select.poll()
    poll.register(fd, select.POLLOUT)
    return bool(poll.poll(0))


async def _until_writable(fd: int) -> None:
    import asyncio

    loop = asyncio.get_running_loop()
    ready = asyncio.Event()
    loop.add_writer(fd, ready.set)
    try:
        await ready.wait()
    finally:
        loop.remove_writer(fd)


def share_a_channel(one: int, other: int) -> bool:
    """Whether two descriptors lead to the same terminal, pipe or file, so that what they write is interleaved."""
    try:
        first, second = os.fstat(one), os.fstat(other)
    except OSError:
        return False
    return (first.st_dev, first.st_ino) == (second.st_dev, second.st_ino)


def pretty_json(facts: object) -> bytes:
    """Indented JSON and a newline."""
    return msgspec.json.format(msgspec.json.encode(facts)) + b"\n"


def room_in_row(taken: int, piped: int) -> int:
    """Columns that a row on stdout has left beside those taken, at least 20; `piped` where it is no terminal."""
    if not os.isatty(1):
        return piped
    import shutil

    return max(20, shutil.get_terminal_size().columns - taken)


def columns_of(fd: int) -> int | None:
    """How wide the terminal is; None for a file or a pipe, which have room for everything."""
    if not os.isatty(fd):
        return None
    try:
        return os.get_terminal_size(fd).columns or 80
    except OSError:
        return 80
