"""The history of prompts of all sessions: one file, `prompts.jsonl`, shared by all consoles.

- A line is one prompt: its text, time and folder. Lines are appended, each with one write, under a shared lock on the
  file, which only a replacement delays; the file is private.
- Secrets the console knows are masked in it, as they are in the conversation.
- The same text counts once, as the newest. A prompt longer than 32 KB is not stored, and callers do not store one that
  begins with a space.
- It is bounded: a file larger than a megabyte is replaced by its newest two thousand prompts, by a console that gets an
  exclusive lock at that moment.
- A line that cannot be read, such as one that was torn by a full disk, is skipped.
"""

import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from sightline import locks
from sightline.paths import private_folder

FILE = "prompts.jsonl"
MOST_PROMPTS = 2000
LARGEST_FILE = 1024**2
LONGEST = 32 * 1024
_SECONDS = 3.0


class StoredPrompt(msgspec.Struct, frozen=True):
    """One prompt."""

    text: str
    time: float = 0.0
    cwd: str = ""


_decode = msgspec.json.Decoder(StoredPrompt).decode


class PromptHistory:
    """Reads and writes the file, each time anew. All methods are for a thread."""

    def __init__(self, folder: Path, masked: Callable[[str], str] = lambda text: text) -> None:
        """`folder`: the data folder. `masked` removes secrets from a text."""
        self._file = folder / FILE
        self._masked = masked

    def entries(self) -> list[StoredPrompt]:
        """The prompts, oldest first, each text once."""
        try:
            data = self._file.read_bytes()
        except OSError:
            return []
        newest: dict[str, StoredPrompt] = {}
        for line in reversed(data.splitlines()):
            entry = _read(line)
            if entry is not None:
                newest.setdefault(entry.text, entry)
                if len(newest) >= MOST_PROMPTS:
                    break
        return list(reversed(newest.values()))

    def add(self, text: str, cwd: str) -> str:
        """Store a prompt. Returns the error, if there is one."""
        folder = os.fsencode(cwd).decode("utf-8", "replace")
        line = msgspec.json.encode(StoredPrompt(self._masked(text), time.time(), folder)) + b"\n"
        if not text.strip() or len(line) > LONGEST:
            return ""
        try:
            with self._locked() as descriptor:
                size = os.fstat(descriptor).st_size
                torn = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
                os.write(descriptor, b"\n" + line if torn else line)
                if size > LARGEST_FILE and locks.acquire(descriptor, "exclusive") and _is_still(descriptor, self._file):
                    self._shorten()
        except OSError as problem:
            return f"prompts are not stored in the history: {problem.strerror or problem}: {self._file}"
        return ""

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """The file, locked against replacement. If it was replaced while we waited, the new one is opened."""
        private_folder(self._file.parent)
        while True:
            descriptor = os.open(self._file, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                if not locks.acquire(descriptor, "shared", seconds=_SECONDS):
                    raise locks.InUse(self._file)
                if _is_still(descriptor, self._file):
                    yield descriptor
                    return
            finally:
                os.close(descriptor)

    def _shorten(self) -> None:
        fresh = self._file.with_name(f".{self._file.name}.{os.getpid()}")
        lines = [msgspec.json.encode(entry) + b"\n" for entry in self.entries()]
        size = 0
        newest: list[bytes] = []
        for line in reversed(lines):
            size += len(line)
            if size > LARGEST_FILE // 2:
                break
            newest.append(line)
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as file:
            file.writelines(reversed(newest))
        os.replace(fresh, self._file)


def _read(line: bytes) -> StoredPrompt | None:
    try:
        return _decode(line)
    except msgspec.MsgspecError:
        return None


def _is_still(descriptor: int, file: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), file.stat())
    except FileNotFoundError:
        return False
