"""Whether a file is a database, without loading the library."""

from pathlib import Path

MAGIC = b"SQLite format 3\0"


def is_sqlite_file(path: Path) -> bool:
    """A regular file that starts as a database does."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as file:
            return file.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):
        return False
