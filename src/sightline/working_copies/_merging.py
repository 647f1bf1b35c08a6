"""Changes of an agent brought into the workspace, one file after the other.

Rules:

- A file that is as it was at the start is replaced. One that the user changed too is merged as text; where that leaves
  a conflict, or the start is unknown, the user's file stays and the agent's is stored beside the copy.
- What is written is decided on under the file's lock, on the content that is replaced, in the folder that is open: a
  link that is swapped in makes it fail, and leads nowhere.
- What is replaced stays until the new content is whole, on a full disk too: a link that becomes a file, or the reverse.
- Nothing is written where a tool of ours would need approval (git's own files, the protected set): there is no one to
  approve it here.
- A folder the agent removed is removed when it is empty. Of modes the permissions are merged, and no
  set-id bits.
"""

import errno
import os
import stat
from collections.abc import Callable
from contextlib import nullcontext, suppress
from pathlib import Path

import msgspec

from sightline.handles import Grants, Swapped, entry, granted, path_of
from sightline.settings import is_guarded, protected
from sightline.tools import ToolError
from sightline.tools.files._atomic import writing
from sightline.tools.files._file_lock import TEMPORARY, locked
from sightline.tools.files._write_ledger import recorded
from sightline.working_copies._facts import ConflictReason, MergeConflict, RefusedFile
from sightline.working_copies._git import merge_files
from sightline.working_copies._patch import is_gits
from sightline.working_copies._side import AgentSide
from sightline.working_copies._states import MISSING, FileState, entry_at, look
from sightline.working_copies._stored_files import stored_file

_CANNOT_BE_WRITTEN = {
    "large": "it is too large to be merged",
    "special": "it is not a regular file or a link, or cannot be read",
}


class ChangedPair(msgspec.Struct, frozen=True):
    """`before`: at the start. Where that is unknown, as it is in the workspace now."""

    path: str
    before: FileState
    after: FileState
    is_start_known: bool = True


class _Stays(Exception):
    """The file in the workspace is left as it is."""

    def __init__(self, reason: ConflictReason, merged: bytes | None = None) -> None:
        super().__init__(reason)
        self.reason: ConflictReason = reason
        self.merged = merged


class MergeRules:
    """What an agent's copy may change in the workspace, by the path alone."""

    def __init__(self, workspace: str, may_write: Callable[[str], bool]) -> None:
        self._workspace = workspace
        self._protected = protected(workspace)
        self._may_write = may_write

    def why_not(self, path: str) -> str:
        """Empty where it may be written."""
        if is_gits(path):
            return "it is git's own"
        real = os.path.join(self._workspace, path)
        if is_guarded(real, self._workspace, self._protected):
            return "it is protected"
        if not self._may_write(real):
            return "no rule allows to write it"
        is_new = not os.path.lexists(real)
        if is_new and os.path.dirname(real) in self._protected.closed:
            return "nothing new is created in this folder"
        return ""


