"""Which working copies there are: a small file for each, so that one left by a killed process is found and removed.

Rules:

- A record is written before anything of a copy is made, and removed last.
- Its owner is the process that opened it, by its id and its time of birth: an id is used again.
- Paths may have any bytes; JSON has surrogates for them, as Python does.
"""

import json
import os
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path

import msgspec

from sightline import locks
from sightline.exceptions import OutsideFailure
from sightline.exec.process._table import process
from sightline.paths import data_folder, private_folder
from sightline.working_copies._facts import CopyKind, MountMode

_ENDING = ".json"
_LOCK_SECONDS = 60.0


class CopyRecord(msgspec.Struct, kw_only=True, frozen=True):
    """`folder` belongs to the caller; what the copy itself needs is in `parts`. `tree` has the files of a worktree or a
    copy. `device` and `inode` are the workspace's. `is_users`: a session of the user's works in it, and it lasts until
    the user removes it. `mount` is an overlay's. `branch`, `commit` (which it began with) and `git_dir` are a
    worktree's."""

    id: str
    workspace: str
    folder: str
    name: str
    kind: CopyKind
    why: str = ""
    device: int
    inode: int
    pid: int
    born: int
    mount: MountMode = "user"
    branch: str = ""
    commit: str = ""
    git_dir: str = ""
    tree: str = ""
    is_users: bool = False

    @property
    def is_whole(self) -> bool:
        """Whether it was made to its end, and its files are there. Without them, all would count as deleted."""
        return (self.parts / "manifest").is_file() and (self.kind == "overlay" or os.path.isdir(self.tree))

    @property
    def parts(self) -> Path:
        return Path(self.folder, "copy")

    @property
    def files(self) -> Path:
        """Where the files are that the agent changed."""
        return self.parts / "upper" if self.kind == "overlay" else Path(self.tree)

    @property
    def patch(self) -> Path:
        return Path(self.folder, "changes.patch")


def records_folder() -> Path:
    return data_folder() / "copies"


def born(pid: int) -> int:
    """When a process began; 0 where there is none."""
    row = process(pid)
    return 0 if row is None or not row.alive else row.born


def write_record(record: CopyRecord) -> None:
    place = private_folder(records_folder()) / f"{record.id}{_ENDING}"
    new = place.with_suffix(".new")
    descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        json.dump(msgspec.structs.asdict(record), file)
        file.flush()
        os.fsync(descriptor)
    new.rename(place)


def remove_record(record: CopyRecord) -> None:
    (records_folder() / f"{record.id}{_ENDING}").unlink(missing_ok=True)


def records() -> list[CopyRecord]:
    """All there are. A file that is none is passed over."""
    found = []
    with suppress(OSError):
        for place in sorted(records_folder().glob(f"*{_ENDING}")):
            with suppress(OSError, ValueError, msgspec.ValidationError):
                record = msgspec.convert(json.loads(place.read_text(encoding="ascii")), CopyRecord)
                if place.stem == record.id:
                    found.append(record)
    return found


class MergeLock:
    """Held by one merge into a workspace at a time, among all processes of the user."""

    def __init__(self, device: int, inode: int) -> None:
        # All locks are in one file, which may stay: each is of one byte of it.
        self._byte = int.from_bytes(blake2b(b"%d:%d" % (device, inode), digest_size=6).digest())
        self._descriptor = -1

    def __enter__(self) -> None:
        private_folder(records_folder())
        path = records_folder() / "merging.lock"
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        if not locks.acquire(descriptor, "exclusive", seconds=_LOCK_SECONDS, start=self._byte, size=1):
            os.close(descriptor)
            raise OutsideFailure("another process is merging into this workspace", "try again when it has finished")
        self._descriptor = descriptor

    def __exit__(self, *_: object) -> None:
        os.close(self._descriptor)
