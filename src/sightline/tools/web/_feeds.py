"""RSS and Atom as markdown.

A feed that declares a document type is not parsed: entities that grow when they are resolved, and files that are
fetched by being named, both begin there. No tree is built of a feed, so its depth costs nothing.
"""

from xml.parsers import expat

import msgspec

from sightline.tools.web._html import render

MAX_ITEMS = 100
_WORDS = 2000  # characters of one item that are shown
_COLLECTED = 20_000  # characters of one field that are read
_ROOTS = frozenset({"rss", "feed", "rdf"})
_ITEMS = frozenset({"item", "entry"})
_FIELDS = {
    "title": "title",
    "link": "link",
    **dict.fromkeys(("pubdate", "published", "updated", "date"), "date"),
    **dict.fromkeys(("description", "summary", "subtitle", "content", "encoded"), "words"),
}


class NotAFeed(Exception):
    """The message says why."""


class _Entry(msgspec.Struct):
    fields: dict[str, str] = {}


def feed_text(xml: str, base: str) -> str:
    """NotAFeed when it is none, or none that is parsed. Blocking."""
    parser = _Parser()
    broken = parser.read(xml)
    if not parser.is_feed:
        raise NotAFeed(broken or "it is XML of another kind")
    rows = _shown(parser.feed, base, level=1)
    for item in parser.items:
        rows += ["", *_shown(item, base, level=2)]
    if parser.skipped:
        rows += ["", f"[{parser.skipped} more items]"]
    if broken:
        rows += ["", f"[The feed is broken after this: {broken}]"]
    return "\n".join(rows)


class _Parser:
    def __init__(self) -> None:
        self.feed = _Entry({})
        self.items: list[_Entry] = []
        self.skipped = 0
        self.is_feed = False
        self._now = self.feed
        self._depth = 0
        self._item_depth = 0
        self._field = ""
        self._field_depth = 0
        self._words: list[str] = []
        self._collected = 0

    def read(self, xml: str) -> str:
        """Why it ended before its end; empty when it did not."""
        parser = expat.ParserCreate("utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = _refuse
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(xml.encode("utf-8", "replace"), True)
        except (expat.ExpatError, NotAFeed) as problem:
            return str(problem)
        return ""

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        self._depth += 1
        local = name.rpartition(" ")[2].lower()
        if self._depth == 1:
            self.is_feed = local in _ROOTS
            if not self.is_feed:
                raise NotAFeed("it is XML of another kind")
        elif self._field:
            self._text(" ")
        elif local in _ITEMS and not self._item_depth:
            self._item_depth = self._depth
            self._now = _Entry({})
        elif local in _FIELDS and self._depth == (self._item_depth + 1 if self._item_depth else self._feed_depth(name)):
            self._field, self._field_depth, self._words, self._collected = _FIELDS[local], self._depth, [], 0
            if local == "link" and attributes.get("rel", "alternate") == "alternate":
                self._text(attributes.get("href", ""))

    def _feed_depth(self, name: str) -> int:
        """Atom describes a feed at its root, RSS one level below, in its channel."""
        return 2 if "2005/atom" in name.lower() and self._depth == 2 else 3

    def _text(self, text: str) -> None:
        if self._field and self._collected < _COLLECTED:
            self._words.append(text)
            self._collected += len(text)

    def _end(self, name: str) -> None:
        if self._field and self._depth == self._field_depth:
            self._now.fields.setdefault(self._field, "".join(self._words).strip()[:_COLLECTED])
            if not self._now.fields[self._field]:
                del self._now.fields[self._field]
            self._field = ""
        elif self._item_depth and self._depth == self._item_depth:
            if len(self.items) < MAX_ITEMS:
                self.items.append(self._now)
            else:
                self.skipped += 1
            self._now, self._item_depth = self.feed, 0
        self._depth -= 1


def _refuse(*declaration: object) -> None:
    raise NotAFeed("it declares a document type, which is not read")


def _shown(entry: _Entry, base: str, *, level: int) -> list[str]:
    fields = entry.fields
    title = _plain(fields.get("title", ""), base).replace("\n", " ") or "(no title)"
    rows = [f"{'#' * level} {title}"]
    rows += [" ".join(fields["link"].split())[:2000]] if "link" in fields else []
    rows += [" ".join(fields["date"].split())[:100]] if "date" in fields else []
    words = _plain(fields.get("words", ""), base)
    cut = " […]" if len(words) > _WORDS else ""
    return [*rows, *(["", words[:_WORDS] + cut] if words else [])]


def _plain(words: str, base: str) -> str:
    """Feeds write HTML into their fields."""
    return render(words, base).text
