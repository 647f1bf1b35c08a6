"""From an answer to text: by what it is, and for a page of HTML by the best form of it there is.

    image · document · JSON · feed · text                     as they are
    HTML: markdown it names → ADDRESS.md → its own text       and, where that is next to nothing because scripts
          would write it: a feed it names → a document it links to → the site's llms.txt → the HTML itself

Requests prefer markdown, so a server that can answer in it already has. The character set of a page is believed as far
as its bytes agree.
"""

import asyncio
import codecs
import re
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path

import msgspec

from sightline.handles import ours
from sightline.tools._tool import Image, ToolError
from sightline.tools._truncation import human_size
from sightline.tools.files import _documents, _images
from sightline.tools.read._files import looks_binary
from sightline.tools.web._address import Address, follow, is_same_site
from sightline.tools.web._feeds import NotAFeed, feed_text
from sightline.tools.web._fetch import Fetched
from sightline.tools.web._html import RenderedHtml, render

Probe = Callable[[Address], Awaitable[Fetched | None]]  # one more request; None when it was in vain
_THIN = 200  # characters of a page that, with scripts, are next to nothing
_MARKDOWN = ("text/markdown", "text/x-markdown")
_FEEDS = ("application/rss+xml", "application/atom+xml", "application/rdf+xml")
_WIDE = ("utf-16", "utf-32")
_HTML = ("text/html", "application/xhtml+xml")
_MARKS = ((codecs.BOM_UTF8, "utf-8"), (codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
_DECLARED = re.compile(
    rb"""<meta[^>]{0,200}?charset\s*=\s*["']?\s*([A-Za-z0-9_.:-]{1,40})"""
    rb"""|<\?xml[^>]{0,100}?encoding\s*=\s*["']([A-Za-z0-9_.:-]{1,40})""",
    re.IGNORECASE,
)
_LOOKED_AT = 2048
# Character sets of pages. Others that Python knows are no such thing, and some are slow on purpose-made bytes.
_KNOWN = (
    {"utf-8", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "ascii", "koi8-r", "koi8-u", "gb2312", "gbk", "gb18030"}
    | {"big5", "big5hkscs", "shift_jis", "cp932", "euc_jp", "iso2022_jp", "euc_kr", "cp949", "cp866", "cp874"}
    | {"tis-620", "mac-roman"}
    | {f"cp125{number}" for number in range(9)}
    | {f"iso8859-{number}" for number in range(1, 17)}
)
# What calls itself one of these is, on the web, the larger set.
_WIDER = {"ascii": "cp1252", "iso8859-1": "cp1252", "gb2312": "gb18030", "gbk": "gb18030", "shift_jis": "cp932"}
_NOT_LIKE_UTF8 = ("utf-16", "utf-32", "iso2022")  # or too much like it
MAX_IMAGE = 300 * 1024  # bytes of an image as a model is shown it
_OFFICE = "application/vnd.openxmlformats-officedocument"
_SUFFIXES = {
    **dict.fromkeys(("application/pdf", "application/x-pdf"), ".pdf"),
    "application/msword": ".doc",
    "application/vnd.ms-powerpoint": ".ppt",
    "application/vnd.ms-excel": ".xls",
    f"{_OFFICE}.wordprocessingml.document": ".docx",
    f"{_OFFICE}.presentationml.presentation": ".pptx",
    f"{_OFFICE}.spreadsheetml.sheet": ".xlsx",
    **dict.fromkeys(("application/rtf", "text/rtf"), ".rtf"),
    "application/epub+zip": ".epub",
}
_UNKNOWN = ("", "application/octet-stream", "binary/octet-stream", "application/zip", "application/x-download")


class ShapedPage(msgspec.Struct, kw_only=True):
    """What an answer came to; `address` and `content_type` are of the one that won."""

    method: str
    address: Address
    content_type: str
    text: str = ""
    image: Image | None = None
    notes: list[str] = []


async def shape(fetched: Fetched, probe: Probe, limits: tuple[int, int], *, raw: bool) -> ShapedPage:
    """`limits`: bytes and pixels of an image."""
    if _is_image(fetched):
        image, note = await asyncio.to_thread(_as_image, fetched, limits)
        return _shaped(fetched, "image", note, image=image)
    suffix = _document_suffix(fetched)
    if suffix:
        return await _document(fetched, suffix)
    if _is_binary(fetched):
        size = human_size(len(fetched.body))
        text = f"[Binary content ({size}) is not shown. Download it with a command to look into it]"
        return _shaped(fetched, "binary", text)
    text, note = await asyncio.to_thread(_text_of, fetched.body, fetched.charset)
    shaped = await _text(fetched, text, probe, raw=raw)
    shaped.notes += [note] if note else []
    shaped.notes += [f"only the first {human_size(len(fetched.body))} were read"] if fetched.cut else []
    return shaped


def _is_binary(fetched: Fetched) -> bool:
    """By its bytes; what is called text may have bytes that are no UTF-8, but no zeros except where characters are
    wide."""
    if fetched.charset.startswith(_WIDE) or fetched.body.startswith((b"\xff\xfe", b"\xfe\xff")):
        return False
    if fetched.media_type.startswith("text/") or fetched.media_type.endswith(("json", "xml", "javascript")):
        return b"\0" in fetched.body[:65536]
    return looks_binary(fetched.body[:65536])


async def _text(fetched: Fetched, text: str, probe: Probe, *, raw: bool) -> ShapedPage:
    kind = fetched.media_type
    start = text[:1000].lstrip("\ufeff \t\r\n").lower()
    if raw:
        return _shaped(fetched, "raw", text)
    if kind in _HTML or (not kind and start.startswith(("<!doctype html", "<html"))):
        return await _page(fetched, text, probe)
    if kind == "application/json" or kind.endswith("+json"):
        return _shaped(fetched, "json", await asyncio.to_thread(_formatted, text))
    if kind in _FEEDS or kind.endswith("xml"):
        return await _feed(fetched, text)
    return _shaped(fetched, "content-negotiation" if _negotiated(fetched) else "text", text)


async def _page(fetched: Fetched, html: str, probe: Probe) -> ShapedPage:
    rendered = await asyncio.to_thread(render, html, str(fetched.address))
    better = await _markdown(fetched, rendered, probe)
    if better is not None:
        return better
    notes = ["only the beginning of the page was rendered"] if rendered.cut else []
    if len(rendered.text) >= _THIN or not (rendered.has_scripts or not rendered.text):
        return _shaped(fetched, "html", rendered.text, notes=notes)
    instead = await _instead(fetched, rendered, probe)
    if instead is not None:
        instead.notes.append("the page itself has next to no text without its scripts")
        return instead
    if rendered.text:
        notes.append("the page has little text without its scripts")
        return _shaped(fetched, "html", rendered.text, notes=notes)
    return _shaped(fetched, "raw-html", html, notes=["no text was found in the page; this is its source"])


async def _markdown(fetched: Fetched, rendered: RenderedHtml, probe: Probe) -> ShapedPage | None:
    """The same page as markdown: at the address it names, or under the name it would have."""
    for kind in _MARKDOWN:
        found = await _probed(fetched, rendered.alternates.get(kind, ""), probe)
        if found is not None and (text := await asyncio.to_thread(_as_markdown, found)):
            return _shaped(found, "alternate-markdown", text)
    path = fetched.address.path.rstrip("/")
    if not path or path.endswith((".md", ".txt")):
        return None
    beside = msgspec.structs.replace(fetched.address, target=f"{path}.md")
    found = await probe(beside)
    if found is not None and (text := await asyncio.to_thread(_as_markdown, found)):
        return _shaped(found, "md-suffix", text)
    return None


async def _instead(fetched: Fetched, rendered: RenderedHtml, probe: Probe) -> ShapedPage | None:
    """A source with text for a page that has none: a feed, a linked document, the site's llms.txt."""
    for kind in _FEEDS:
        found = await _probed(fetched, rendered.alternates.get(kind, ""), probe)
        if found is not None:
            text, _ = await asyncio.to_thread(_text_of, found.body, found.charset)
            shaped = await _feed(found, text)
            if shaped.method == "feed":
                shaped.method = "alternate-feed"
                return shaped
    for link in rendered.documents[:1]:
        found = await _probed(fetched, link, probe)
        if found is not None and (suffix := _document_suffix(found)):
            shaped = await _document(found, suffix)
            shaped.method = "linked-document"
            return shaped
    found = await probe(msgspec.structs.replace(fetched.address, target="/llms.txt"))
    if found is not None and (text := await asyncio.to_thread(_as_markdown, found)):
        return _shaped(found, "llms.txt", text)
    return None


async def _probed(fetched: Fetched, link: str, probe: Probe) -> Fetched | None:
    """Another address of the same site; any other would need its own approval."""
    address = follow(fetched.address, link) if link else None
    if address is None or not is_same_site(address.host, fetched.address.host):
        return None
    return await probe(address)


def _as_markdown(found: Fetched) -> str:
    """The text of an answer that is not, after all, a page: many servers answer everything with one."""
    if found.media_type in _HTML or _is_binary(found):
        return ""
    text = _text_of(found.body, found.charset)[0]
    is_page = text[:1000].lstrip("\ufeff \t\r\n").lower().startswith(("<!doctype", "<html", "<?xml"))
    return "" if is_page else text.strip("\r\n")


async def _feed(fetched: Fetched, text: str) -> ShapedPage:
    try:
        words = await asyncio.to_thread(feed_text, text, str(fetched.address))
    except NotAFeed as reason:
        notes = [f"not read as a feed: {reason}"] if fetched.media_type in _FEEDS else []
        return _shaped(fetched, "text", text, notes=notes)
    return _shaped(fetched, "feed", words)


async def _document(fetched: Fetched, suffix: str) -> ShapedPage:
    try:
        if fetched.cut:
            raise ToolError(f"it is larger than {human_size(len(fetched.body))}")
        return _shaped(fetched, "markit", await _document_text(fetched.body, suffix))
    except ToolError as reason:
        return _shaped(fetched, "markit", _documents.cannot_read(f"a{suffix}", reason))


def _formatted(text: str) -> str:
    """With line breaks, so that there are lines to read."""
    try:
        return msgspec.json.format(text.lstrip("\ufeff"), indent=2)
    except (msgspec.DecodeError, RecursionError, ValueError):
        return text


def _negotiated(fetched: Fetched) -> bool:
    return fetched.media_type in _MARKDOWN and not fetched.address.path.lower().endswith((".md", ".markdown", ".txt"))


def _shaped(
    fetched: Fetched, method: str, text: str, *, image: Image | None = None, notes: list[str] | None = None
) -> ShapedPage:
    kind = fetched.media_type or "unknown"
    return ShapedPage(
        method=method, address=fetched.address, content_type=kind, text=text, image=image, notes=list(notes or ())
    )


def _is_image(fetched: Fetched) -> bool:
    """By its bytes: what a server calls it does not matter."""
    return _images.sniff(fetched.body[: _images.SNIFFED]) is not None


def _as_image(fetched: Fetched, limits: tuple[int, int]) -> tuple[Image | None, str]:
    """An image a model can be shown and what it is, or why there is none. Blocking."""
    if fetched.cut:
        return None, f"[The image has more than {len(fetched.body) // 1024**2} MB, which is too much to show]"
    try:
        fitted = _images.fit(fetched.body, max_bytes=min(limits[0], MAX_IMAGE), max_side=limits[1])
    except ToolError as reason:
        return None, f"[Image not shown: {reason}]"
    return fitted.image, fitted.note


def _document_suffix(fetched: Fetched) -> str:
    """What a file with this in it would be called; empty when it is no document."""
    found = _SUFFIXES.get(fetched.media_type, "")
    if found or fetched.body.startswith(b"%PDF-"):
        return found or ".pdf"
    suffix = Path(fetched.address.path).suffix.lower()
    return suffix if fetched.media_type in _UNKNOWN and suffix in _documents.EXTENSIONS else ""


async def _document_text(body: bytes, suffix: str) -> str:
    """As markdown. DocumentError says why it cannot be."""
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="sightline-page-"))
    try:
        path = folder / f"document{suffix}"
        await asyncio.to_thread(path.write_bytes, body)
        with ours(path):
            return await _documents.convert(path)
    finally:
        await asyncio.shield(asyncio.to_thread(shutil.rmtree, folder, ignore_errors=True))


