"""The small files of this room: read within limits, replaced whole or not at all, changed by one program at a time."""

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from sightline import locks
from sightline.exceptions import OutsideFailure
from sightline.handles import NotRegular, ours, read_at_most
from sightline.paths import data_folder, private_folder

LARGEST = 1024 * 1024
SECONDS = 3.0  # until a change by another process is over


class UnreadableFile(OutsideFailure):
    """A file that is there and cannot be read."""

    def __init__(self, path: Path, why: str) -> None:
        super().__init__(f"cannot read {path}: {why}", "fix or remove the file")
        self.why = why


def read_small(path: Path) -> bytes | None:
    """What a file holds; None when there is none. Unreadable when it is no file, too big, or may not be read."""
    try:
        with ours(path):
            data = read_at_most(path, LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except NotRegular:
        raise UnreadableFile(path, "not a file") from None
    except OSError as error:
        raise UnreadableFile(path, error.strerror or str(error)) from None
    refuse_large(path, data)
    return data


def refuse_large(path: Path, data: bytes) -> None:
    if len(data) > LARGEST:
        raise UnreadableFile(path, f"larger than {LARGEST // 1024} KB")


def replace(path: Path, data: bytes, *, private: bool = True) -> None:
    """Replace a file whole. A link stays one, an old file's mode too; a private new file is for its owner only."""
    import tempfile

    path = Path(os.path.realpath(path))
    try:
        _make_folder(path.parent, private=private)
        descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        with open(descriptor, "wb") as file:
            os.fchmod(descriptor, _mode(path, 0o600 if private else 0o644))
            file.write(data)
            file.flush()
            os.fsync(descriptor)
        os.replace(name, path)
    except OSError as error:
        os.unlink(name)
        raise _unwritable(path, error) from None


def _make_folder(folder: Path, *, private: bool) -> None:
    if private:
        private_folder(folder)
    else:
        folder.mkdir(parents=True, exist_ok=True)


def _mode(path: Path, otherwise: int) -> int:
    try:
        return path.stat().st_mode & 0o777
    except FileNotFoundError:
        return otherwise


def _unwritable(path: Path, error: OSError) -> OutsideFailure:
    return OutsideFailure(f"cannot write {path}: {error.strerror or error}", "check that its folder is writable")


@contextlib.contextmanager
def held(path: Path, *, private: bool = True) -> Iterator[None]:
    """One lock for all such files of a user. OutsideFailure when another process has it for too long."""
    lock = data_folder() / "settings.lock"
    try:
        _make_folder(path.parent, private=private)
        private_folder(lock.parent)
        # Without the right to read it: who may read a file can lock it against writers.
        descriptor = os.open(lock, os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o200)
    except OSError as error:
        raise _unwritable(path, error) from None
    try:
        if not locks.acquire(descriptor, "exclusive", seconds=SECONDS):
            problem = f"cannot change {path}: {lock} is locked by another process"
            raise OutsideFailure(problem, "wait for the process that holds it, or end it, and try again")
        yield
    finally:
        os.close(descriptor)