class WorkspaceMerge:
    """`conflicts` is where the agent's side of a conflict is stored, `scratch` a folder for what git merges."""

    def __init__(
        self, workspace: str, side: AgentSide, conflicts: Path, scratch: Path, may_write: Callable[[str], bool]
    ) -> None:
        self._workspace = workspace
        self._side = side
        self._conflicts = conflicts
        self._scratch = scratch
        self._rules = MergeRules(workspace, may_write)

    def apply(self, changed: ChangedPair) -> MergeConflict | RefusedFile | None:
        """None when the workspace has the change now."""
        why = self._rules.why_not(changed.path) or _CANNOT_BE_WRITTEN.get(changed.after.kind, "")
        if why:
            return RefusedFile(path=changed.path, why=why)
        try:
            self._apply(changed)
        except _Stays as stays:
            return self._conflict(changed, stays)
        except ToolError as problem:
            return RefusedFile(path=changed.path, why=problem.message)
        except OSError as problem:
            return RefusedFile(path=changed.path, why=problem.strerror or str(problem))
        return None

    def _apply(self, changed: ChangedPair) -> None:
        ours = self._ours(changed.path)
        new = self._decided(changed, ours)
        if new == ours:
            return
        if ours.kind == "special" or ours.kind == "folder":
            raise _Stays("both changed")
        if "missing" not in (ours.kind, new.kind) and "link" in (ours.kind, new.kind):
            self._exchange(changed.path, ours, new)
        elif new.kind == "link":
            self._link(changed.path, new)
        elif new.kind == "file":
            self._write(changed.path, ours, new)
        elif ours.kind == "link":
            self._remove_link(changed.path, ours)
        elif ours.kind != "missing":
            self._delete(changed.path, ours)
        if new.kind == "missing":
            self._remove_folders_above(changed.path)

    def _ours(self, path: str) -> FileState:
        """A folder without files is none: it is removed where a file has to be."""
        ours = look(self._workspace, path)
        if ours.kind == "folder" and not self._side.has_folder(path):
            with suppress(OSError), entry_at(self._workspace, path) as found:
                os.rmdir(found.name, dir_fd=found.folder)
                return MISSING
        return ours

    def _decided(self, changed: ChangedPair, ours: FileState) -> FileState:
        after, before = changed.after, changed.before
        if ours == after:
            return ours
        if not changed.is_start_known:
            raise _Stays("start unknown")
        if ours == before:
            return after
        if not ours.kind == before.kind == after.kind == "file":
            raise _Stays("both changed")
        data = self._merged(ours.data, before.data, after.data)
        if ours.mode == before.mode:
            return FileState("file", after.mode, data)
        if after.mode not in (before.mode, ours.mode):
            raise _Stays("both changed")
        return FileState("file", ours.mode, data)

    def _merged(self, ours: bytes, before: bytes, after: bytes) -> bytes:
        if ours in (before, after):
            return after
        if after == before:
            return ours
        for name, data in (("ours", ours), ("before", before), ("after", after)):
            (self._scratch / name).write_bytes(data)
        merged = merge_files(str(self._scratch), "ours", "before", "after")
        if merged is None:
            raise _Stays("both changed")
        text, is_clean = merged
        if not is_clean:
            raise _Stays("both changed", text)
        return text

    def _write(self, path: str, ours: FileState, new: FileState) -> None:
        real = os.path.join(self._workspace, path)
        with granted(Grants(writes=(real,))), writing(Path(real), make_folders=True) as file:
            if look(self._workspace, path) != ours:
                raise _Stays("changed meanwhile")
            if ours.kind == "missing" or ours.data != new.data:
                file.replace(new.data)
        if ours.kind == "missing" or ours.mode != new.mode:
            self._change_mode(path, new.mode)

    def _delete(self, path: str, ours: FileState) -> None:
        real = os.path.join(self._workspace, path)
        with granted(Grants(writes=(real,))), writing(Path(real)) as file:
            if look(self._workspace, path) != ours:
                raise _Stays("changed meanwhile")
            file.remove()

    def _exchange(self, path: str, ours: FileState, new: FileState) -> None:
        """A link for a file, or the reverse, in one step."""
        with entry_at(self._workspace, path) as found, locked(found) as lock:
            name = f"{TEMPORARY[0]}{os.getpid()}-{os.urandom(8).hex()}{TEMPORARY[1]}"
            lock.note(str(found.path.with_name(name)))
            try:
                _make(name, found.folder, new)
                if look(self._workspace, path) != ours:
                    raise _Stays("changed meanwhile")
                with recorded(found.path, None, new.data) if new.kind == "file" else nullcontext():
                    os.replace(name, found.name, src_dir_fd=found.folder, dst_dir_fd=found.folder)
            except BaseException:
                with suppress(OSError):
                    os.unlink(name, dir_fd=found.folder)
                raise

    def _remove_link(self, path: str, ours: FileState) -> None:
        with entry_at(self._workspace, path) as found:
            if look(self._workspace, path) != ours:
                raise _Stays("changed meanwhile")
            os.unlink(found.name, dir_fd=found.folder)

    def _link(self, path: str, new: FileState) -> None:
        real = os.path.join(self._workspace, path)
        with granted(Grants(writes=(real,))), entry(real, "write", make_folders=0o777) as found:
            try:
                os.symlink(os.fsdecode(new.data), found.name, dir_fd=found.folder)
            except FileExistsError:
                raise _Stays("changed meanwhile") from None

    def _change_mode(self, path: str, mode: int) -> None:
        with entry_at(self._workspace, path) as found:
            handle = found.open(getattr(os, "O_PATH", os.O_RDONLY))
            try:
                if not stat.S_ISREG(os.fstat(handle).st_mode):
                    raise Swapped(str(found.path))
                os.chmod(path_of(handle, found.path), mode)
            finally:
                os.close(handle)

    def _remove_folders_above(self, path: str) -> None:
        folder = os.path.dirname(path)
        while folder and not self._side.has_folder(folder):
            try:
                with entry_at(self._workspace, folder) as found:
                    os.rmdir(found.name, dir_fd=found.folder)
            except OSError as problem:
                if problem.errno != errno.ENOENT:
                    return
            folder = os.path.dirname(folder)

    def _conflict(self, changed: ChangedPair, stays: _Stays) -> MergeConflict:
        agent = merge = None
        if changed.after.kind != "missing":
            agent = stored_file(self._conflicts, changed.path, changed.after.data)
        if stays.merged is not None:
            merge = stored_file(self._conflicts, f"{changed.path}.merge", stays.merged)
        return MergeConflict(
            path=changed.path,
            reason=stays.reason,
            workspace=Path(self._workspace, changed.path),
            agent=agent,
            merge=merge,
        )


def _make(name: str, folder: int, new: FileState) -> None:
    if new.kind == "link":
        os.symlink(os.fsdecode(new.data), name, dir_fd=folder)
        return
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    with os.fdopen(os.open(name, flags, 0o600, dir_fd=folder), "wb") as file:
        file.write(new.data)
        os.fchmod(file.fileno(), new.mode)
        file.flush()
        os.fsync(file.fileno())
