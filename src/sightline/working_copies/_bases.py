"""Each file as it was when the agent began: without it, changes of the user and of the agent cannot be merged.

Rules:

- What the manifest does not name was not there.
- A file of the workspace that was not touched since is its own base. When the agent is found to have changed it, the
  base is stored: the user may change the file next.
- In a git worktree, a tracked file is in the commit it began with, or was stored at once, as one the user had changed.
- Anything else is unknown. It is never guessed.
"""

import os
import stat
from pathlib import Path

import msgspec

from sightline.working_copies._git import Repository
from sightline.working_copies._manifest import Manifest
from sightline.working_copies._states import MISSING, FileState, look, signature


class Bases:
    """`folder` is where they are stored. `commit`: of a worktree, what it began with."""

    def __init__(
        self, workspace: str, folder: Path, manifest: Manifest, repository: Repository | None = None, commit: str = ""
    ) -> None:
        self._workspace = workspace
        self._folder = folder
        self._manifest = manifest
        self._repository = repository
        self._commit = commit

    def of(self, path: str) -> FileState | None:
        """None where it is unknown."""
        stored = self._stored(path)
        if stored is not None:
            return stored
        known = self._manifest.files.get(path)
        if known is None:
            return MISSING
        if known.source is not None and signature(self._workspace, path) == known.source:
            state = look(self._workspace, path)
            if signature(self._workspace, path) == known.source:
                return state
        copied = known.copied
        if self._repository is None or not self._commit or copied is None or not stat.S_ISREG(copied.mode):
            return None
        data = self._repository.blob(self._commit, path)
        return None if data is None or len(data) != copied.size else FileState("file", copied.mode & 0o777, data)

    def store(self, path: str) -> None:
        """While it is known. What is large is not stored."""
        if path not in self._manifest.files or self._place(path).exists():
            return
        state = self.of(path)
        if state is not None and state.kind != "large":
            self.replace(path, state)

    def replace(self, path: str, state: FileState) -> None:
        """From now on, this is what a change of the agent's began with: it is in the workspace too."""
        place = self._place(path)
        self._folder.mkdir(exist_ok=True)
        new = place.with_suffix(f".{os.urandom(8).hex()}.new")  # a merge of another copy may store it, too
        new.write_bytes(msgspec.msgpack.encode(state))
        new.rename(place)

    def _stored(self, path: str) -> FileState | None:
        try:
            return msgspec.msgpack.decode(self._place(path).read_bytes(), type=FileState)
        except FileNotFoundError:
            return None

    def _place(self, path: str) -> Path:
        from hashlib import blake2b

        return self._folder / blake2b(os.fsencode(path), digest_size=20).hexdigest()
