"""The protected set of a workspace while commands run in it, and the placeholders for what must not be made.

Rules:

- The first command computes the set; those that start while others run use the same. A command that runs could
  otherwise exchange a folder that the next sandbox is about to mount as its own: with no command inside, none can.
- A missing path is held by a placeholder, because only what exists can be mounted over: made before the first command,
  read-only for all, removed after the last. What it holds changes nothing for a program that looks at it meanwhile. All
  are noted before the first is made: one left behind by a crash, or that a command took us the right to remove, is
  removed by a later command.
- Where a placeholder cannot be made, its folder is read-only; where that is the workspace itself, no command starts.
- One file for each workspace has what applies: each running command has a shared lock on it; one that can have it alone
  is the first or the last. Sessions in other processes count too. A sandboxed command can have a shared one too, and
  with it blocks no other (see `sightline.locks`).
- A command that joins must find what applies. Without it it is not started: no state never means that nothing is
  protected.
- A file that is replaced from outside (renamed over) loses its mount in the sandboxes that run: a command that joins
  then reports it. Our own tools write such a file in place (`replacing`).
- Placeholders are made and removed through descriptors that follow no link.
"""

import contextlib
import errno
import os
import stat
import time
from collections.abc import Iterable, Iterator
from hashlib import sha256

import msgspec

from sightline import locks, paths
from sightline.exceptions import OutsideFailure
from sightline.settings import Protected, open_entries, protected

_LARGEST = 64 * 1024 * 1024
_SECONDS = 30.0  # for a set that another process computes
_FOLDER = getattr(os, "O_PATH", 0) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ATTEMPTS = 100
_BETWEEN_ATTEMPTS = 0.01

_Identity = tuple[int, int]


class _State(msgspec.Struct, frozen=True):
    """In bytes: names of files need not be text. `in_force`: commands run; otherwise it only has the placeholders that
    are left. `made`: these with their content, in the order they were made. `files`: which file each protected path
    was."""

    in_force: bool

    read_only: tuple[bytes, ...] = ()
    absent: dict[bytes, bytes] = {}
    exposed: tuple[bytes, ...] = ()
    closed: tuple[bytes, ...] = ()
    made: dict[bytes, bytes] = {}
    files: dict[bytes, _Identity] = {}


class Protection:
    """The set in force for one running command; `release` when the command has ended."""

    def __init__(self, workspace: str) -> None:
        """`workspace`: a real path."""
        self._workspace = workspace
        self._lock = _opened(workspace)
        try:
            self.protected = self._entered()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def read_only(self) -> tuple[str, ...]:
        """Everything to mount read-only, placeholders among it."""
        return (*self.protected.read_only, *(path.rstrip(os.sep) for path in self.protected.absent))

    @property
    def opened(self) -> tuple[str, ...]:
        """What can be written in the closed folders."""
        return tuple(path for folder in self.protected.closed for path in open_entries(folder))

    def release(self) -> None:
        try:
            locks.release(self._lock)  # two that end at once would else both find the other
            if locks.acquire(self._lock, "exclusive"):
                self._remove()
        finally:
            os.close(self._lock)

    def _entered(self) -> Protected:
        for _ in range(_ATTEMPTS):
            if locks.acquire(self._lock, "exclusive"):
                return self._first()
            if not locks.acquire(self._lock, "shared", seconds=_SECONDS):
                problem = (
                    f"another process has been preparing {self._workspace} for a command for {_SECONDS:.0f} seconds"
                )
                raise OutsideFailure(problem, "end it, or try again")
            state = _read(self._lock)
            if state is not None and state.in_force:
                return self._joined(state)
            # The last command ended while we waited, or the first could not be started: one of us is the first now.
            locks.release(self._lock)
            time.sleep(_BETWEEN_ATTEMPTS)
        raise OutsideFailure(
            "the list of files that commands in this workspace must not change cannot be read",
            "end them, then try again",
        )

    def _first(self) -> Protected:
        left = self._remove()
        found = protected(self._workspace)
        plan = _plan(self._workspace, found.absent)
        _write(self._lock, _stored(found, left | plan))
        try:
            found = self._made(found, plan, left)
        except BaseException:
            self._remove()
            raise
        locks.acquire(self._lock, "shared")
        return found

    def _made(self, found: Protected, plan: dict[str, str], left: dict[str, str]) -> Protected:
        """The set with what holds it; it is noted when that differs from the plan."""
        failed: dict[str, OSError] = {}
        others = set()
        for path, content in plan.items():
            try:
                _make(self._workspace, path, content)
            except FileExistsError:  # it appeared meanwhile, and is held as it is
                others.add(path)
            except OSError as error:
                failed[path] = error
        if failed or others:
            found = _without(found, self._workspace, failed)
            made = {path: content for path, content in plan.items() if path not in failed and path not in others}
            _write(self._lock, _stored(found, left | made))
        return found

    def _joined(self, state: _State) -> Protected:
        found = _loaded(state)
        gone = [path for path in found.absent if not os.path.lexists(path.rstrip(os.sep))]
        if gone:
            raise OutsideFailure(
                f"{os.path.relpath(gone[0], self._workspace)} was removed while commands run that must not create it",
                "end these commands, then try again",
            )
        replaced = [os.fsdecode(path) for path, identity in state.files.items() if _identity(path) != identity]
        return msgspec.structs.replace(found, exposed=tuple(dict.fromkeys((*found.exposed, *replaced))))

    def _remove(self) -> dict[str, str]:
        """What is left of the placeholders: for lack of rights, which may come back."""
        state = _read(self._lock)
        if state is None:
            return {}
        made = {os.fsdecode(path): content.decode() for path, content in state.made.items()}
        left = [path for path in reversed(made) if not _unmake(self._workspace, path, made[path])]
        os.truncate(self._lock, 0)
        if not left:
            return {}
        left_over = {path: made[path] for path in reversed(left)}
        _write(self._lock, msgspec.structs.replace(_stored(Protected(), left_over), in_force=False))
        return left_over


