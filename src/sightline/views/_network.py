"""What a command connected to, in one line."""

from sightline.text import clean_line
from sightline.transcript import Reached, TranscriptCall

_SHOWN = 5  # hosts


def network_words(call: TranscriptCall) -> str:
    """Hosts with what became of them, refused ones first; empty when it connected to nothing."""
    hosts = sorted(call.network.items(), key=lambda item: item[1].verdict != "refused")
    words = [f"{clean_line(name)} {_outcome(reached)}" for name, reached in hosts[:_SHOWN]]
    left = sum(max(reached.count, 1) for _, reached in hosts[_SHOWN:]) + call.network_more
    words += [f"{left} more"] if left else []
    separator = "; " if any(reached.reason for _, reached in hosts[:_SHOWN]) else ", "
    return f"network: {separator.join(words)}" if words else ""


def _outcome(reached: Reached) -> str:
    times = f" ×{reached.count}" if reached.count > 1 else ""
    moved = f" ({_size(reached.sent)} out, {_size(reached.received)} in)" if reached.sent or reached.received else ""
    why = f": {clean_line(reached.reason)}" if reached.reason else ""
    return f"{reached.verdict}{times}{moved}{why}"


def _size(size: int) -> str:
    for unit, name in ((1024**3, "GB"), (1024**2, "MB"), (1024, "KB")):
        if size >= unit:
            return f"{size / unit:.{1 if size < 10 * unit else 0}f} {name}"
    return f"{size} B"
