"""What is piped in beside a prompt, or as the prompt."""

import os
import re
import select

from sightline.views.plain._output import write_message

ALL_OF_IT = "-"  # the prompt that says: what is piped in
_MARK = "\ufffd"
# Bytes that are no UTF-8, and control characters that no text has; colours and the like (escape) are left alone.
_no_text = re.compile("[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\udc80-\udcff]+")


def read_piped(prompt: str, fd: int = 0, patience: float = 3.0) -> str:
    """The prompt, with what was piped in behind it.

    A runner may leave an idle pipe as stdin that is never closed, so the first byte is waited for only a while,
    unless the prompt itself is to come from there.
    """
    if prompt == ALL_OF_IT:
        return "" if os.isatty(fd) else _all(fd)
    if os.isatty(fd):
        return prompt
    ready = select.select([fd], [], [], patience)[0]
    if not ready:
        os.write(2, f"note: nothing came on stdin in {patience:g} s, continuing without it\n".encode())
        return prompt
    piped = _all(fd)
    return f"{prompt}\n\n{piped}" if prompt and piped.strip() else prompt or piped


def _all(fd: int) -> str:
    parts = []
    while chunk := os.read(fd, 1 << 20):
        parts.append(chunk)
    return _as_text(b"".join(parts))


def _as_text(data: bytes) -> str:
    """The text, with one mark for each stretch of bytes that are not text; these are reported."""
    text = data.decode("utf-8", "surrogateescape")
    lost = sum(len(stretch) for stretch in _no_text.findall(text))
    if not lost:
        return text
    share = f"{lost:,} of {len(data):,} bytes on stdin are not text"
    write_message(2, "warning", f"{share}; the agent gets {_MARK} in their place", "name a file in the prompt instead")
    return _no_text.sub(_MARK, text)
