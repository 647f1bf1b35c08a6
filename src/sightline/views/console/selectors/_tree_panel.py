"""The tree of a session on the screen: walk through it, filter, search, label.

Rules:

- What is shown is the host's answer to `Outline`: it alone knows the whole text of an entry. While an answer is under
  way the old lines stay; only the newest question counts, and enter waits for its answer.
- What is typed is searched for, but for the keys that do something. Escape ends a search, then leaves.
- In linear mode lines are entered, not typed: an answer to a search is a new panel, so that it is read out.
"""

from collections.abc import Callable, Sequence

import msgspec

from sightline.host import Label, Outline
from sightline.journal import FILTERS, Filter
from sightline.text import clean_line
from sightline.tty import CURSOR, Component, Input, Key, Paste, Rows, Theme, graphemes, truncate
from sightline.tty.components import Input as LineInput
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import Panel
from sightline.views.console.selectors._tree_rows import EntryList, TreeLine, outlined

_DIRECT = {f"tree_filter_{name.replace('-', '_')}": name for name in FILTERS}
_HINTS = (
    ("select_confirm", "go there"),
    ("tree_label", "label"),
    ("tree_filter_next", "filter"),
    ("select_cancel", "close"),
)


class TreeView(msgspec.Struct):
    """Where the person is: kept while other panels are asked."""

    filter: Filter = "default"
    search: str = ""
    at: str = ""


class PickedLine(msgspec.Struct, frozen=True):
    """The answer: a line, or (linear) that there is something new to read."""

    line: TreeLine | None = None


class _Search(Component):
    """What is searched for, in its own row."""

    def __init__(self, theme: Theme) -> None:
        self.text = ""
        self._theme = theme
        self._rows: tuple[tuple[int, str, bool], Rows] | None = None

    def render(self, width: int) -> Rows:
        state = (width, self.text, self.focused)
        if self._rows is None or self._rows[0] != state:
            self._rows = (state, (self._row(max(1, width)),))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _row(self, width: int) -> str:
        if not self.text:
            return self._theme.style("hint", truncate("type to search", width))
        return self._theme.style("accent", "/ ") + truncate(self.text, max(1, width - 3)) + CURSOR


class TreePanel(Panel):
    """Answers with `PickedLine`, or None."""

    def __init__(self, desk: Desk, view: TreeView, lines: Sequence[TreeLine]) -> None:
        super().__init__(desk, "Session tree", _HINTS)
        self.view = view
        empty = "nothing here: alt+a shows everything"
        self.list = EntryList(self.theme, spoken=desk.drawing.linear, bindings=desk.bindings, empty=empty)
        self.list.on_select = self._choose
        self.list.on_cancel = self._cancel
        self._search = _Search(self.theme)
        self._label: LineInput | None = None
        self._labelled = ""
        self._requested = self._received = 0
        self._enter_waits = False
        self._show(list(lines))

    def render(self, width: int) -> Rows:
        self.list.set_max_rows(min(max(5, self.desk.height // 2), max(1, self.room - 2)))
        return super().render(width)

    def react(self, event: Input) -> bool:
        if self._label is not None:
            return self._react_to_label(event)
        for action, act in _KEYS.items():
            if self.desk.bindings.matches(event, action):
                act(self)
                return True
        for action, name in _DIRECT.items():
            if self.desk.bindings.matches(event, action):
                self._set_filter(name)
                return True
        if self._enter_waits and not self.desk.bindings.matches(event, "select_cancel"):
            return True  # the answer decides what enter meant
        if self._pending and self.desk.bindings.matches(event, "select_confirm"):
            self._enter_waits = True
            return True
        return self.list.handle_input(event) or self._type(event)

    @property
    def _pending(self) -> bool:
        return self._requested != self._received

    def _type(self, event: Input) -> bool:
        text = event.text if isinstance(event, Paste) or event.kind != "release" else ""
        if typed := clean_line(text):
            self._look_for(typed if self.desk.drawing.linear else self.view.search + typed)
        elif isinstance(event, Key) and self.desk.bindings.matches(event, "delete_back"):
            *rest, _ = [cluster for cluster, _ in graphemes(self.view.search)] or [""]
            self._look_for("".join(rest))
        else:
            return False
        return True

    def _look_for(self, words: str) -> None:
        if words != self.view.search:
            self.view.search = words
            self._ask()

    def _set_filter(self, name: Filter) -> None:
        if name != self.view.filter:
            self.view.filter = name
            self._ask()

    def _turn_filter(self, step: int) -> None:
        self._set_filter(FILTERS[(FILTERS.index(self.view.filter) + step) % len(FILTERS)])

    def _ask(self) -> None:
        self._requested += 1
        self._note()
        self.desk.spawn(self._fetch(self._requested))

    async def _fetch(self, number: int) -> None:
        if number != self._requested:
            return
        reply = await self.desk.submit(Outline(self.view.filter, self.view.search))
        if number != self._requested or self.finished:
            return
        self._received = number
        entered, self._enter_waits = self._enter_waits, False
        if not reply.ok:
            self.heading.set_note(reply.error)
        elif self.desk.drawing.linear:
            self.finish(PickedLine())
        else:
            self._show(outlined(reply.data).lines)
            if entered:
                self.list.choose()
        self.redraw()

    def _show(self, lines: list[TreeLine]) -> None:
        current = self.list.line
        self.list.set_lines(lines, self.view.at or (current.id if current is not None else ""))
        self.view.at = ""
        self.body.children = [self._search, self.list]
        self._note()

    def _note(self) -> None:
        self._search.text = self.view.search
        looking = " · looking…" if self._pending else ""
        self.heading.set_note(f"{self.view.filter}{looking}")

    def _choose(self, _: object) -> None:
        if (line := self.list.line) is not None:
            self.view.at = line.id
            self.finish(PickedLine(line))

    def _cancel(self) -> None:
        if self.view.search:
            self._enter_waits = False
            self._look_for("")
        else:
            self.finish(None)

    def _begin_label(self) -> None:
        line = self.list.line
        if line is None:
            return
        self._labelled = line.id
        self._label = LineInput(prompt="label › ", placeholder="empty: no label", bindings=self.desk.bindings)
        self._label.set_text(line.label)
        self._label.on_submit = self._end_label
        self.body.children = [self._label, self.list]
        self.set_hints((("submit", "keep"), ("select_cancel", "back")))
        self.redraw()

    def _react_to_label(self, event: Input) -> bool:
        if self.desk.bindings.matches(event, "select_cancel"):
            self._leave_label()
            return True
        return self._label is not None and self._label.handle_input(event)

    def _end_label(self, text: str) -> None:
        self._leave_label()
        self._requested += 1
        self.desk.spawn(self._store_label(self._labelled, clean_line(text).strip(), self._requested))

    async def _store_label(self, target: str, label: str, number: int) -> None:
        reply = await self.desk.submit(Label(target, label))
        if not reply.ok:
            self.desk.report(reply.error, "error", reply.hint)
        self.view.at = target
        await self._fetch(number)

    def _leave_label(self) -> None:
        if self._label is not None:
            self._label.focused = False
        self._label = None
        self.body.children = [self._search, self.list]
        self.set_hints(_HINTS)
        self.redraw()


_KEYS: dict[str, Callable[[TreePanel], None]] = {
    "tree_label": TreePanel._begin_label,
    "tree_filter_next": lambda panel: panel._turn_filter(1),
    "tree_filter_previous": lambda panel: panel._turn_filter(-1),
    "tree_page_up": lambda panel: panel.list.page(-1),
    "tree_page_down": lambda panel: panel.list.page(1),
}
