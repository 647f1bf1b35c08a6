"""An HTML page as markdown: headings, paragraphs, lists, code, links, tables. What is not its text is left out.

Nothing here recurses and nothing grows with depth, so a page may nest as deep as it likes.
"""

import re
import time
from urllib.parse import urljoin

import msgspec

from sightline.text import clean_text
from sightline.tools.web._blocks import TextBlocks, fence, table_rows
from sightline.tools.web._tags import HtmlPiece, attributes, pieces

MAX_INPUT = 5 * 1024**2  # characters of a page that are rendered
SECONDS = 10.0  # after which the rest of a page is left out
_LOOKS_AT_CLOCK = 2000  # pieces between two looks at the clock
_DROPPED = frozenset(
    ("script", "style", "template", "svg", "noscript", "iframe", "object", "canvas", "nav", "select", "button", "math")
)
# Only elements that have to be closed: where a hidden one ends is known.
_MAY_BE_HIDDEN = frozenset(("div", "span", "section", "article", "aside", "ul", "ol", "table", "dialog", "form"))
_NOT_DISPLAYED = re.compile(r"display\s{0,5}:\s{0,5}none", re.IGNORECASE)
_SECTIONS = ("p", "div", "section", "article", "main", "header", "footer", "aside", "address", "center", "body", "html")
_PARTS = ("figure", "figcaption", "form", "fieldset", "legend", "dl", "dt", "dd", "details", "summary", "caption")
_BLOCKS = frozenset((*_SECTIONS, *_PARTS, "tbody", "thead", "tfoot"))
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_LANGUAGE = re.compile(r"(?:lang|language|highlight-source)-([A-Za-z0-9+#_.-]{1,30})")
_SPACE = re.compile(r"[ \t\r\n\f\u00a0]+")
_LONGEST_LINK = 2000
_LISTED = 20
_DOCUMENTS = (".pdf", ".docx", ".pptx", ".xlsx", ".epub")


class RenderedHtml(msgspec.Struct, kw_only=True):
    text: str = ""
    has_scripts: bool = False
    cut: bool = False  # only the beginning was rendered
    alternates: dict[str, str] = {}  # by media type: the same page in another form, the first of each
    documents: list[str] = []  # links to documents


def render(html: str, base: str) -> RenderedHtml:
    """Links are made whole with `base`, or with the page's own base. Never raises. Blocking."""
    end = time.monotonic() + SECONDS
    page = _Page(base, menus=False)
    page.read(html[:MAX_INPUT], end)
    if not page.blocks.rows:  # a menu is better than nothing, and one that is never closed swallows everything
        page = _Page(base, menus=True)
        page.read(html[:MAX_INPUT], end)
    found = page.found
    found.cut = page.cut or len(html) > MAX_INPUT
    title = " ".join(page.title.split())[:300]
    if title and not page.has_heading:
        page.blocks.rows[:0] = [f"# {title}", ""]
    found.text = clean_text("\n".join(page.blocks.rows)).strip("\n")
    return found


