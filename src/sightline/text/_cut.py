"""Shortening text without tearing a character apart."""

import re

ELLIPSIS = "…"

_line_end = re.compile("[\n\r\x0b\x0c\x85\u2028\u2029]")


def first_line(text: str) -> str:
    """The first line that is not blank, without the blanks around it."""
    text = text.lstrip()
    end = _line_end.search(text)
    return (text if end is None else text[: end.start()]).rstrip()


def cut_graphemes(text: str, limit: int) -> str:
    """At most `limit` code points, ellipsis included, ending on a grapheme boundary.

    A single cluster longer than the limit leaves only the ellipsis.
    """
    if len(text) <= limit:
        return text
    room = limit - 1
    # Between two ASCII characters there is always a boundary: it is enough to look closely from there on.
    if text[room - 1 : limit].isascii():
        return text[:room] + ELLIPSIS
    end = room - 1
    while end > 0 and not text[end - 1 : end + 1].isascii():
        end -= 1
    from wcwidth import iter_graphemes  # 30 ms to import: only when a long, non-ASCII text must be cut

    # A look-ahead of one cluster decides whether the last one fits; the slice bounds the work on a huge text.
    for cluster in iter_graphemes(text[end : limit * 8]):
        if end + len(cluster) > room:
            break
        end += len(cluster)
    return text[:end] + ELLIPSIS
