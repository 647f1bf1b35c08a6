"""Drafts: the unsent text of each session, stored as it is written. A crash loses half a second of it.

A draft is one small private file, replaced whole; an empty draft is no file. The hundred that changed last are stored.
Attachments are stored by path: a file that is gone is left out when the draft is loaded.

Several consoles may show one session, each with a draft of its own: a console locks a draft file for as long as it
lives, preferably one that a closed console left behind.
"""

import asyncio
import os
import re
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

import msgspec

from sightline import locks
from sightline.paths import private_folder

MOST_DRAFTS = 100
LARGEST = 1024**2
_EVERY = 0.5
_CONSOLES = 9  # with a draft each, of one session
_is_name = re.compile(r"[\w-]{1,100}(\.\d)?").fullmatch
Spawn = Callable[[Coroutine[object, object, object]], object]
"""Starts work in the background."""


class PromptDraft(msgspec.Struct, frozen=True):
    text: str = ""
    attachments: list[tuple[str, str]] = []
    """The path of each, and the name it is shown with."""
    cwd: str = ""
    """The folder of its session."""


_decode = msgspec.json.Decoder(PromptDraft).decode


class DraftFile(msgspec.Struct):
    """The name of one console's draft, locked until it is released or the process ends."""

    name: str
    lock: int | None = None
    lock_file: Path = Path()

    def release(self) -> None:
        lock, self.lock = self.lock, None
        if lock is not None:
            with suppress(OSError):
                self.lock_file.unlink()
            os.close(lock)


class Drafts:
    """The folder of drafts, below the program's data folder. All methods are for a thread."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "drafts"

    def claim(self, session: str) -> DraftFile:
        """A draft for one more console that shows this session. That of the tenth is not stored."""
        if not _is_name(session):
            return DraftFile("")
        names = [session, *(f"{session}.{number}" for number in range(1, _CONSOLES))]
        try:
            private_folder(self._folder)
            for name in sorted(names, key=lambda name: not self._file(name).exists()):
                if (draft := self._locked(name)) is not None:
                    return draft
        except OSError:
            return DraftFile(session)  # what cannot be locked can hardly be written: `save` reports it
        return DraftFile("")

    def load(self, place: str) -> PromptDraft:
        """The stored draft; an empty one when there is none, or none that can be read."""
        try:
            return _decode(self._file(place).read_bytes()) if _is_name(place) else PromptDraft()
        except (OSError, msgspec.MsgspecError):
            return PromptDraft()

    def take_over(self, session: str, cwd: str, was_used: Callable[[str], bool]) -> PromptDraft:
        """For a new session, the last draft in this folder of a session without any message: such a session is not
        stored, and its draft would be lost with it. The draft is removed from there."""
        if was_used(session):
            return PromptDraft()
        try:
            with os.scandir(self._folder) as entries:
                found = sorted((entry.stat().st_mtime, entry.name) for entry in entries if _is_draft(entry))
        except OSError:
            return PromptDraft()
        for _, name in reversed(found):
            place = name.removesuffix(".json")
            if place.partition(".")[0] == session or not _is_name(place) or was_used(place.partition(".")[0]):
                continue
            draft = self.load(place)
            if draft.cwd == cwd and (lock := self._locked(place)) is not None:
                self._file(place).unlink(missing_ok=True)
                lock.release()
                return draft
        return PromptDraft()

    def save(self, place: str, draft: PromptDraft) -> str:
        """Store a draft. Returns the error, if there is one."""
        if not _is_name(place):
            return ""
        try:
            if draft.text or draft.attachments:
                self._write(place, draft)
            else:
                self._file(place).unlink(missing_ok=True)
        except (OSError, ValueError) as problem:
            return f"your draft is not stored: {getattr(problem, 'strerror', None) or problem}: {self._folder}"
        return ""

    def _write(self, place: str, draft: PromptDraft) -> None:
        data = msgspec.json.encode(draft)
        if len(data) > LARGEST:
            return
        private_folder(self._folder)
        file = self._file(place)
        if not file.exists():
            self._make_room()
        fresh = file.with_name(f".{place}.{os.getpid()}")
        descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with open(descriptor, "wb") as writing:
            writing.write(data)
        os.replace(fresh, file)

    def _make_room(self) -> None:
        with os.scandir(self._folder) as entries:
            touched = sorted((entry.stat().st_mtime, entry.path) for entry in entries if _is_draft(entry))
        for _, path in touched[: max(0, len(touched) - MOST_DRAFTS + 1)]:
            with suppress(FileNotFoundError):
                os.unlink(path)

    def _locked(self, name: str) -> DraftFile | None:
        """None: another console has it."""
        file = self._folder / f".{name}.lock"
        for _ in range(_CONSOLES):
            lock = os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
            try:
                if not locks.acquire(lock, "exclusive"):
                    os.close(lock)
                    return None
                if os.path.samestat(os.fstat(lock), os.stat(file)):
                    return DraftFile(name, lock, file)
            except FileNotFoundError:
                pass  # its owner has just removed the file: try a new one
            except OSError:
                os.close(lock)
                raise
            os.close(lock)
        return None

    def _file(self, place: str) -> Path:
        return self._folder / f"{place}.json"


def _is_draft(entry: os.DirEntry[str]) -> bool:
    return entry.is_file() and not entry.name.endswith(".lock")


class DraftWriter:
    """Stores the draft of one console as it changes, twice a second at most."""

    def __init__(self, drafts: Drafts, place: DraftFile, spawn: Spawn, report: Callable[[str], None]) -> None:
        self._drafts = drafts
        self._place = place
        self._spawn = spawn
        self._report = report
        self._next: PromptDraft | None = None
        self._writing: PromptDraft | None = None
        self._working = False
        self._is_last = False
        self._one_at_a_time = threading.Lock()

    def changed(self, draft: PromptDraft) -> None:
        self._next = draft
        if not self._working:
            self._working = True
            self._spawn(self._work())

    def flush(self) -> None:
        """Store the last change at once, and nothing after it, not even from a late thread."""
        draft, self._next = self._next or self._writing, None
        with self._one_at_a_time:
            self._is_last = True
            if draft is not None:
                self._drafts.save(self._place.name, draft)
            self._place.release()

    async def _work(self) -> None:
        try:
            while self._next is not None:
                self._writing, self._next = self._next, None
                problem = await asyncio.to_thread(self._write, self._writing)
                self._writing = None
                if problem:
                    self._report(problem)
                await asyncio.sleep(_EVERY)
        finally:
            self._working = False

    def _write(self, draft: PromptDraft) -> str:
        with self._one_at_a_time:
            return "" if self._is_last else self._drafts.save(self._place.name, draft)
