"""Paths for the subagents a provider mentions: `Explore-1`, `Explore-2`, `Explore-2/Read-1`."""

from sightline.text import clean_line

# Agents that never end, and names that never come again, must not pile up.
_AT_MOST = 1024


class AgentPaths:
    """Subagents that have begun and not ended, by whatever handle the provider gives them."""

    __slots__ = ("_counts", "_open")

    def __init__(self) -> None:
        self._open: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def begin(self, handle: str, name: str, parent: str = "") -> str:
        """The path of a subagent that begins now."""
        name = clean_line(name).replace("/", "-") or "agent"
        base = f"{parent}/{name}" if parent else name
        counts = self._counts
        if base not in counts and len(counts) >= _AT_MOST:
            base = "agent"
        counts[base] = counts.get(base, 0) + 1
        path = f"{base}-{counts[base]}"
        if len(self._open) >= _AT_MOST:
            del self._open[next(iter(self._open))]
        self._open[handle] = path
        return path

    def end(self, handle: str) -> str:
        """The path of a subagent that ends now; empty when none of that handle is open."""
        return self._open.pop(handle, "")

    def get(self, handle: str) -> str:
        """The path of a subagent that began; empty when none of that handle is known."""
        return self._open.get(handle, "")

    def __contains__(self, handle: str) -> bool:
        return handle in self._open
