"""Replacing a file so that nobody ever sees half of it.

Rules:

- The new content is written to a file that has no name yet (Linux), or to a hidden one beside the target, synced, and
  renamed over the target. Killed at any moment, the target is the old or the new file, whole.
- A link is followed: its target is replaced, the link stays. Mode, owner, group and extended attributes are kept.
- A file the user may not write is not replaced, although its folder would allow it.
- A file with several names (hard links) becomes a file of its own under this name: the others keep the old content.
"""

import errno
import os
import stat
from contextlib import suppress
from pathlib import Path

from sightline.tools._regular import kind_of
from sightline.tools._tool import ToolError

# An unnamed file gets its name through /proc.
_UNNAMED: int | None = getattr(os, "O_TMPFILE", None) if os.path.isdir("/proc/self/fd") else None
# What a file system without unnamed files answers; any other failure is a real one.
_NO_UNNAMED = frozenset({errno.EOPNOTSUPP, errno.EISDIR, errno.ENOENT, errno.EINVAL, errno.ENOTSUP})
_ATTEMPTS = 100


def replace_file(path: Path, data: bytes) -> Path:
    """Make this the content of a file. Returns the file really replaced; ToolError when it cannot be."""
    target = real_target(path)
    try:
        _replace(target, data)
    except OSError as problem:
        raise ToolError(f"Cannot write {path}: {problem.strerror or problem}. The file is unchanged.") from problem
    return target


def real_target(path: Path) -> Path:
    """The file that writing to `path` changes: links followed. ToolError when it is nothing that can be replaced."""
    target = Path(os.path.realpath(path))
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return target
    except (OSError, ValueError) as problem:
        raise ToolError(f"Cannot write {path}: {getattr(problem, 'strerror', None) or problem}.") from problem
    if stat.S_ISREG(mode):
        return target
    raise ToolError(f"Cannot write {path}: it is {kind_of(mode)}. Give the path of a regular file.")


def _replace(target: Path, data: bytes) -> None:
    before = _state(target)
    if before is not None and not os.access(target, os.W_OK):
        raise PermissionError(errno.EACCES, "the file is read-only")
    handle, name = _open_new(target, 0o600 if before else 0o666)
    try:
        try:
            _write_all(handle, data)
            if before is not None:
                _dress(handle, target, before)
            os.fsync(handle)
            if name is None:
                name = _give_name(handle, target)
        finally:
            os.close(handle)
        os.replace(name, target)
    except BaseException:
        if name is not None:
            with suppress(OSError):
                os.unlink(name)
        raise


def _state(target: Path) -> os.stat_result | None:
    try:
        return target.stat()
    except FileNotFoundError:
        return None


def _open_new(target: Path, mode: int) -> tuple[int, Path | None]:
    """A new file in the target's folder: without a name where the file system can, so that a kill leaves nothing."""
    if _UNNAMED is not None:
        try:
            return os.open(target.parent, _UNNAMED | os.O_WRONLY | os.O_CLOEXEC, mode), None
        except OSError as problem:
            if problem.errno not in _NO_UNNAMED:
                raise
    for _ in range(_ATTEMPTS):
        name = _free_name(target)
        with suppress(FileExistsError):
            return os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, mode), name
    raise FileExistsError(errno.EEXIST, "no free name for a temporary file beside it")


def _give_name(handle: int, target: Path) -> Path:
    for _ in range(_ATTEMPTS):
        name = _free_name(target)
        with suppress(FileExistsError):
            # Python follows the link only when it is told a folder, which an absolute path then does not use.
            os.link(f"/proc/self/fd/{handle}", name, src_dir_fd=handle, follow_symlinks=True)
            return name
    raise FileExistsError(errno.EEXIST, "no free name for a temporary file beside it")


def _free_name(target: Path) -> Path:
    # Not made from the target's name, which may already be as long as a name can be.
    return target.parent / f".sightline-{os.getpid()}-{os.urandom(8).hex()}.tmp"


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]


def _dress(handle: int, target: Path, before: os.stat_result) -> None:
    """Give the new file what the old one had. An owner that cannot be kept also costs the set-id bits."""
    mode = stat.S_IMODE(before.st_mode)
    now = os.fstat(handle)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(handle, before.st_uid, before.st_gid)
        except OSError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID)
    if hasattr(os, "listxattr"):
        _keep_attributes(handle, target)
    os.fchmod(handle, mode)


def _keep_attributes(handle: int, target: Path) -> None:
    names: list[str] = []
    with suppress(OSError):
        names = os.listxattr(target)
    for name in names:
        with suppress(OSError):  # some belong to the system alone
            os.setxattr(handle, name, os.getxattr(target, name))