class _Page:
    def __init__(self, base: str, *, menus: bool) -> None:
        self.found = RenderedHtml()
        self.blocks = TextBlocks()
        self.title = ""
        self.has_heading = False
        self.cut = False
        self._base = base
        self._dropped = _DROPPED - {"nav"} if menus else _DROPPED
        self._skipping: tuple[str, int] | None = None  # the element that is left out, and how often it is open
        self._link = ""
        self._pre: list[str] | None = None
        self._language = ""
        self._table: list[list[str]] | None = None
        self._tables = 0

    def read(self, html: str, end: float) -> None:
        for number, piece in enumerate(pieces(html)):
            if self.blocks.full or (number % _LOOKS_AT_CLOCK == 0 and time.monotonic() > end):
                self.cut = True
                break
            self._piece(piece)
        if self._pre is not None:
            self._end_code()
        self._end_table()
        self._flush()

    def _piece(self, piece: HtmlPiece) -> None:
        if piece.name == "title":
            if piece.kind == "text" and not self.title:
                self.title = piece.text
        elif self._skipping is not None:
            self._skip(piece)
        elif piece.kind == "text":
            if not piece.name:  # else it is the inside of something left out
                self._text(piece.text)
        elif piece.kind == "open":
            self._open(piece.name, piece.text)
        else:
            self._close(piece.name)

    def _skip(self, piece: HtmlPiece) -> None:
        name, depth = self._skipping or ("", 0)
        if piece.name == name and piece.kind != "text":
            depth += 1 if piece.kind == "open" else -1
            self._skipping = (name, depth) if depth else None

    def _text(self, text: str) -> None:
        if self._pre is not None:
            self._pre.append(text)
            self.blocks.count(len(text))
        else:
            self.blocks.add(_SPACE.sub(" ", text))

    def _open(self, name: str, written: str) -> None:
        if name in ("link", "base"):
            self._note(name, attributes(written))
        elif name in self._dropped or (name in _MAY_BE_HIDDEN and _is_hidden(written)):
            self.found.has_scripts = self.found.has_scripts or name == "script"
            if not written.endswith("/"):
                self._skipping = (name, 1)
        elif self._pre is not None:
            self._open_in_code(name, written)
        elif name == "a":
            self._end_link()
            self._start_link(attributes(written).get("href", ""))
        elif name == "img":
            self._image(attributes(written))
        elif name == "br":
            self.blocks.add("\n")
        elif name in ("code", "kbd", "samp", "tt"):
            self.blocks.add("`")
        else:
            self._open_block(name, written)

    def _open_in_code(self, name: str, written: str) -> None:
        if name == "br":
            self._text("\n")
        elif name == "code" and not self._language:
            self._language = _language(written)

    def _open_block(self, name: str, written: str) -> None:
        if name in _HEADINGS:
            self._flush()
            self.blocks.heading = _HEADINGS[name]
            self.has_heading = self.has_heading or name == "h1"
        elif name in ("ul", "ol", "li", "blockquote", "hr", "pre"):
            self._flush()
            self._open_group(name, written)
        elif name in ("table", "tr", "td", "th"):
            self._open_table(name)
        elif name in _BLOCKS:
            self._flush()

    def _open_group(self, name: str, written: str) -> None:
        match name:
            case "ul" | "ol":
                self.blocks.open_list(ordered=name == "ol")
            case "li":
                self.blocks.item()
            case "blockquote":
                self.blocks.quotes += 1
            case "hr":
                self.blocks.put(["---"])
            case _:
                self._abandon_table()  # tables that lay out code are none
                self._pre, self._language = [], _language(written)

    def _open_table(self, name: str) -> None:
        self._flush()
        if name == "table":
            self._tables += 1
            if self._tables == 1:
                self._table = []
        elif self._table is not None and self._tables <= 1:
            if name == "tr" or not self._table:
                self._table.append([])
            if name != "tr":
                self._table[-1].append("")

    def _close(self, name: str) -> None:
        if self._pre is not None:
            if name == "pre":
                self._end_code()
        elif name == "a":
            self._end_link()
        elif name in ("code", "kbd", "samp", "tt"):
            self.blocks.add("`")
        elif name == "table":
            self._flush()
            self._tables = max(0, self._tables - 1)
            if self._tables == 0:
                self._end_table()
        elif name in _HEADINGS or name in _BLOCKS or name in ("li", "tr", "td", "th", "ul", "ol", "blockquote"):
            self._flush()
            self._close_group(name)

    def _close_group(self, name: str) -> None:
        if name in ("ul", "ol"):
            self.blocks.close_list()
        elif name == "blockquote":
            self.blocks.quotes = max(0, self.blocks.quotes - 1)

    def _flush(self) -> None:
        """End the paragraph. In a table it goes to the cell; a link continues in the next one."""
        link = self._link
        self._end_link()
        if self._table is not None and self._table and self._table[-1]:
            text = self.blocks.taken().replace("\n", " ")
            self._table[-1][-1] = f"{self._table[-1][-1]} {text}".strip() if text else self._table[-1][-1]
        else:
            self.blocks.flush()
        self._link = link

    def _start_link(self, href: str) -> None:
        whole = _whole(self._base, href)
        if whole:
            self._link = whole
            self.blocks.mark()
            if whole.partition("?")[0].lower().endswith(_DOCUMENTS) and len(self.found.documents) < _LISTED:
                self.found.documents.append(whole)

    def _end_link(self) -> None:
        if self._link:
            self.blocks.link(self._link)
            self._link = ""

    def _image(self, found: dict[str, str]) -> None:
        source = _whole(self._base, found.get("src", ""))
        if found.get("alt") and source:
            self.blocks.add(f"![{_SPACE.sub(' ', found['alt'])[:300]}]({source})")

    def _end_code(self) -> None:
        code = "".join(self._pre or ()).replace("\r\n", "\n").strip("\n")
        self._pre = None
        if code.strip():
            self.blocks.put(fence(code, self._language))

    def _end_table(self) -> None:
        rows, self._table = self._table, None
        if rows:
            self.blocks.put(table_rows(rows))

    def _abandon_table(self) -> None:
        rows, self._table = self._table or [], None
        for row in rows:
            for cell in filter(None, row):
                self.blocks.put([cell])

    def _note(self, name: str, found: dict[str, str]) -> None:
        href = _whole(self._base, found.get("href", ""))
        if name == "base" and href:
            self._base = href
        elif "alternate" in found.get("rel", "").lower().split():
            kind, known = found.get("type", "").lower(), self.found.alternates
            if kind not in known and len(known) < _LISTED and href:
                known[kind] = href


def _is_hidden(written: str) -> bool:
    """By an attribute of its own; what a class means is not known here."""
    lower = written[:_LONGEST_LINK].lower()
    if "hidden" not in lower and "display" not in lower:
        return False
    found = attributes(lower)
    return found.get("hidden", "until-found") != "until-found" or bool(_NOT_DISPLAYED.search(found.get("style", "")))


def _language(written: str) -> str:
    found = _LANGUAGE.search(attributes(written).get("class", ""))
    return found[1] if found else ""


def _whole(base: str, href: str) -> str:
    """A link made whole; empty when it is none of the web, or only a place in the page."""
    if not href or href.startswith("#") or len(href) > _LONGEST_LINK:
        return ""
    try:
        whole = urljoin(base, href)
    except ValueError:
        return ""
    is_link = whole.startswith(("http://", "https://")) and len(whole) <= _LONGEST_LINK
    return whole.replace(" ", "%20").replace(")", "%29").replace("\n", "") if is_link else ""
