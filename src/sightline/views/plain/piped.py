"""What is piped in beside a prompt."""

import os
import select


def read_piped(prompt: str, fd: int = 0, patience: float = 3.0) -> str:
    """The prompt, with what was piped in behind it.

    A runner may leave an idle pipe as stdin that nobody ever closes, so the first byte is waited for only a while.
    """
    if os.isatty(fd):
        return prompt
    ready = select.select([fd], [], [], patience)[0]
    if not ready:
        os.write(2, f"note: nothing came on stdin in {patience:g} s, going on without it\n".encode())
        return prompt
    parts = []
    while chunk := os.read(fd, 1 << 20):
        parts.append(chunk)
    piped = b"".join(parts).decode("utf-8", "replace")
    return f"{prompt}\n\n{piped}" if prompt and piped.strip() else prompt or piped
