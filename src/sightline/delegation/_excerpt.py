"""Text that one agent gives another: its beginning, and where the rest is. What enters a context is bounded."""

from collections.abc import Sequence


def excerpt(text: str, most: int, rest: str) -> str:
    """At most so many characters of it. `rest`: the address of the whole."""
    if len(text) <= most:
        return text
    return f"{text[:most]}\n\n[{len(text) - most:,} more characters: {rest}]"


def listed(items: Sequence[str], most: int, rest: str) -> str:
    """Whole items, at most so many characters of them, but one at least."""
    shown, size = 0, 0
    for item in items:
        size += len(item) + 1
        if shown and size > most:
            break
        shown += 1
    left = [f"[{len(items) - shown:,} more: {rest}]"] if shown < len(items) else []
    return "\n".join([*items[:shown], *left])
