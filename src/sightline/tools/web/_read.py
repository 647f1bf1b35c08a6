"""Reading a web address: a page is fetched when it is read from its start; further lines come from the cache."""

import asyncio
import time
from collections import OrderedDict

import msgspec

from sightline.events import ImageFact, MarkdownFact, ReadFact
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Image, Outcome, ToolError
from sightline.tools._truncation import Truncated, fitting, human_size, truncate_head
from sightline.tools.files._selectors import Selector
from sightline.tools.read._present import DISPLAYED, ReadSubject, details_of, head_truncation, present_text
from sightline.tools.web._address import Address, parse
from sightline.tools.web._fetch import Fetched, fetch
from sightline.tools.web._guard import Reach
from sightline.tools.web._pipeline import shape

SHOWN_LINES = 300
SHOWN_BYTES = 50 * 1024
PROBE_SECONDS = 5.0
MAX_PAGES = 30  # in the cache
MAX_CHARACTERS = 16 * 1024**2
_FAILED_LINES, _FAILED_BYTES = 40, 4096  # of an error page
_RENDERED = frozenset(
    {"html", "alternate-markdown", "md-suffix", "content-negotiation", "feed", "alternate-feed", "markit", "llms.txt"}
)


class CachedPage(msgspec.Struct, frozen=True, kw_only=True):
    """A page as text. `method`: how it was made."""

    url: str  # where it came from, after redirects
    content_type: str
    method: str
    text: str
    notes: tuple[str, ...] = ()


class PageCache:
    """The pages read last, so that reading on in one does not fetch it again. One per session."""

    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, bool], CachedPage] = OrderedDict()

    def get(self, url: str, *, raw: bool) -> CachedPage | None:
        page = self._pages.get((url, raw))
        if page is not None:
            self._pages.move_to_end((url, raw))
        return page

    def add(self, requested: str, page: CachedPage, *, raw: bool) -> None:
        """Under the address that was requested, and under the one it came from."""
        for url in {requested, page.url}:
            self._pages[url, raw] = page
            self._pages.move_to_end((url, raw))
        while len(self._pages) > MAX_PAGES or (len(self._pages) > 2 and self._size() > MAX_CHARACTERS):
            self._pages.popitem(last=False)

    def _size(self) -> int:
        return sum({id(page): len(page.text) for page in self._pages.values()}.values())


async def read(path: str, context: ToolContext) -> Outcome:
    address, selector = parse(path)
    raw = selector is not None and selector.raw
    pages = context.shared(PageCache)
    is_excerpt = selector is not None and bool(selector.ranges)
    page = pages.get(str(address), raw=raw) if is_excerpt else None
    image: Image | None = None
    if page is None:
        page, image = await _loaded(address, context, raw=raw)
        if page.method != "failed" and image is None:
            pages.add(str(address), page, raw=raw)
    if selector is not None and is_excerpt and image is None and page.method != "failed":
        return await asyncio.to_thread(_lines, page, selector, str(address), context)
    return await asyncio.to_thread(_whole, page, image, str(address), context)


async def _loaded(address: Address, context: ToolContext, *, raw: bool) -> tuple[CachedPage, Image | None]:
    settings = context.settings
    reach = Reach(address, context.workplace.network, private=settings.web.private_hosts)
    end = time.monotonic() + settings.web.timeout
    fetched = await fetch(address, reach, seconds=settings.web.timeout)

    async def probe(other: Address) -> Fetched | None:
        seconds = min(PROBE_SECONDS, end - time.monotonic())
        if seconds <= 0 or other == fetched.address or reach.why_not(other):
            return None
        try:
            found = await fetch(other, reach, seconds=seconds)
        except ToolError:
            return None
        return found if found.ok and not found.cut else None

    limits = (settings.images.max_bytes, settings.images.max_side)
    shaped = await shape(fetched, probe if fetched.ok else _no_probe, limits, raw=raw)
    notes = [f"redirected from {address}"] if fetched.address != address else []
    text = shaped.text
    if not fetched.ok:
        shaped.method = "failed"
        notes.append(f"HTTP {fetched.status} {fetched.reason}".rstrip())
        text = truncate_head(text, _FAILED_LINES, _FAILED_BYTES).text
    page = CachedPage(
        url=str(shaped.address),
        content_type=shaped.content_type,
        method=shaped.method,
        text=text,
        notes=(*notes, *shaped.notes),
    )
    return page, shaped.image if fetched.ok else None


async def _no_probe(address: Address) -> Fetched | None:
    return None


def _lines(page: CachedPage, selector: Selector, requested: str, context: ToolContext) -> Outcome:
    """Some lines of a page. Lines are those of its text, not of the header before it."""
    what = ReadSubject(name=requested, source=page.url, source_kind="url", noun="page")
    outcome = present_text(page.text, selector, what, context)
    details = outcome.details | _facts(page, requested)
    if "truncation" in details:
        details["truncation"] |= {"artifact_id": _stored(page, context)}
    return msgspec.structs.replace(outcome, details=details)


def _whole(page: CachedPage, image: Image | None, requested: str, context: ToolContext) -> Outcome:
    cut = truncate_head(page.text, SHOWN_LINES, SHOWN_BYTES)
    what = ReadSubject(name=requested, source=page.url, source_kind="url", noun="page")
    kind = ImageFact if image else MarkdownFact if page.method in _RENDERED else ReadFact
    details = details_of(kind, what, total=cut.total_lines) | _facts(page, requested)
    details["display_content"] = {"text": fitting(cut.text, DISPLAYED), "start_line": 1}
    text = f"{_header(page)}{cut.text}" if cut.text else f"{_header(page)}[The page has no text]"
    if cut.truncated:
        artifact = _stored(page, context)
        details["truncation"] = details["meta"]["truncation"] = head_truncation(cut) | {"artifact_id": artifact}
        text = f"{text.rstrip(chr(10))}\n\n{_notice(cut, page, requested, artifact)}"
    return Outcome(text=text, images=(image,) if image else (), details=details)


def _header(page: CachedPage) -> str:
    notes = f"Notes: {'; '.join(page.notes)}\n" if page.notes else ""
    return f"URL: {page.url}\nContent-Type: {page.content_type}\nMethod: {page.method}\n{notes}\n---\n\n"


def _notice(cut: Truncated, page: CachedPage, requested: str, artifact: str) -> str:
    raw = ":raw" if page.method == "raw" else ""
    if cut.mid_line:
        more = f"The line is longer than one read shows; all of it is in {artifact}"
    else:
        more = f"Use {requested}:{cut.shown_lines + 1}{raw} to continue; all of it is in {artifact}"
    return f"[Showing lines 1-{cut.shown_lines} of {cut.total_lines} ({human_size(cut.total_bytes)} in all). {more}]"


def _stored(page: CachedPage, context: ToolContext) -> str:
    return context.workplace.artifacts.store(f"{context.call}-page.txt", page.text.encode("utf-8", "replace"))


def _facts(page: CachedPage, requested: str) -> Details:
    return {
        "kind": "url",
        "url": requested,
        "final_url": page.url,
        "content_type": page.content_type,
        "method": page.method,
        "notes": list(page.notes),
    }
