"""Replacing a file so that no reader ever sees half of it, and no two writers work on each other's old content.

Rules:

- The new content is written to a file that has no name yet (Linux), or to a hidden one beside the target, synced, and
  moved to the target. Killed at any moment, the target is the old or the new file, whole, and beside it is nothing
  (see `_file_lock`).
- A link is followed: its target is replaced, the link stays. Mode, owner, group and extended attributes stay.
- A file the user may not write is not replaced, although its folder would allow it.
- A file with several names (hard links) becomes a file of its own under this name: the others have the old content.
- Except what a mount protects from running commands (`exec.replacing`): replacing the file would take the mount off. It
  is written in place.
- All of it happens in the folder that was judged, held open (see `sightline.handles`).
- Which agent wrote it is recorded (see `_write_ledger`).
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from sightline.exec import replacing
from sightline.handles import FolderEntry, entry, path_of, read_bytes, real_path
from sightline.tools._tool import ToolError
from sightline.tools.files._file_lock import TEMPORARY, FileLock, locked
from sightline.tools.files._regular import kind_of
from sightline.tools.files._write_ledger import recorded

# An unnamed file gets its name through /proc.
_UNNAMED: int | None = getattr(os, "O_TMPFILE", None) if os.path.isdir("/proc/self/fd") else None
# What a file system without unnamed files answers; any other failure is a real one.
_NO_UNNAMED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.ENOTSUP})
# What a file system answers that cannot have a file of another folder.
_NO_MOVE = frozenset({errno.EXDEV, errno.EPERM, errno.EACCES, errno.EMLINK, errno.EOPNOTSUPP})
_ATTEMPTS = 100


class Writing:
    """A file locked for writing: its content, and its replacement."""

    def __init__(self, target: FolderEntry, lock: FileLock, shown: Path, *, private: bool = False) -> None:
        self._target = target
        self._lock = lock
        self._shown = shown
        self._read: bytes | None = None  # the content, once all of it was read
        self._mode = 0o600 if private else 0o666  # of a new file

    @property
    def path(self) -> Path:
        """The file really written."""
        return self._target.path

    def exists(self) -> bool:
        return self._target.status() is not None

    def content(self, most: int) -> bytes | None:
        """At most one byte more than `most`; None when there is no file."""
        with self._explained():
            try:
                descriptor = self._target.open_regular()
            except FileNotFoundError:
                return None
            try:
                data = read_bytes(descriptor, most + 1)
            finally:
                os.close(descriptor)
        self._read = data if len(data) <= most else None
        return data

    def replace(self, data: bytes, *, executable: bool = False) -> bool:
        """Make this the content. `executable`: all who may read it may run it; whether that changed its mode."""
        with self._explained(), recorded(self.path, self._read, data):
            changed = self._replace(data, executable=executable)
        self._read = data
        return changed

    def remove(self) -> None:
        with self._explained():
            os.unlink(self._target.name, dir_fd=self._target.folder)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as problem:
            reason = problem.strerror or problem
            raise ToolError(f"Cannot write {self._shown}: {reason}. The file is unchanged.") from problem

    def _replace(self, data: bytes, *, executable: bool) -> bool:
        with _old(self._target) as old:
            _check_replaceable(self._target, old, self._shown)
            with replacing(str(self._target.path)) as is_held:
                if old is not None and is_held:
                    return self._overwrite(data, executable=executable)
                return self._exchange(data, old, executable=executable)

    def _overwrite(self, data: bytes, *, executable: bool) -> bool:
        descriptor = self._target.open(os.O_WRONLY)
        try:
            _write_all(descriptor, data)
            os.ftruncate(descriptor, len(data))
            changed = executable and _make_executable(descriptor)
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        return changed

    def _exchange(self, data: bytes, old: int | None, *, executable: bool) -> bool:
        descriptor, name = self._new_file(self._mode if old is None else 0o600)
        try:
            try:
                _write_all(descriptor, data)
                if old is not None:
                    _dress(descriptor, old, self._target)
                changed = executable and _make_executable(descriptor)
                os.fsync(descriptor)
                if name is None:
                    self._move_unnamed(descriptor, is_new=old is None)
                else:
                    self._move(name)
            finally:
                os.close(descriptor)
        except BaseException:
            if name is not None:
                self._unlink(name)
            raise
        return changed

    def _new_file(self, mode: int) -> tuple[int, str | None]:
        """In the target's folder: without a name where the file system can, else with one beside it."""
        folder = self._target.folder
        if _UNNAMED is not None:
            try:
                return os.open(".", _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=folder), None
            except OSError as problem:
                if problem.errno not in _NO_UNNAMED:
                    raise
        for name in self._free_names():
            with suppress(FileExistsError):
                return os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode, dir_fd=folder), name
        raise _no_name()

    def _move_unnamed(self, descriptor: int, *, is_new: bool) -> None:
        if is_new:
            try:
                return _link(descriptor, self._target.name, self._target.folder)
            except FileExistsError:
                pass  # made by another program at this moment: replaced like any other
        try:
            _link(descriptor, self._lock.new)
        except OSError as problem:
            if problem.errno not in _NO_MOVE:
                raise
            return self._move(self._linked_beside(descriptor))
        try:
            os.replace(self._lock.new, self._target.name, dst_dir_fd=self._target.folder)
        except BaseException:
            os.unlink(self._lock.new)
            raise

    def _linked_beside(self, descriptor: int) -> str:
        for name in self._free_names():
            with suppress(FileExistsError):
                _link(descriptor, name, self._target.folder)
                return name
        raise _no_name()

    def _move(self, name: str) -> None:
        folder = self._target.folder
        try:
            os.replace(name, self._target.name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            self._unlink(name)
            raise

    def _unlink(self, name: str) -> None:
        with suppress(OSError):
            os.unlink(name, dir_fd=self._target.folder)

    def _free_names(self) -> Iterator[str]:
        """Each is noted before it can be used."""
        for _ in range(_ATTEMPTS):
            name = _free_name()
            self._lock.note(str(self._target.path.with_name(name)))
            yield name


@contextmanager
def writing(path: Path, *, make_folders: bool = False, private: bool = False) -> Iterator[Writing]:
    """A file, locked for writing. ToolError when it cannot be. `private`: what is made is for its owner alone."""
    mode = 0o700 if private else 0o777
    with ExitStack() as stack:
        try:
            target = stack.enter_context(entry(path, "write", make_folders=mode if make_folders else None))
            _check_replaceable(target, None, path)
        except (OSError, ValueError) as problem:
            reason = getattr(problem, "strerror", None) or problem
            raise ToolError(f"Cannot write {path}: {reason}. The file is unchanged.") from problem
        yield Writing(target, stack.enter_context(locked(target)), path, private=private)


def replace_file(path: Path, data: bytes) -> Path:
    """Make this the content of a file. Returns the file really replaced; ToolError when it cannot be."""
    with writing(path) as file:
        file.replace(data)
        return file.path


def refuse_special(path: Path) -> None:
    """ToolError when what `path` leads to is nothing that can be replaced."""
    try:
        mode = os.stat(real_path(path), follow_symlinks=False).st_mode
    except FileNotFoundError:
        return
    except (OSError, ValueError) as problem:
        raise ToolError(f"Cannot write {path}: {getattr(problem, 'strerror', None) or problem}.") from problem
    _refuse_special(mode, path)


def _refuse_special(mode: int, path: Path) -> None:
    if not stat.S_ISREG(mode):
        raise ToolError(f"Cannot write {path}: it is {kind_of(mode)}. Give the path of a regular file.")


def _check_replaceable(target: FolderEntry, old: int | None, path: Path) -> None:
    status = target.status()
    if status is not None:
        _refuse_special(status.st_mode, path)
    if old is not None and not os.access(path_of(old, target.path), os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")


@contextmanager
def _old(target: FolderEntry) -> Iterator[int | None]:
    """The file that is replaced, open without the right to read it; None when there is none."""
    try:
        descriptor = target.open(getattr(os, "O_PATH", os.O_RDONLY))
    except FileNotFoundError:
        yield None
        return
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _link(descriptor: int, name: str, folder: int | None = None) -> None:
    # Python follows the link only when it gets a folder, which an absolute path then does not use.
    source = f"/proc/self/fd/{descriptor}"
    os.link(source, name, src_dir_fd=descriptor, dst_dir_fd=folder, follow_symlinks=True)


def _free_name() -> str:
    # Not made from the target's name, which may already be as long as a name can be.
    return f"{TEMPORARY[0]}{os.getpid()}-{os.urandom(8).hex()}{TEMPORARY[1]}"


def _no_name() -> FileExistsError:
    return FileExistsError(errno.EEXIST, "no free name for a temporary file beside it")


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def _make_executable(descriptor: int) -> bool:
    """A file system without modes is no reason to fail."""
    try:
        mode = stat.S_IMODE(os.fstat(descriptor).st_mode)
        executable = mode | (mode & 0o444) >> 2
        if executable == mode:
            return False
        os.fchmod(descriptor, executable)
        return stat.S_IMODE(os.fstat(descriptor).st_mode) == executable
    except OSError:
        return False


def _dress(descriptor: int, old: int, target: FolderEntry) -> None:
    """Give the new file what the old one had. An owner that cannot be set also costs the set-id bits."""
    before, now = os.fstat(old), os.fstat(descriptor)
    mode = stat.S_IMODE(before.st_mode)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except OSError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if hasattr(os, "listxattr"):
        _copy_attributes(descriptor, path_of(old, target.path))
    os.fchmod(descriptor, mode)


def _copy_attributes(descriptor: int, old: str) -> None:
    names: list[str] = []
    with suppress(OSError):
        names = os.listxattr(old)
    for name in names:
        with suppress(OSError):  # some belong to the system alone
            os.setxattr(descriptor, name, os.getxattr(old, name))