def _text_of(body: bytes, charset: str) -> tuple[str, str]:
    """The text, and a note when some of it could not be read. `charset` is the server's, perhaps empty."""
    for mark, name in _MARKS:
        if body.startswith(mark):
            return _noted(body[len(mark) :].decode(name, "replace"))
    declared = _known(charset) or _known(_in_page(body))
    if declared.startswith(_NOT_LIKE_UTF8):
        return _noted(body.decode(declared, "replace"))
    try:
        return body.decode("utf-8"), ""  # no other set of characters makes valid UTF-8 by chance
    except UnicodeDecodeError:
        pass
    if declared not in ("", "utf-8"):
        return _noted(body.decode(_WIDER.get(declared, declared), "replace"))
    text = body.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    foreign = len(text) - len(text.encode("ascii", "ignore"))
    if broken <= foreign - broken or broken == _broken_end(body):
        return _noted(text)
    return _noted(body.decode("cp1252", "replace"))


def _broken_end(body: bytes) -> int:
    """1 when all that is wrong is a character cut in half at the end."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(body)
    except UnicodeDecodeError:
        return 0
    return 1


def _in_page(body: bytes) -> str:
    found = _DECLARED.search(body, 0, _LOOKED_AT)
    return (found[1] or found[2]).decode() if found else ""


def _known(name: str) -> str:
    """As Python calls it; empty when it is none of a page."""
    try:
        found = codecs.lookup(name.strip()).name if name.isascii() and name.strip() else ""
    except (LookupError, ValueError):
        return ""
    return found if found in _KNOWN else ""


def _noted(text: str) -> tuple[str, str]:
    return text, "some bytes are not text and are shown as \ufffd" if "\ufffd" in text else ""
