"""Whether a file is a database, without loading the library."""

from pathlib import Path

from sightline.handles import read_at_most

MAGIC = b"SQLite format 3\0"


def is_sqlite_file(path: Path) -> bool:
    """A regular file that starts as a database does."""
    try:
        return read_at_most(path, len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
