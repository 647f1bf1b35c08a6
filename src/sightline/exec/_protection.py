"""The protected set of a workspace while commands run in it, and the placeholders for what must not be made.

Rules:

- The first command computes the set; those that start while others run use the same. A command that runs could
  otherwise exchange a folder that the next sandbox is about to mount as its own: with nobody inside, nobody can.
- A missing path is held by a placeholder, because only what exists can be mounted over: made before the first command,
  read-only for all, removed after the last. What it holds changes nothing for a program that looks at it meanwhile. One
  left behind by a crash is removed by the next command.
- One file for each workspace says what holds: whoever runs a command has a shared lock on it; whoever can have it alone
  is the first or the last. Sessions in other processes count too. A sandboxed command can have a shared one too,
  and with it keeps nobody waiting (see `sightline.locks`).
- Placeholders are made and removed through descriptors that follow no link.
"""

import contextlib
import os
from collections.abc import Iterator
from hashlib import sha256

import msgspec

from sightline import locks, paths
from sightline.exceptions import OutsideFailure
from sightline.settings import Protected, protected

_LARGEST = 1024 * 1024
_SECONDS = 30.0  # for a set that another process computes
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class _State(msgspec.Struct, frozen=True):
    """`made`: placeholders with their content, in the order they were made."""

    protected: Protected
    made: dict[str, str] = {}


class Protection:
    """The set in force for one running command; `release` when the command has ended."""

    def __init__(self, workspace: str) -> None:
        """`workspace`: a real path."""
        self._workspace = workspace
        self._lock = _opened(workspace)
        try:
            self.protected = self._first() if locks.acquire(self._lock, "exclusive") else self._joined()
        except BaseException:
            os.close(self._lock)
            raise

    @property
    def read_only(self) -> tuple[str, ...]:
        """Everything to mount read-only, placeholders among it."""
        held = (path.rstrip(os.sep) for path in self.protected.absent)
        return (*self.protected.read_only, *(path for path in held if os.path.lexists(path)))

    def release(self) -> None:
        try:
            locks.release(self._lock)  # two that end at once would else both find the other
            if locks.acquire(self._lock, "exclusive"):
                self._remove(_read(self._lock))
        finally:
            os.close(self._lock)

    def _first(self) -> Protected:
        self._remove(_read(self._lock))  # of a program that was killed
        found = protected(self._workspace)
        made: dict[str, str] = {}
        try:
            for path, content in found.absent.items():
                _make(self._workspace, path, content, made)
        finally:
            if found != Protected():
                _write(self._lock, _State(found, made))
        locks.acquire(self._lock, "shared")
        return found

    def _joined(self) -> Protected:
        if not locks.acquire(self._lock, "shared", seconds=_SECONDS):
            said = f"another process has been preparing {self._workspace} for a command for {_SECONDS:.0f} seconds"
            raise OutsideFailure(said, "end it, or try again")
        state = _read(self._lock)
        return Protected() if state is None else state.protected

    def _remove(self, state: _State | None) -> None:
        if state is None:
            return
        for path, content in reversed(state.made.items()):
            _unmake(self._workspace, path, content)
        os.truncate(self._lock, 0)


def _opened(workspace: str) -> int:
    folder = paths.data_folder() / "workspaces"
    try:
        for each in (folder.parent, folder):
            os.makedirs(each, 0o700, exist_ok=True)
        name = sha256(os.fsencode(workspace)).hexdigest()[:32]
        return os.open(folder / name, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        said = f"cannot write in {folder}: {error.strerror}"
        raise OutsideFailure(said, "make room, or move it elsewhere with SIGHTLINE_HOME") from error


def _read(lock: int) -> _State | None:
    data = os.pread(lock, _LARGEST, 0)
    try:
        return msgspec.json.decode(data, type=_State) if data else None
    except msgspec.MsgspecError:  # half written when the program was killed
        return None


def _write(lock: int, state: _State) -> None:
    os.truncate(lock, 0)
    os.pwrite(lock, msgspec.json.encode(state), 0)


def _make(workspace: str, path: str, content: str, made: dict[str, str]) -> None:
    """Whatever cannot be made here cannot be made by a command either: it has no more rights."""
    with contextlib.suppress(OSError), _parent(workspace, path, made) as folder:
        name = os.path.basename(path.rstrip(os.sep))
        if path.endswith(os.sep):
            os.mkdir(name, 0o755, dir_fd=folder)
        else:
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW
            descriptor = os.open(name, flags, 0o644, dir_fd=folder)
            try:
                os.write(descriptor, content.encode())
            finally:
                os.close(descriptor)
        made[path] = content


def _unmake(workspace: str, path: str, content: str) -> None:
    """Only what is still as it was made."""
    with contextlib.suppress(OSError), _parent(workspace, path) as folder:
        name = os.path.basename(path.rstrip(os.sep))
        if path.endswith(os.sep):
            os.rmdir(name, dir_fd=folder)
            return
        descriptor = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC, dir_fd=folder)
        try:
            is_ours = os.read(descriptor, len(content) + 1) == content.encode()
        finally:
            os.close(descriptor)
        if is_ours:
            os.unlink(name, dir_fd=folder)


@contextlib.contextmanager
def _parent(workspace: str, path: str, made: dict[str, str] | None = None) -> Iterator[int]:
    """The folder a path is in, opened from the workspace down; with `made`, missing ones are made and noted there."""
    at, folder = workspace, os.open(workspace, _FOLDER)
    try:
        for name in os.path.relpath(path, workspace).split(os.sep)[:-1]:
            at = os.path.join(at, name)
            if made is not None:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(name, 0o755, dir_fd=folder)
                    made[at + os.sep] = ""
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
