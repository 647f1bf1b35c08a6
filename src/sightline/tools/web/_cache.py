"""The pages read last, so that reading on in one does not fetch it again. One per session."""

from collections import OrderedDict

import msgspec

MAX_PAGES = 30
MAX_CHARACTERS = 16 * 1024**2


class CachedPage(msgspec.Struct, frozen=True, kw_only=True):
    """What a page came to. `method`: how."""

    url: str  # where it came from, after redirects
    content_type: str
    method: str
    text: str
    notes: tuple[str, ...] = ()


class PageCache:
    def __init__(self) -> None:
        self._pages: OrderedDict[tuple[str, bool], CachedPage] = OrderedDict()

    def get(self, url: str, *, raw: bool) -> CachedPage | None:
        page = self._pages.get((url, raw))
        if page is not None:
            self._pages.move_to_end((url, raw))
        return page

    def keep(self, asked: str, page: CachedPage, *, raw: bool) -> None:
        """Under the address that was asked for, and under the one it came from."""
        for url in {asked, page.url}:
            self._pages[url, raw] = page
            self._pages.move_to_end((url, raw))
        while len(self._pages) > MAX_PAGES or (len(self._pages) > 2 and self._size() > MAX_CHARACTERS):
            self._pages.popitem(last=False)

    def _size(self) -> int:
        return sum({id(page): len(page.text) for page in self._pages.values()}.values())
