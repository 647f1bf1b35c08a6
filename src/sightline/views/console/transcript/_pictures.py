"""Pictures of the session, read where it keeps them."""

from pathlib import Path

from sightline.journal import artifact_file

_LARGEST = 20 * 1024**2


def picture_bytes(folder: Path, name: str) -> bytes | None:
    """None when there is none of this name, or too large a one."""
    file = artifact_file(folder, name)
    try:
        return file.read_bytes() if file is not None and file.stat().st_size <= _LARGEST else None
    except OSError:
        return None
