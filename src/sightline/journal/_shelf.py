"""Files kept beside a session's journal: the output of calls, and what a tool put there (an image, a long page)."""

import os
import re
from pathlib import Path

from sightline.paths import private_folder

_name = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,120}").fullmatch


def keep_file(folder: Path, name: str, data: bytes) -> Path:
    """Keep it under this name, whole or not at all; only the owner may read it."""
    if _name(name) is None:
        raise ValueError(f"not the name of an artifact: {name!r}")
    path = folder / "artifacts" / name
    private_folder(path.parent)
    half = path.with_name(f".{name}.{os.getpid()}")
    fd = os.open(half, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        half.replace(path)
    except OSError:
        half.unlink(missing_ok=True)
        raise
    return path


def artifact_file(folder: Path, name: str) -> Path | None:
    """The file of an artifact, by its name or by the call whose output it is; None when there is none."""
    if _name(name) is None:
        return None
    for path in (folder / "artifacts" / name, folder / "artifacts" / f"{name}.out"):
        if path.is_file():
            return path
    return None
