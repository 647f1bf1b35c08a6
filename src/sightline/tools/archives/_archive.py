"""One archive, open for reading: what is in it, and the bytes of an entry.

Entries whose names would land outside the folder they are unpacked in (`..`, absolute names, drive letters) are not
offered, only counted. Links and devices are listed, never followed. Of several entries with one name the last counts,
as it does when an archive is unpacked.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, Protocol

import msgspec

from sightline.handles import NotRegular, open_regular
from sightline.tools._tool import ToolError
from sightline.tools._truncation import human_size
from sightline.tools.archives._limits import ENTRIES, ArchiveTrouble
from sightline.tools.archives._names import normalize_entry, safe_name
from sightline.tools.files._paths import shown
from sightline.tools.files._regular import kind_of

LIST_LIMIT = 500


class ArchiveEntry(msgspec.Struct, frozen=True):
    """One entry, by the archive's own list. `special`: why it cannot be read as a file, if it cannot."""

    name: str
    size: int
    is_folder: bool
    special: str = ""
    place: int = 0  # which of the archive's entries it is


class Child(msgspec.Struct, frozen=True):
    name: str
    is_folder: bool
    size: int = 0
    special: str = ""

    def __str__(self) -> str:
        if self.is_folder:
            return f"{self.name}/"
        note = self.special or (human_size(self.size) if self.size > 0 else "")
        return f"{self.name} ({note})" if note else self.name


class ArchiveListing(msgspec.Struct, frozen=True):
    text: str
    shown: int
    total: int


class ArchiveKind(Protocol):
    """A kind of archive."""

    def entries(self) -> Iterator[ArchiveEntry]: ...

    def read(self, entry: ArchiveEntry) -> bytes: ...

    def close(self) -> None: ...


class Archive:
    """Made by `Archive.open`; a context manager. Every failure is a ToolError."""

    def __init__(self, path: Path, container: ArchiveKind) -> None:
        self.path = path
        self.unsafe = 0  # entries that are not offered because of their names
        self._container = container
        self._files: dict[str, ArchiveEntry] = {}
        self._folders: dict[str, dict[str, Child]] = {"": {}}

    @classmethod
    def open(cls, path: Path) -> "Archive":
        try:
            file = os.fdopen(open_regular(path), "rb")
        except NotRegular as problem:
            raise ToolError(f"Cannot read archive {path.name}: it is {kind_of(problem.mode)}.") from None
        except FileNotFoundError as problem:
            raise ToolError(f"Archive '{path}' not found.") from problem
        except OSError as problem:
            raise ToolError(f"Cannot read archive {path.name}: {problem.strerror or problem}.") from problem
        return cls.of(path, file)

    @classmethod
    def of(cls, path: Path, file: BinaryIO) -> "Archive":
        """Of an open file, which is closed with the archive; `path` is for its name."""
        with trouble_named(path):
            archive = cls(path, _container(path, file))
            try:
                archive._index()
            except BaseException:
                archive.close()
                raise
        return archive

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        self._container.close()

    def is_file(self, inner: str) -> bool:
        return normalize_entry(inner) in self._files

    def is_folder(self, inner: str) -> bool:
        return normalize_entry(inner) in self._folders

    def files(self) -> list[str]:
        """The names of all entries that can be read, in order."""
        return sorted(name for name, entry in self._files.items() if not entry.special)

    def list(self, folder: str = "") -> "list[Child]":
        """What is directly in a folder, folders first."""
        name = normalize_entry(folder)
        if name in self._files:
            raise ToolError(f"'{name}' in {self.path.name} is a file, not a folder.")
        if name not in self._folders:
            raise ToolError(f"'{name}' not found in {self.path.name}.{self._offer(name)}")
        return sorted(self._folders[name].values(), key=lambda child: (not child.is_folder, child.name))

    def listing(self, folder: str = "", limit: int = LIST_LIMIT) -> ArchiveListing:
        """A folder as text, at most `limit` children of it."""
        children = self.list(folder)
        lines = [str(child) for child in children[:limit]] or ["(empty archive directory)"]
        if len(children) > limit:
            lines.append(f"[{limit} of {len(children)} entries shown; name a folder inside to see fewer]")
        if self.unsafe and not normalize_entry(folder):
            lines.append(f"[{self.unsafe} entries with names that lead out of the archive are not shown]")
        return ArchiveListing("\n".join(lines), min(len(children), limit), len(children))

    def read(self, inner: str) -> bytes:
        """An entry's bytes."""
        name = normalize_entry(inner)
        entry = self._files.get(name)
        if entry is None:
            if name in self._folders:
                raise ToolError(f"'{name}' in {self.path.name} is a folder. Read it as {self.path.name}:{name}/")
            raise ToolError(f"'{name}' not found in {self.path.name}.{self._offer(name)}")
        if entry.special:
            raise ToolError(f"Archive entry '{name}' is {entry.special}; it is not followed. Read what it points to.")
        with trouble_named(self.path):
            return self._container.read(entry)

    def _index(self) -> None:
        for count, entry in enumerate(self._container.entries(), start=1):
            if count > ENTRIES:
                raise ArchiveTrouble(f"it has more than {ENTRIES} entries. List it with a command.")
            name = safe_name(entry.name)
            if name is None:
                self.unsafe += 1
            elif name:
                self._add(shown(name), entry)

    def _add(self, name: str, entry: ArchiveEntry) -> None:
        parent, _, last = name.rpartition("/")
        self._add_folders(name if entry.is_folder else parent)
        if entry.is_folder or name in self._folders:
            return
        self._files[name] = entry
        self._folders[parent][last] = Child(last, False, entry.size, entry.special)

    def _add_folders(self, folder: str) -> None:
        parent = ""
        for last in folder.split("/") if folder else ():
            name = f"{parent}/{last}" if parent else last
            if name not in self._folders:
                self._folders[name] = {}
                # It takes the place of a file of the same name: what is below it can be reached then.
                self._files.pop(name, None)
                self._folders[parent][last] = Child(last, True)
            parent = name

    def _offer(self, name: str) -> str:
        """Entries with the same last name, to choose from."""
        last = name.rpartition("/")[2]
        alike = [known for known in self._files if known.rpartition("/")[2] == last][:3]
        return f" Did you mean {', '.join(alike)}?" if alike else f" Read {self.path.name} to see what is in it."


def _container(path: Path, file: BinaryIO) -> ArchiveKind:
    try:
        if path.name.lower().endswith(".zip"):
            from sightline.tools.archives._zip import ZipContainer

            return ZipContainer(file)
        from sightline.tools.archives._tar import TarContainer

        return TarContainer(file)
    except BaseException:
        file.close()
        raise


@contextmanager
def trouble_named(path: Path) -> Iterator[None]:
    """Whatever the standard library makes of a damaged archive, one ToolError that names the archive."""
    import struct
    import tarfile
    import zipfile
    import zlib

    try:
        yield
    except ToolError as problem:
        raise ToolError(f"Cannot read archive {path.name}: {problem.message}") from problem
    except (
        ArithmeticError, EOFError, LookupError, MemoryError, NotImplementedError, OSError, RecursionError, RuntimeError,
        ValueError, struct.error, tarfile.TarError, zipfile.BadZipFile, zlib.error,
    ) as problem:  # fmt: skip
        reason = getattr(problem, "strerror", None) or str(problem) or type(problem).__name__
        raise ToolError(
            f"Cannot read archive {path.name}: {reason}. It is damaged or not of the kind its name says."
        ) from problem
