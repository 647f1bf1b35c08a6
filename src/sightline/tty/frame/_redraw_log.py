"""The log of frames, for debugging. It is apart because nothing that makes a frame may know the platform."""

import os
from typing import TextIO


class RedrawLog:
    """One line for each frame, for debugging, in a file only its owner can read. A full disk costs the log alone."""

    def __init__(self, path: str) -> None:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        self._file: TextIO = os.fdopen(descriptor, "w", encoding="utf-8", buffering=1)

    def add(self, what: str, **numbers: int) -> None:
        try:
            self._file.write(" ".join([what, *(f"{name}={number}" for name, number in numbers.items())]) + "\n")
        except OSError:
            pass

    def close(self) -> None:
        self._file.close()
