"""A pager over the whole window, for any text and for the output of a call.

Rules:

- Reading happens in a thread, one step after the other; keys pressed meanwhile are handled together after it. The event
  loop draws rows that are there already.
- Growing output is followed from its end on (`view_last`); any other move ends that.
- Copied is the text as it was written: without wraps, colours and what the screen added.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence

import msgspec

from sightline.text import clean_line, clean_text
from sightline.tty import Input, Key, Overlay, Rows, measure, pad, truncate
from sightline.tty.components import Input as LineInput
from sightline.views.console._desk import Answerable, Desk
from sightline.views.console.selectors._pages import PagerPosition, PagerSource, Paint

COPIED_AT_MOST = 4 * 1024 * 1024
_SPOKEN_AT_MOST = 1024 * 1024  # in linear mode
_LOOKS_APART = 0.25
WHOLE = Overlay(anchor="top-left", whole=True)


class PagerDocument(msgspec.Struct):
    title: str
    source: PagerSource
    grows: Callable[[], bool] = lambda: False
    paint: Paint | None = None


Opens = Callable[[], PagerDocument]
"""Called in a thread."""

_Work = Callable[[PagerPosition], None]


async def show(desk: Desk, documents: Sequence[Opens], at: int = 0) -> None:
    """Show documents, beginning with one of them, until the user closes the pager."""
    if not documents:
        return
    if desk.drawing.linear:
        desk.report(await asyncio.to_thread(_spoken_text, documents[at]))
    else:
        await desk.ask(Viewer(desk, documents, at), WHOLE)


def _spoken_text(opens: Opens) -> str:
    """The end of a document, for linear mode."""
    document = opens()
    size = document.source.size
    text = clean_text(document.source.read(max(0, size - _SPOKEN_AT_MOST), _SPOKEN_AT_MOST).decode(errors="replace"))
    cut = f"(the last {_SPOKEN_AT_MOST // 1024} KB of {size // 1024} KB)\n" if size > _SPOKEN_AT_MOST else ""
    return f"{clean_line(document.title)}\n{cut}{text}".rstrip("\n")


class Viewer(Answerable):
    """Shows documents, one at a time."""

    def __init__(self, desk: Desk, documents: Sequence[Opens], at: int = 0) -> None:
        self._desk = desk
        self._theme = desk.drawing.theme
        self._documents = documents
        self._at = at
        self._document: PagerDocument | None = None
        self._pages: PagerPosition | None = None
        self._body: list[str] = []
        self._share = 0
        self._laid_out: tuple[int, int] | None = None
        self._waiting: list[_Work] = []
        self._working = self._watching = False
        self._following = False
        self._searching = self._stop_search = False
        self._query: LineInput | None = None
        self._words = ""
        self._notice = ""
        self._version = 0
        self._rows: tuple[tuple[int, int, int], Rows] | None = None

    def render(self, width: int) -> Rows:
        height = max(1, self._desk.height - 2)
        if self._laid_out != (width, height):
            self._laid_out = (width, height)
            self._do(_nothing)
        state = (width, height, self._version)
        if self._rows is None or self._rows[0] != state or self._query is not None:
            rows = [truncate(row, width) for row in self._body[:height]]
            self._rows = (state, (self._top(width), *rows, *[""] * (height - len(rows)), self._bottom(width)))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None
        self._do(_nothing)

    def dispose(self) -> None:
        self.finished = self._stop_search = True

    def handle_input(self, event: Input) -> bool:
        if self.finished:
            return True
        matches = self._desk.bindings.matches
        if self._query is not None:
            return self._react_to_query(event)
        if matches(event, "select_cancel") and self._searching:
            self._stop_search = True
        elif any(matches(event, action) for action in ("view_close", "select_cancel", "interrupt")):
            self.finish(None)
        elif matches(event, "exit"):
            self.finish(None)  # it would cover a question before leaving
            return False
        else:
            action = next((name for name in _ACTIONS if matches(event, name)), None)
            if action is None:
                return False
            self._set_notice("")
            _ACTIONS[action](self)
        return True

    def go(self, work: _Work, *, follow: bool = False) -> None:
        """Move, in the thread."""
        self._following = follow
        self._do(work)

    @property
    def grows(self) -> bool:
        return self._document is not None and self._document.grows()

    def turn(self, step: int) -> None:
        """Show another document, if there is one."""
        if 0 <= self._at + step < len(self._documents):
            self._at += step
            self._document = self._pages = None
            self._do(_nothing)

    def search(self) -> None:
        self._query = LineInput(prompt="/", bindings=self._desk.bindings, theme=self._theme)
        self._query.focused = True
        self._query.set_text(self._words)
        self._query.on_submit = self._begin_search
        self._changed()

    def again(self, *, forward: bool) -> None:
        if self._words:
            self._find(forward=forward, here=False)

    def wrap(self) -> None:
        def turn(pages: PagerPosition) -> None:
            pages.wrapped = not pages.wrapped
            pages.move(-pages.top.row)

        self.go(turn, follow=self._following)

    def copy(self) -> None:
        self._desk.spawn(self._copy())

    async def _copy(self) -> None:
        if self._document is None:
            return
        source = self._document.source
        size = await asyncio.to_thread(lambda: source.size)
        if size > COPIED_AT_MOST:
            self._set_notice(f"{size // 1024**2} MB is too much to copy")
            return
        data = await asyncio.to_thread(source.read, 0, size)
        self._desk.copy(clean_text(data.decode(errors="replace")))
        self._set_notice("copied")

    def _react_to_query(self, event: Input) -> bool:
        assert self._query is not None
        if self._desk.bindings.matches(event, "select_cancel") or self._desk.bindings.matches(event, "interrupt"):
            self._query = None
            self._changed()
            return True
        known = self._query.handle_input(event)
        self._changed()
        if not known and self._desk.bindings.matches(event, "exit"):
            self.finish(None)
            return False
        return known or isinstance(event, Key)

    def _begin_search(self, words: str) -> None:
        self._query = None
        self._words = words
        self._find(forward=True, here=True)

    def _find(self, *, forward: bool, here: bool) -> None:
        self._stop_search, self._searching = False, True
        self._set_notice("searching…" if self._words else "")
        words = self._words

        def look(pages: PagerPosition) -> None:
            pages.query = words
            found = not words or pages.find(forward=forward, here=here, stopped=lambda: self._stop_search)
            self._searching = False
            self._notice = "" if found else "stopped" if self._stop_search else "not found"

        self.go(look)

    def _do(self, work: _Work) -> None:
        self._waiting.append(work)
        if not self._working and not self.finished:
            self._working = True
            self._desk.spawn(self._work())

    async def _work(self) -> None:
        try:
            while self._waiting and not self.finished:
                waiting, self._waiting = self._waiting, []
                await asyncio.to_thread(self._perform, waiting)
                self._watch()
                self._changed()
        finally:
            self._working = False

    def _perform(self, waiting: list[_Work]) -> None:
        if self._pages is None:
            self._document = self._documents[self._at]()
            self._pages = PagerPosition(self._document.source, self._theme, self._document.paint)
            self._following = self._document.grows()
        pages = self._pages
        if self._laid_out is not None:
            pages.fit(*self._laid_out)
        for work in waiting:
            work(pages)
        if self._following:
            pages.last()
        self._body, self._share = pages.rows(), pages.share

    def _watch(self) -> None:
        if not self._watching and self.grows:
            self._watching = True
            self._desk.spawn(self._look_again())

    async def _look_again(self) -> None:
        """Read again while it grows, and once more after that."""
        grows, size = True, -1
        while grows and not self.finished:
            await asyncio.sleep(_LOOKS_APART)
            grows = self.grows
            if (pages := self._pages) is not None and (now := await asyncio.to_thread(_size_of, pages)) != size:
                size = now
                self._do(_nothing)
        self._watching = False

    def _set_notice(self, words: str) -> None:
        self._notice = words
        self._changed()

    def _changed(self) -> None:
        self._version += 1
        if not self.finished:
            self._desk.redraw(self)

    def _top(self, width: int) -> str:
        many = len(self._documents)
        title = clean_line(self._document.title) if self._document is not None else ""
        place = f" {self._at + 1}/{many}" if many > 1 else ""
        room = max(1, width - len(place))
        return self._theme.style("heading", pad(title, room)) + self._theme.style("muted", place[:width])

    def _bottom(self, width: int) -> str:
        if self._query is not None:
            return self._query.render(width)[0]
        if self._pages is None:
            return self._theme.style("muted", truncate("reading…", width))
        notice = self._notice or ("following" if self._following else f"{self._share} %")
        hints = [(self._beside() if action == _BESIDE else [action], meaning) for action, meaning in _HINTS]
        return bottom_row(self._desk, notice, hints, width)

    def _beside(self) -> list[str]:
        """The actions for the documents before and after this one."""
        there = (("view_before", self._at > 0), ("view_after", self._at + 1 < len(self._documents)))
        return [action for action, is_there in there if is_there]


def bottom_row(
    desk: Desk, place: str, hints: Iterable[tuple[Sequence[str], str]], width: int, *, note: str = ""
) -> str:
    """The last row of a view over the window: where the user is, what happened, and the keys of these actions. The
    first of them leaves, and is named at any width."""
    style = desk.drawing.theme.style
    keyed = [
        ("/".join(key for action in actions for key in desk.bindings.keys(action)[:1]), meaning)
        for actions, meaning in hints
    ]
    words = [f" · {keys} {meaning}" for keys, meaning in keyed if keys]
    room = max(width - measure("".join(words[:1])), 0)
    row = style("accent", truncate(place, room))
    if note:
        row += style("hint", truncate(f" · {clean_line(note)}", max(room - measure(row), 0)))
    for hint in words:
        if measure(row) + measure(hint) > width:
            break
        row += style("hint", hint)
    return row


def _size_of(pages: PagerPosition) -> int:
    return pages.source.size


def _nothing(pages: PagerPosition) -> None:
    """Only draw again."""


_BESIDE = "beside"
_HINTS = (
    ("view_close", "leave"),
    ("view_search", "search"),
    (_BESIDE, "other block"),
    ("view_last", "bottom"),
    ("view_wrap", "wrap"),
    ("view_copy", "copy"),
    ("view_next", "next"),
)

_ACTIONS: dict[str, Callable[[Viewer], None]] = {
    "view_up": lambda viewer: viewer.go(lambda pages: pages.move(-1)),
    "view_down": lambda viewer: viewer.go(lambda pages: pages.move(1)),
    "view_page_up": lambda viewer: viewer.go(lambda pages: pages.move(-pages.height)),
    "view_page_down": lambda viewer: viewer.go(lambda pages: pages.move(pages.height)),
    "view_first": lambda viewer: viewer.go(PagerPosition.first),
    "view_last": lambda viewer: viewer.go(PagerPosition.last, follow=viewer.grows),
    "view_search": Viewer.search,
    "view_next": lambda viewer: viewer.again(forward=True),
    "view_previous": lambda viewer: viewer.again(forward=False),
    "view_wrap": Viewer.wrap,
    "view_copy": Viewer.copy,
    "view_before": lambda viewer: viewer.turn(-1),
    "view_after": lambda viewer: viewer.turn(1),
}
