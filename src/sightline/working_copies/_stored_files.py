"""Files of an agent stored beside its copy, under the paths they have in the workspace where that can be."""

import os
from hashlib import blake2b
from pathlib import Path

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def stored_file(folder: Path, path: str, data: bytes) -> Path:
    place, descriptor = new_file(folder, path)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return place


def new_file(folder: Path, path: str) -> tuple[Path, int]:
    """Empty, for writing. A name that is taken (`a` and `a.merge` may both be files) or too long becomes a digest."""
    place = folder / path
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place, os.open(place, _NEW, 0o600)
    except OSError:
        digest = blake2b(os.fsencode(path), digest_size=16).hexdigest()
        place = folder / digest
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return place, os.open(place, _NEW, 0o600)
