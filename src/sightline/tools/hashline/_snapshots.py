"""The states of files a model was shown in this session, by tag.

Rules:

- A tag is four hex digits taken from what was shown, so the same state of a file always has the same tag. It means
  something only together with its path, and only in the session whose store gave it out.
- A state is its lines: a byte order mark, the kind of line ends and a missing last line end are no part of it.
- Tags outlive texts. A state whose text was dropped is still told apart from one that was never shown, and an edit of
  a file that is still in that state still works; only moving an edit to a changed file needs the text.
- An edit of ours is stored as a step from one state to the next, so that line numbers can be followed through it.
- When a state was shown last is part of it. A read that gives no tag (an image, raw text) is noted by its time alone.
- Tags survive a resume: `unsaved` are the new ones as plain data, `restore` takes them back. They hold digests, never
  the text of a file.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path

import msgspec

from sightline.handles import Swapped, real_path

MAX_PATHS = 30
MAX_VERSIONS = 64  # tags per path
MAX_TEXT = 4 * 1024 * 1024  # characters of one state held as text
MAX_READ = 1000  # paths read without a tag
MAX_HELD = 32 * 1024 * 1024  # characters of all states held as text
_LINE_DIGEST = 16  # characters


class SnapshotStep(msgspec.Struct, frozen=True):
    """One edit of ours: lines `start..stop` (counted from 0, `stop` not included) of `base` became `count` lines."""

    base: str  # digest of the state before
    spans: tuple[tuple[int, int, int], ...]  # start, stop, count


class Version(msgspec.Struct):
    """One state of one file."""

    tag: str
    digest: str
    text: str | None = None  # each line ended by "\n"; None: too big, dropped, or shown in part
    part: dict[int, str] | None = None  # digests of the lines shown, by number
    size: int = 0  # characters held
    step: SnapshotStep | None = None  # how an edit of ours made it
    at: float = 0.0  # when it was shown last

    @property
    def lines(self) -> list[str] | None:
        return None if self.text is None else self.text.split("\n")[:-1]


def split_lines(text: str, *, raw: bool = False) -> list[str]:
    """A text's lines as they are counted everywhere: no byte order mark, no line ends, none after the last. `raw`: mark
    and carriage returns stay."""
    lines = (text if raw else text.removeprefix("\ufeff").replace("\r\n", "\n")).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def digest_of(lines: Sequence[str]) -> str:
    return _digest("".join(f"{line}\n" for line in lines))


class Snapshots:
    """One per session. Safe to use from several threads."""

    def __init__(self) -> None:
        self._paths: OrderedDict[str, list[Version]] = OrderedDict()  # least recently used first
        self._read: OrderedDict[str, float] = OrderedDict()  # when a path was read without a tag
        self._lock = threading.Lock()
        self._stored: Mapping[str, object] = {}
        self._unsaved: dict[str, object] = {}

    def restore(self, stored: Mapping[str, object]) -> None:
        """Use the values stored with the conversation; they are decoded when a path is first looked up."""
        self._stored = stored

    def unsaved(self) -> dict[str, object]:
        """Tags given out since the last time, by the name to store each under."""
        with self._lock:
            unsaved, self._unsaved = self._unsaved, {}
            return unsaved

    def record(self, path: Path, text: str) -> str:
        """Add the whole text of a file as it is shown; returns its tag."""
        return self.record_whole(path, split_lines(text))

    def record_lines(self, path: Path, lines: Mapping[int, str]) -> str:
        """Add what was shown of a file too big to hold: line numbers and their text."""
        clean = {number: lines[number].rstrip("\r\n") for number in sorted(lines)}
        digest = _digest("part\n" + "\n".join(f"{number}:{text}" for number, text in clean.items()))
        part = {number: line_digest(text) for number, text in clean.items()}
        return self._add(path, Version(tag="", digest=digest, part=part, size=len(part) * _LINE_DIGEST))

    def record_whole(self, path: Path, lines: Sequence[str], step: SnapshotStep | None = None) -> str:
        text = "".join(f"{line}\n" for line in lines)
        version = Version(tag="", digest=_digest(text), step=step)
        if len(text) <= MAX_TEXT:
            version.text, version.size = text, len(text)
        return self._add(path, version)

    def find(self, path: Path, tag: str) -> Version | None:
        with self._lock:
            versions = self._versions(_key(path))
            return next((version for version in versions if version.tag == tag.upper()), None)

    def of_digest(self, path: Path, digest: str) -> Version | None:
        with self._lock:
            return _with_digest(self._versions(_key(path)), digest)

    def last(self, path: Path) -> Version | None:
        """The state that was shown last."""
        with self._lock:
            versions = self._versions(_key(path))
            return versions[-1] if versions else None

    def note_read(self, path: Path, began: float) -> None:
        """A file was read, whether or not the read gave a tag; `began`: before its content was read."""
        key = _key(path)
        with self._lock:
            self._read[key] = began
            self._read.move_to_end(key)
            while len(self._read) > MAX_READ:
                self._read.popitem(last=False)

    def read_at(self, path: Path) -> float | None:
        with self._lock:
            return self._read.get(_key(path))

    def shown(self, path: Path, number: int, text: str) -> bool:
        """Whether the model was shown this line with this number, under whatever tag."""
        with self._lock:
            return any((version.part or {}).get(number) == line_digest(text) for version in self._versions(_key(path)))

    def _versions(self, key: str) -> list[Version]:
        """Those of a path, with those stored before a resume."""
        versions = self._paths.get(key)
        if versions is None:
            start = _name_of(key, "")
            stored = [self._stored.get(name) for name in list(self._stored) if name.startswith(start)]
            versions = [version for one in stored[-MAX_VERSIONS:] if (version := _restored(one)) is not None]
            if versions:
                self._paths[key] = versions
                self._drop_old_paths()
        return versions

    def _add(self, path: Path, version: Version) -> str:
        key = _key(path)
        version.at = time.time()
        with self._lock:
            versions = self._paths.setdefault(key, self._versions(key))
            self._paths.move_to_end(key)
            known = _with_digest(versions, version.digest)
            if known is not None:
                versions.remove(known)
                version.step = version.step or known.step
            version.tag = known.tag if known is not None else _free_tag(version.digest, versions)
            versions.append(version)
            if known is None or known.step != version.step:
                stored = Version(version.tag, version.digest, part=version.part, step=version.step, at=version.at)
                self._unsaved[_name_of(key, version.tag)] = msgspec.to_builtins(stored, str_keys=True)
            del versions[:-MAX_VERSIONS]
            self._drop_old_paths()
            self._drop_old_texts(version)
            return version.tag

    def _drop_old_paths(self) -> None:
        while len(self._paths) > MAX_PATHS:
            self._paths.popitem(last=False)

    def _drop_old_texts(self, newest: Version) -> None:
        """Least recently used paths first, and of a path the oldest state first."""
        everything = [version for versions in self._paths.values() for version in versions]
        held = sum(version.size for version in everything)
        for version in everything:
            if held <= MAX_HELD:
                return
            if version is not newest:
                held -= version.size
                version.text, version.part, version.size = None, None, 0


def _key(path: Path) -> str:
    """Where it leads; while a link on the way is being exchanged, what it is called."""
    try:
        return real_path(path)
    except Swapped:
        return os.path.abspath(path)


def line_digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=_LINE_DIGEST // 2).hexdigest()


def _name_of(key: str, tag: str) -> str:
    """What a tag is stored under. Paths need not be UTF-8, and may be long."""
    return f"snapshot:{blake2b(os.fsencode(key), digest_size=16).hexdigest()}:{tag}"


def _restored(stored: object) -> Version | None:
    try:
        return msgspec.convert(stored, Version, strict=False)
    except msgspec.ValidationError:
        return None


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=32).hexdigest().upper()


def _with_digest(versions: list[Version], digest: str) -> Version | None:
    return next((version for version in versions if version.digest == digest), None)


def _free_tag(digest: str, versions: list[Version]) -> str:
    taken = {version.tag for version in versions}
    tags = (digest[start : start + 4] for start in range(len(digest) - 3))
    return next((tag for tag in tags if tag not in taken), digest[:4])