@contextlib.contextmanager
def replacing(path: str) -> Iterator[bool]:
    """While a tool replaces a file, by its real path: whether a mount stops running commands from writing it,
    which a rename would take off. Otherwise none starts meanwhile."""
    with contextlib.ExitStack() as stack:
        is_held, at = False, os.path.dirname(path)
        while not is_held and at != os.path.dirname(at):
            with contextlib.suppress(FileNotFoundError):
                lock = os.open(_file(at), os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW)
                stack.callback(os.close, lock)
                if locks.acquire(lock, "exclusive"):
                    _retire(lock)
                else:
                    is_held = _is_held(lock, os.fsencode(path))
            at = os.path.dirname(at)
        yield is_held


def _retire(lock: int) -> None:
    """What a killed program left is in force no more: a command that waits for us must not take it over."""
    state = _read(lock)
    if state is not None and state.in_force:
        _write(lock, msgspec.structs.replace(state, in_force=False))


def _is_held(lock: int, path: bytes) -> bool:
    """Whether the commands that run have a mount on it; also when that cannot be read."""
    locks.acquire(lock, "shared", seconds=_SECONDS)  # one that starts now takes it first
    state, size = _read(lock), os.fstat(lock).st_size
    locks.release(lock)  # the last of them must find itself alone
    return size > 0 and (state is None or path in state.read_only or path in state.absent)


def _file(workspace: str) -> str:
    words, device = os.fsencode(workspace), os.stat(workspace).st_dev
    if device != os.stat(os.path.dirname(workspace)).st_dev:  # mounted there: in a working copy, others see other files
        words += b":%d" % device
    return os.path.join(paths.data_folder(), "workspaces", sha256(words).hexdigest()[:32])


