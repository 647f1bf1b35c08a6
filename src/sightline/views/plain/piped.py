"""What is piped in beside a prompt, or as the prompt."""

import os
import select

ALL_OF_IT = "-"  # the prompt that says: what is piped in


def read_piped(prompt: str, fd: int = 0, patience: float = 3.0) -> str:
    """The prompt, with what was piped in behind it.

    A runner may leave an idle pipe as stdin that nobody ever closes, so the first byte is waited for only a while,
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
    return b"".join(parts).decode("utf-8", "replace")
