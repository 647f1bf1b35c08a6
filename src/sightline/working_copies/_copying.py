"""Files copied from the workspace into a folder of the agent's own, shared with it on disk where the file system can.

Used for a plain copy and for a git worktree, which is filled here and not by git: the agent gets every file as the user
has it, changed or not, and no filter or line ending stands between.

What is no file and no link is not copied; what the user cannot read is not either.
"""

import fcntl
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress

from sightline.exceptions import OutsideFailure
from sightline.handles import FolderEntry
from sightline.working_copies._manifest import Manifest, ManifestEntry, settled
from sightline.working_copies._side import CANDIDATES_AT_MOST, GIT, Candidates, Ignoring
from sightline.working_copies._states import FileState, Signature, entry_at, listed, look, signature, signature_of

COPY_FILES_AT_MOST = 50_000
COPY_BYTES_AT_MOST = 1024**3
_CLONE = 0x40049409  # FICLONE
_PIECE = 8 * 1024 * 1024


class CopiedFolder:
    """A side with all files of its own, at `tree`."""

    words: tuple[str, ...] = ()

    def __init__(self, tree: str, manifest: Manifest) -> None:
        self.cwd = self.root = tree
        self._manifest = manifest

    def candidates(self, ignoring: Ignoring, *, force: bool) -> Candidates:
        found, seen, level = Candidates(set()), set[str](), [""]
        while level and len(found.paths) <= CANDIDATES_AT_MOST:
            below: list[str] = []
            for folder in level:
                below += self._gather(folder, found, seen, force=force)
            fresh = [path for path in below if not self._manifest.has_folder(path)]
            ignored = ignoring(fresh) if fresh else set()
            level = [path for path in below if path not in ignored]
        if level:
            found.is_whole = False
        else:
            found.paths.update(path for path in self._manifest.files if path not in seen)
        return found

    def _gather(self, folder: str, found: Candidates, seen: set[str], *, force: bool) -> list[str]:
        try:
            entries = listed(self.cwd, folder, force=force)
        except PermissionError:
            found.is_whole = False
            seen.update(self._manifest.below(folder))  # not deleted: unknown
            return []
        folders = []
        for name, status in entries:
            path = f"{folder}/{name}" if folder else name
            if name == GIT:
                found.repositories.update([folder] if folder else [])
                continue
            if stat.S_ISDIR(status.st_mode):
                folders.append(path)
                continue
            known = self._manifest.files.get(path)
            if known is None or known.copied != signature_of(status):
                found.paths.add(path)
            else:
                seen.add(path)
        return folders

    def look(self, path: str, *, force: bool) -> FileState:
        """OutsideFailure where all of it is gone: the agent deleted none of that."""
        state = look(self.cwd, path, force=force)
        if state.kind == "missing" and not os.path.isdir(self.cwd):  # looked at last: it does not come back
            raise OutsideFailure(f"the files of the working copy are gone: {self.cwd}")
        return state

    def signature(self, path: str) -> Signature | None:
        return signature(self.cwd, path)

    def has_folder(self, path: str) -> bool:
        return look(self.cwd, path, force=False).kind == "folder"

    def is_in_use(self) -> bool:
        return False  # any process may be in any folder


def copied(workspace: str, tree: str, paths: Iterable[str], before: int) -> dict[str, ManifestEntry]:
    """These files, copied into `tree`. OutsideFailure when they are too many or too large."""
    files: dict[str, ManifestEntry] = {}
    size, folders = 0, {tree}
    for path in sorted(set(paths)):
        with suppress(PermissionError, FileNotFoundError, NotADirectoryError), entry_at(workspace, path) as source:
            status = source.status()
            if status is None or not (stat.S_ISREG(status.st_mode) or stat.S_ISLNK(status.st_mode)):
                continue
            size += status.st_size
            if len(files) >= COPY_FILES_AT_MOST or size > COPY_BYTES_AT_MOST:
                raise _too_large()
            target = os.path.join(tree, path)
            if (above := os.path.dirname(target)) not in folders:
                os.makedirs(above, exist_ok=True)
                folders.add(above)
            if stat.S_ISLNK(status.st_mode):
                os.symlink(os.readlink(source.name, dir_fd=source.folder), target)
            else:
                _copy(source, target)
            made = signature_of(os.lstat(target))
            files[path] = ManifestEntry(settled(signature_of(status), before), made)
    return files


def all_files(workspace: str) -> Iterator[str]:
    """Every file and link of a workspace, git's too. OutsideFailure when there are too many. Not a `.git` that names a
    repository elsewhere: the agent would work on the user's own index and branch there."""
    waiting, count = [""], 0
    while waiting:
        folder = waiting.pop()
        with suppress(PermissionError):
            for name, status in listed(workspace, folder):
                path = f"{folder}/{name}" if folder else name
                if stat.S_ISDIR(status.st_mode):
                    waiting.append(path)
                    continue
                if name == ".git":
                    continue
                count += 1
                if count > COPY_FILES_AT_MOST:
                    raise _too_large()
                yield path


def copy_content(source: int, target: int) -> None:
    """Of a file into an empty one."""
    with suppress(OSError):
        fcntl.ioctl(target, _CLONE, source)
        return
    if hasattr(os, "copy_file_range"):
        with suppress(OSError):
            while os.copy_file_range(source, target, _PIECE):
                pass
    offset = os.lseek(target, 0, os.SEEK_CUR)
    while piece := os.pread(source, _PIECE, offset):
        offset += os.write(target, piece)


def _copy(source: FolderEntry, target: str) -> None:
    opened = source.open_regular()
    try:
        made = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            status = os.fstat(opened)
            copy_content(opened, made)
            os.fchmod(made, stat.S_IMODE(status.st_mode) & 0o777)
            os.utime(made, ns=(status.st_atime_ns, status.st_mtime_ns))
        finally:
            os.close(made)
    finally:
        os.close(opened)


def _too_large() -> OutsideFailure:
    return OutsideFailure(
        f"the workspace is too large for a copy: more than {COPY_FILES_AT_MOST:,} files"
        f" or {COPY_BYTES_AT_MOST // 1024**3} GiB"
    )
