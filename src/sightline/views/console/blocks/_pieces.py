"""A long Markdown text cut into pieces that look, one below the other, as the whole text does.

Laying out two hundred kilobytes takes longer than a key may wait; the pieces are laid out one at a time. A text is cut
only where Markdown is independent of what came before: at a blank line before a line that begins, at the margin, with
a letter or a heading, and never inside fenced code. Where a definition or raw HTML could reach across such a place, the
text stays whole.
"""

import re

LONG = 16 * 1024
PIECE = 6 * 1024

_reaches_across = re.compile(
    r"^ {0,3}\[[^\]\n]+\]:|^ {4,}(?:```|~~~)|<(?:pre|script|style|textarea|!--|\?|!\[CDATA)",
    re.MULTILINE | re.IGNORECASE,
)
_fence = re.compile(r"\s{0,3}(`{3,}|~{3,})(.*)", re.DOTALL)
_starts_over = re.compile(r"[^\W\d_]|#{1,6} ")


def pieces_of(text: str) -> list[str]:
    """The pieces of a text; a short one is one piece."""
    if len(text) < LONG or _reaches_across.search(text):
        return [text]
    pieces: list[str] = []
    piece: list[str] = []
    size, fence, blank = 0, "", False
    for line in text.split("\n"):
        if not fence and blank and size >= PIECE and _starts_over.match(line):
            pieces.append("\n".join(piece).rstrip("\n"))
            piece, size = [], 0
        piece.append(line)
        size += len(line) + 1
        fence = _fence_after(fence, line)
        blank = not line.strip()
    return [*pieces, "\n".join(piece)]


def _fence_after(fence: str, line: str) -> str:
    """The fence that is open after a line; empty when none is."""
    match = _fence.match(line)
    if match is None:
        return fence
    if not fence:
        return "" if match[1][0] == "`" and "`" in match[2] else match[1]
    closes = match[1].startswith(fence) and not match[2].strip()
    return "" if closes else fence
