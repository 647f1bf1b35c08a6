"""Opening a file of any kind without being hurt by it, and what it turns out to be.

Rules:

- Only regular files are read: a pipe, a device or a socket could block a reader for ever.
- A small text is read whole, so that an edit can be based on it; of a big one only the selected lines.
- What is not text is never shown, only named.
"""

import os
from collections.abc import Callable
from pathlib import Path

import msgspec

from sightline.tools._tool import ToolError
from sightline.tools.files import _images
from sightline.tools.files._regular import opened, read_all
from sightline.tools.read._excerpt import Excerpt, ExcerptPlan
from sightline.tools.read._stream import stream

WHOLE = 4 * 1024**2  # bytes of a text that is read whole
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
