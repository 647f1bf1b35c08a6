"""What a write changes, as a unified diff."""

from sightline.text import Unified, unified_diff

MAX_BYTES = 24 * 1024  # of the diff in a result's details


def diff(path: str, before: str | None, after: str) -> Unified:
    """`before` is None for a new file."""
    return unified_diff(before, after, f"a/{path}", f"b/{path}")
