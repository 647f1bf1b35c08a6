"""Paths that are to be protected, each judged by how a sandbox can hold it.

Rules:

- What exists is mounted read-only; what is missing and would count is `absent`.
- Missing is only what the system reports as missing. What cannot be looked at (a command can take away the right to) is
  held with the nearest folder above it that can be seen; where that is the workspace itself, it is `exposed`.
- A link in a writable folder can be replaced, and a file with a second name can be written by that: no sandbox holds
  these. Every link on the way counts, not only the first and the last.
- In a `closed` folder nothing can be made or replaced: links directly in it are held.
"""

import os
import stat
from itertools import islice

import msgspec

_LINKS_AT_MOST = 256  # in one folder
_STEPS_AT_MOST = 40  # links on the way to one file, as the kernel has it


class Protected(msgspec.Struct, frozen=True, kw_only=True):
    """In one workspace, by absolute paths. `read_only`: real paths of what exists. `absent`: what must not be made,
    with a content that changes nothing; a folder ends with `/`. `exposed`: what no sandbox can hold. `closed`: folders
    in which nothing new is made, while what is visible in them can be written."""

    read_only: tuple[str, ...] = ()
    absent: dict[str, str] = {}
    exposed: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()

    @property
    def all(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.files, *self.closed)))

    @property
    def files(self) -> tuple[str, ...]:
        """What no tool writes unasked: all but the closed folders, in which people work."""
        return tuple(dict.fromkeys((*self.exposed, *self.read_only, *(path.rstrip("/") for path in self.absent))))


class GatheredPaths:
    """What was found so far."""

    def __init__(self, root: str) -> None:
        self.root = root
        self._seen: set[tuple[str, str | None]] = set()
        self._real = {root}
        self._read_only: set[str] = set()
        self._absent: dict[str, str] = {}
        self._exposed: set[str] = set()
        self._unread: set[str] = set()
        self._closed: set[str] = set()

    def sorted(self) -> Protected:
        absent = (path for path in sorted(self._absent) if not self._is_held_above(path))
        exposed = (path for path in self._exposed if os.path.dirname(path) not in self._closed)
        return Protected(
            read_only=tuple(sorted(each for each in self._read_only if not self._is_inside_another(each))),
            absent={path: self._absent[path] for path in absent},
            exposed=tuple(sorted({*self._unread, *(each for each in exposed if not self._is_inside_another(each))})),
            closed=tuple(sorted(self._closed)),
        )

    def add(self, path: str, absent: str | None = None) -> None:
        """A path that is protected where it exists; with `absent`, also where it does not."""
        if (path, absent) in self._seen or not self._is_below(path):
            return
        self._seen.add((path, absent))
        try:
            real = self._is_real(os.path.dirname(path))
            status = _status(path) if real else None
        except OSError:
            self.hold(os.path.dirname(path))
            return
        if not real or (status is not None and stat.S_ISLNK(status.st_mode)):
            self._follow(path, absent)
        elif status is not None:
            if stat.S_ISREG(status.st_mode) and status.st_nlink > 1:
                self._exposed.add(path)
            self._read_only.add(path)
        elif absent is not None:
            self._absent[path] = absent

    def add_file(self, path: str) -> None:
        """Protected if it is a file, or may be one; a folder is not."""
        try:
            is_file = stat.S_ISREG(os.stat(path).st_mode)
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return
        except OSError:
            is_file = True
        if is_file:
            self.add(path)

    def add_folder(self, path: str) -> None:
        """A folder whose files run by themselves, or that must stay missing; and what its links lead to."""
        self.add(path)
        if not self._is_below(path):
            return
        try:
            with os.scandir(path) as found:
                links = [entry.path for entry in islice(found, _LINKS_AT_MOST) if entry.is_symlink()]
        except FileNotFoundError:
            self.add_missing_folder(path)
            return
        except OSError:  # no folder, or none that can be looked into: read-only whatever is in it
            return
        for link in links:
            self.add(link, absent="")

    def add_missing_folder(self, path: str) -> None:
        try:
            if self._is_below(path) and not os.path.lexists(path) and self._is_real(os.path.dirname(path)):
                self._absent[path + os.sep] = ""
        except OSError:
            self.hold(os.path.dirname(path))

    def hold(self, folder: str) -> None:
        """Of a folder that cannot be looked into: it is read-only with the nearest one that can be seen."""
        at = folder
        while self._is_below(at):
            try:
                if _status(at) is not None and self._is_real(at):
                    self._read_only.add(at)
                    return
            except OSError:
                pass
            at = os.path.dirname(at)
        if at == self.root:
            self._exposed.add(at)

    def close(self, folder: str) -> None:
        self._closed.add(folder)

    def expose(self, path: str) -> None:
        if is_in(path, self.root):
            self._exposed.add(path)

    def expose_unread(self, path: str) -> None:
        """A file that names others and cannot be read: it may be held itself, but not what it names."""
        if is_in(path, self.root):
            self._unread.add(path)

    def expose_links(self, path: str) -> str:
        """Each link on the way in the workspace: who can replace one decides where the rest leads. Returns where it
        leads now; empty when that is nowhere."""
        at, steps, rest = os.sep, 0, path.split(os.sep)[::-1]
        while rest:
            name = rest.pop()
            if name in ("", ".", ".."):
                at = os.path.dirname(at) if name == ".." else at
                continue
            at = os.path.join(at, name)
            try:
                target = os.readlink(at)
            except OSError:
                continue
            self.expose(at)
            steps += 1
            if steps > _STEPS_AT_MOST:
                return ""
            at = os.sep if os.path.isabs(target) else os.path.dirname(at)
            rest += target.split(os.sep)[::-1]
        return at

    def _follow(self, path: str, absent: str | None) -> None:
        target = self.expose_links(path)
        if target and target != path:
            self.add(target, absent)

    def _is_below(self, path: str) -> bool:
        return path != self.root and is_in(path, self.root)

    def _is_real(self, folder: str) -> bool:
        """Whether no link is on the way to a folder of the workspace, as far as there is one."""
        unknown = []
        while folder not in self._real:
            unknown.append(folder)
            folder = os.path.dirname(folder)
        for each in reversed(unknown):
            status = _status(each)
            if status is not None and stat.S_ISLNK(status.st_mode):
                return False
            self._real.add(each)
        return True

    def _is_inside_another(self, path: str) -> bool:
        above = os.path.dirname(path.rstrip(os.sep))
        while len(above) > len(self.root):
            if above in self._read_only or above + os.sep in self._absent:
                return True
            above = os.path.dirname(above)
        return False

    def _is_held_above(self, path: str) -> bool:
        """Whether a missing path cannot be made anyway."""
        if self._is_inside_another(path):
            return True
        for folder in self._closed:
            if is_in(path, folder):
                first = os.path.relpath(path, folder).split(os.sep)[0]
                return not os.path.lexists(os.path.join(folder, first))
        return False


def _status(path: str) -> os.stat_result | None:
    """None where there is nothing; OSError where that cannot be known."""
    try:
        return os.lstat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return None


def is_in(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)