def _opened(workspace: str) -> int:
    file = _file(workspace)
    folder = os.path.dirname(file)
    try:
        for each in (os.path.dirname(folder), folder):
            os.makedirs(each, 0o700, exist_ok=True)
        return os.open(file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        problem = f"cannot write in {folder}: {error.strerror}"
        raise OutsideFailure(problem, "free some disk space, or choose another folder with SIGHTLINE_HOME") from error


def _read(lock: int) -> _State | None:
    """None when there is none, or one that was half written when the program was killed."""
    data, size = b"", os.fstat(lock).st_size
    if size > _LARGEST:
        return None
    while len(data) < size:
        more = os.pread(lock, size - len(data), len(data))
        if not more:
            break
        data += more
    try:
        return msgspec.msgpack.decode(data, type=_State) if data else None
    except msgspec.MsgspecError:
        return None


def _write(lock: int, state: _State) -> None:
    data = msgspec.msgpack.encode(state)
    if len(data) > _LARGEST:
        raise OutsideFailure(
            "the workspace has too many files that a command must not change", "work in one of its subfolders"
        )
    os.truncate(lock, 0)
    written = 0
    while written < len(data):
        written += os.pwrite(lock, data[written:], written)


def _stored(found: Protected, made: dict[str, str]) -> _State:
    files = {path: _identity(path) for path in _encoded(found.read_only)}
    return _State(
        in_force=True,
        read_only=_encoded(found.read_only),
        absent={os.fsencode(path): content.encode() for path, content in found.absent.items()},
        exposed=_encoded(found.exposed),
        closed=_encoded(found.closed),
        made={os.fsencode(path): content.encode() for path, content in made.items()},
        files={path: identity for path, identity in files.items() if identity is not None},
    )


def _loaded(state: _State) -> Protected:
    return Protected(
        read_only=tuple(map(os.fsdecode, state.read_only)),
        absent={os.fsdecode(path): content.decode() for path, content in state.absent.items()},
        exposed=tuple(map(os.fsdecode, state.exposed)),
        closed=tuple(map(os.fsdecode, state.closed)),
    )


def _encoded(names: Iterable[str]) -> tuple[bytes, ...]:
    return tuple(map(os.fsencode, names))


def _identity(path: bytes) -> _Identity | None:
    """Of a file; a folder's mount stays whatever is replaced in it."""
    try:
        status = os.lstat(path)
    except OSError:
        return None
    return None if stat.S_ISDIR(status.st_mode) else (status.st_dev, status.st_ino)


def _plan(workspace: str, absent: dict[str, str]) -> dict[str, str]:
    """What to make for these: first the folders they are in, where those are missing."""
    plan: dict[str, str] = {}
    for path, content in absent.items():
        missing, at = [], os.path.dirname(path.rstrip(os.sep))
        while at != workspace and at + os.sep not in plan and not os.path.lexists(at):
            missing.append(at + os.sep)
            at = os.path.dirname(at)
        plan.update(dict.fromkeys(reversed(missing), ""))
        plan[path] = content
    return plan


def _without(found: Protected, workspace: str, failed: dict[str, OSError]) -> Protected:
    """The set where these placeholders could not be made: the folder around each is read-only instead."""
    held = [_held_instead(workspace, path, error) for path, error in failed.items() if path in found.absent]
    return msgspec.structs.replace(
        found,
        read_only=tuple(dict.fromkeys((*(folder for folder in held if folder), *found.read_only))),
        absent={path: content for path, content in found.absent.items() if path not in failed},
    )


def _held_instead(workspace: str, path: str, error: OSError) -> str:
    """Empty where no command can make it either, because the folder is neither writable nor ours."""
    folder = os.path.dirname(path.rstrip(os.sep))
    while folder != workspace and not os.path.lexists(folder):
        folder = os.path.dirname(folder)
    if folder != workspace and not os.path.islink(folder):
        return folder
    is_ours = os.stat(workspace).st_uid == os.geteuid()
    if error.errno == errno.EROFS or (error.errno == errno.EACCES and folder == workspace and not is_ours):
        return ""
    raise OutsideFailure(
        f"a command could create {os.path.relpath(path, workspace)}, and its place cannot be protected: "
        f"{error.strerror}",
        "make the folder writable, or free some disk space",
    )


def _make(workspace: str, path: str, content: str) -> None:
    with _parent(workspace, path) as folder:
        name = os.path.basename(path.rstrip(os.sep))
        if path.endswith(os.sep):
            os.mkdir(name, 0o755, dir_fd=folder)
            return
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
        descriptor = os.open(name, flags, 0o644, dir_fd=folder)
        try:
            os.write(descriptor, content.encode())
        finally:
            os.close(descriptor)


def _unmake(workspace: str, path: str, content: str) -> bool:
    """Only what is still as it was made. False when that is unknown or cannot be done for lack of rights."""
    try:
        with _parent(workspace, path) as folder:
            name = os.path.basename(path.rstrip(os.sep))
            if path.endswith(os.sep):
                os.rmdir(name, dir_fd=folder)
            elif _reads(name, folder, content.encode()):
                os.unlink(name, dir_fd=folder)
    except PermissionError:
        return False
    except OSError:
        pass
    return True


def _reads(name: str, folder: int, content: bytes) -> bool:
    descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
    try:
        return os.read(descriptor, len(content) + 1) == content
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def _parent(workspace: str, path: str) -> Iterator[int]:
    """The folder a path is in, opened from the workspace down."""
    folder = os.open(workspace, _FOLDER)
    try:
        for name in os.path.relpath(path, workspace).split(os.sep)[:-1]:
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
