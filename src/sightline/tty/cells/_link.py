"""Links a terminal can open (OSC 8)."""

from sightline.text import clean_line

_OPEN, _CLOSE = "\x1b]8;;", "\x1b\\"
LINK_END = _OPEN + _CLOSE
_LONGEST = 2000
_SCHEMES = ("http://", "https://", "mailto:", "file://")


def link(url: str, text: str) -> str:
    """`text` that opens `url`. What is no plain address, or too long for a terminal, stays text."""
    if not url.startswith(_SCHEMES) or len(url) > _LONGEST or clean_line(url) != url or not url.isascii() or " " in url:
        return text
    return f"{_OPEN}{url}{_CLOSE}{text}{LINK_END}"
