"""Pictures among a session's artifacts."""

from pathlib import Path

from sightline.journal import artifact_file

_LARGEST = 20 * 1024**2


def picture_bytes(folder: Path, name: str) -> bytes | None:
    """The bytes of a picture; None when there is no such file, or it is too large."""
    file = artifact_file(folder, name)
    try:
        return file.read_bytes() if file is not None and file.stat().st_size <= _LARGEST else None
    except OSError:
        return None
