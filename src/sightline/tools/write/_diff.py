"""What a write changed, for views: a unified diff that is never too long."""

from itertools import islice

import msgspec

from sightline.tools._truncation import fitting_diff

MAX_LINES = 2000  # a file with more is shown without what changed: finding that takes too long
MAX_BYTES = 24 * 1024


class Diff(msgspec.Struct, frozen=True):
    text: str = ""
    added: int = 0
    removed: int = 0


def diff(path: str, before: str | None, after: str) -> Diff:
    """`before` is None for a new file."""
    import difflib

    old, new = (before or "").splitlines(), after.splitlines()
    if len(old) > MAX_LINES or len(new) > MAX_LINES:
        return Diff(added=len(new), removed=len(old))
    rows = list(islice(difflib.unified_diff(old, new, lineterm="", n=3), 2, None))
    if not rows:
        return Diff()
    added = sum(row.startswith("+") for row in rows)
    removed = sum(row.startswith("-") for row in rows)
    names = ["--- /dev/null" if before is None else f"--- a/{path}", f"+++ b/{path}"]
    return Diff(fitting_diff("\n".join([*names, *rows, ""]), MAX_BYTES), added, removed)
