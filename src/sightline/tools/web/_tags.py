"""HTML as a sequence of tags and texts, for untrusted pages.

Every character is looked at a bounded number of times, whatever the page does: unclosed quotes, comments and tags, a
million of them, an attribute of megabytes. (The parser of the standard library takes time squared on some of these.)
"""

import re
from collections.abc import Iterator
from html import unescape
from typing import Literal, NamedTuple

_START = re.compile(r"<(?=[a-zA-Z!?]|/[a-zA-Z])")
_TAG = re.compile(r"""<(/?)([a-zA-Z][^\s/>]*+)((?>(?:[^>"']|"[^"]*+"|'[^']*+')*))>""")
_SIMPLE_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)([^>]*+)>")
_ATTRIBUTE = re.compile(r"""([^\s=/"'>]++)(?>(?:\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'>]++)))?)""")
_LONG_REFERENCE = re.compile(r"&#[xX]?[0-9a-fA-F]{9,}+;?")
_RAW = frozenset({"script", "style", "title", "textarea", "xmp", "noembed", "noframes"})
_RAW_ENDS = {name: re.compile(f"</{name}(?=[\\s/>])", re.IGNORECASE) for name in _RAW}
_ATTRIBUTES = 16 * 1024  # characters of a tag's attributes that are looked at


class HtmlPiece(NamedTuple):
    """`text`: the words (references resolved), or the attributes as they are written."""

    kind: Literal["text", "open", "close"]
    name: str
    text: str


def pieces(html: str) -> Iterator[HtmlPiece]:
    at = 0
    closed_quotes = True
    while (found := _START.search(html, at)) is not None:
        start = found.start()
        if start > at:
            yield HtmlPiece("text", "", resolved(html[at:start]))
        if html.startswith(("<!", "<?"), start):
            at = _after_declaration(html, start)
            continue
        tag = _TAG.match(html, start) if closed_quotes else None
        if tag is None:
            closed_quotes = False  # some quote after this place is never closed: quotes mean nothing any more
            tag = _SIMPLE_TAG.match(html, start)
        if tag is None:
            return  # a tag that never ends
        at = tag.end()
        name = tag[2][:40].lower()
        if tag[1]:
            yield HtmlPiece("close", name, "")
            continue
        yield HtmlPiece("open", name, tag[3])
        if name in _RAW:
            end = _RAW_ENDS[name].search(html, at)
            stop = end.start() if end else len(html)
            yield HtmlPiece("text", name, resolved(html[at:stop]) if name in ("title", "textarea") else "")
            at = stop
    if at < len(html):
        yield HtmlPiece("text", "", resolved(html[at:]))


def _after_declaration(html: str, start: int) -> int:
    """A comment or declaration that never ends takes the rest of the page with it."""
    if html.startswith("<!--", start):
        end = html.find("-->", start + 2)
        return len(html) if end < 0 else end + 3
    end = html.find(">", start)
    return len(html) if end < 0 else end + 1


def attributes(written: str) -> dict[str, str]:
    """By name, the first of each."""
    found: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(written[:_ATTRIBUTES]):
        value = match[2] or match[3] or match[4] or ""
        found.setdefault(match[1].lower(), resolved(value).strip())
    return found


def resolved(text: str) -> str:
    """With references as the characters they stand for. A number no character has is not even read."""
    return unescape(_LONG_REFERENCE.sub("\ufffd", text)) if "&" in text else text
