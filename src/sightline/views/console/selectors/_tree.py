"""`/tree`: move to another point of the conversation: walk through the session's tree, filter, search, label.

Rules:

- Choosing one of the user's messages moves to before it, with its text in the editor; choosing anything else moves
  right behind it. The branch that is left can be summarised first, where the settings say so.
- What is shown is the host's reply to `Outline`: it alone has the whole text of an entry.
- Letters search, but for the keys that do something. Escape ends a search, then closes.
- In linear mode lines are entered, not typed: the result of a search is a new panel, so that it is read out.
"""

from collections.abc import Callable, Sequence

import msgspec

from sightline.host import Abort, CommandReply, Label, MoveTo, Outline
from sightline.journal import FILTERS, Filter
from sightline.text import clean_line
from sightline.tty import CURSOR, CachedComponent, Input, Key, Paste, Rows, Theme, graphemes, truncate
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item
from sightline.views.console._desk import Desk, accepted, reply_data, report_refusal
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel, SearchPanel, WaitingPanel
from sightline.views.console.selectors._tree_rows import EntryList, TreeLine, outlined

_NO_SUMMARY, _SUMMARY, _CUSTOM = "none", "summary", "custom"
_CHOICES = (
    Item(_NO_SUMMARY, "No summary"),
    Item(_SUMMARY, "Summarize"),
    Item(_CUSTOM, "Summarize with custom prompt"),
)
_DIRECT = {f"tree_filter_{name.replace('-', '_')}": name for name in FILTERS}
_HINTS = (
    ("select_confirm", "go there"),
    ("tree_label", "label"),
    ("tree_filter_next", "filter"),
    ("select_cancel", "close"),
)


class TreeView(msgspec.Struct):
    """Where the user is: the same while other panels are shown."""

    filter: Filter = "default"
    search: str = ""
    at: str = ""


class PickedLine(msgspec.Struct, frozen=True):
    """The answer: a line, or (linear) that there is a new list to read."""

    line: TreeLine | None = None


async def open(desk: Desk, args: str) -> None:
    view = TreeView(search=args.strip())
    while (line := await _picked(desk, view)) is not None:
        if line.current:
            desk.report("Already at this point")
            return
        move = await _how(desk, line)
        if move is not None and await _moved(desk, move):
            return
        view.at = line.id


async def _picked(desk: Desk, view: TreeView) -> TreeLine | None:
    while True:
        reply = await accepted(desk, Outline(view.filter, view.search))
        if reply is None:
            return None
        picked: PickedLine | None = await desk.ask(TreePanel(desk, view, outlined(reply.data).lines))
        if picked is None or picked.line is not None:
            return None if picked is None else picked.line


async def _how(desk: Desk, line: TreeLine) -> MoveTo | None:
    """The command for the host; None: back to the tree."""
    if not desk.settings.branch_summary.enabled:
        return MoveTo(line.id)
    while True:
        choice = await desk.ask(ChoicePanel(desk, "Summarize the branch you leave?", _CHOICES, filter=False))
        if choice is None:
            return None
        if choice != _CUSTOM:
            return MoveTo(line.id, summarize=choice == _SUMMARY)
        words = await desk.ask(QuestionPanel(desk, "What should the summary be about?", confirm="summarize"))
        if words is not None:
            return MoveTo(line.id, summarize=True, instructions=words)


async def _moved(desk: Desk, move: MoveTo) -> bool:
    """Whether it was carried out, or refused; False: nothing was moved, and the tree is shown again."""
    if move.summarize:
        working = WaitingPanel(desk, "Summarizing the branch you leave…", move, Abort())
        reply = await working.answer()
        if not reply.ok:
            if not working.stopped:
                report_refusal(desk, reply)
            return False
    else:
        reply = await desk.submit(move)
    _finish_move(desk, reply)
    return True


def _finish_move(desk: Desk, reply: CommandReply) -> None:
    done = reply_data(reply)
    if not reply.ok:
        report_refusal(desk, reply)
    elif not done.get("moved"):
        desk.report("Already at this point")
    elif prefill := str(done.get("prefill") or ""):
        # The draft stays, behind the text of the message.
        desk.set_draft(f"{prefill}\n\n{desk.draft}" if desk.draft.strip() else prefill)


class _Query(CachedComponent):
    """The search text, in its own row."""

    def __init__(self, theme: Theme) -> None:
        self.text = ""
        self._theme = theme

    def _key(self) -> tuple[object, ...]:
        return (self.text, self.focused)

    def _draw(self, width: int) -> Rows:
        width = max(1, width)
        if not self.text:
            return (self._theme.style("hint", truncate("type to search", width)),)
        return (self._theme.style("accent", "/ ") + truncate(self.text, max(1, width - 3)) + CURSOR,)


class TreePanel(SearchPanel[CommandReply]):
    """Answers with `PickedLine`, or None."""

    list: EntryList

    def __init__(self, desk: Desk, view: TreeView, lines: Sequence[TreeLine]) -> None:
        super().__init__(desk, "Session tree", _HINTS)
        self.view = view
        empty = "nothing here: alt+a shows everything"
        self.list = EntryList(self.theme, spoken=desk.drawing.linear, bindings=desk.bindings, empty=empty)
        self.list.on_select = self._choose
        self.list.on_cancel = self._cancel
        self._query = _Query(self.theme)
        self._label: LineInput | None = None
        self._labelled = ""
        self._show(lines)

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
            return True  # the result decides what enter means
        if self._pending and self.desk.bindings.matches(event, "select_confirm"):
            self._enter_waits = True
            return True
        return self.list.handle_input(event) or self._type(event)

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
        self._begin_search()
        self._note()

    async def _search(self) -> CommandReply:
        return await self.desk.submit(Outline(self.view.filter, self.view.search))

    def _show_found(self, found: CommandReply) -> bool:
        if not found.ok:
            self.heading.set_note(found.error)
        elif self.desk.drawing.linear:
            self.finish(PickedLine())
        else:
            self._show(outlined(found.data).lines)
            return True
        return False

    def _show(self, lines: Sequence[TreeLine]) -> None:
        current = self.list.line
        self.list.set_lines(lines, self.view.at or (current.id if current is not None else ""))
        self.view.at = ""
        self.body.children = [self._query, self.list]
        self._note()

    def _note(self) -> None:
        self._query.text = self.view.search
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
        await accepted(self.desk, Label(target, label))
        self.view.at = target
        await self._fetch(number)

    def _leave_label(self) -> None:
        if self._label is not None:
            self._label.focused = False
        self._label = None
        self.body.children = [self._query, self.list]
        self.set_hints(_HINTS)
        self.redraw()


_KEYS: dict[str, Callable[[TreePanel], None]] = {
    "tree_label": TreePanel._begin_label,
    "tree_filter_next": lambda panel: panel._turn_filter(1),
    "tree_filter_previous": lambda panel: panel._turn_filter(-1),
    "tree_page_up": lambda panel: panel.list.page(-1),
    "tree_page_down": lambda panel: panel.list.page(1),
}
