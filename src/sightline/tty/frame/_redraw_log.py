"""The redraw log, for debugging: one line for each frame, in a file, never on the terminal."""

import os
from typing import TextIO


class RedrawLog:
    """Appends to a file only its owner can read; a disk that is full costs the log and nothing else."""

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
