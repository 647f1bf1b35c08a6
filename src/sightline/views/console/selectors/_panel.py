"""Panels, of which every selector is made: a heading, something to choose from, and key hints.

- A panel answers once; later input is ignored.
- `interrupt` (ctrl+c) always closes it; what `select_cancel` (escape) does depends on the panel. `exit` (ctrl+d) leaves
  the console, as on an empty editor.
- It is never higher than the terminal: lists shrink, and on a very small one the hints are left out.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from sightline.host import Command, CommandReply
from sightline.text import clean_line
from sightline.tty import CachedComponent, Input, Paste, Rows, Theme, measure, truncate
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item, KeyHints, Loader, SelectList, TextComponent
from sightline.tty.components._container import Container, Holder
from sightline.views.console._desk import Answerable, Desk

_SMALL = 12  # rows: below this there is no room for hints
_AROUND = 3  # rows of the console below it
_POLL_SECONDS = 0.5

T = TypeVar("T")

Hints = Sequence[tuple[str, str]]
"""Actions, and what they do here."""


class Heading(CachedComponent):
    """The title of a panel, and beside it a note: where the user is, or what happened."""

    def __init__(self, title: str, theme: Theme, *, spoken: bool = False) -> None:
        self._title, self._note = clean_line(title), ""
        self._spoken = spoken
        self._theme = theme

    def set_note(self, note: str) -> None:
        self._note = clean_line(note)

    def _key(self) -> tuple[object, ...]:
        return (self._note,)

    def _draw(self, width: int) -> Rows:
        """A rule as above the editor, with the words in it."""
        style, width = self._theme.style, max(1, width)
        if self._spoken:
            return (truncate(f"{self._title} ({self._note})" if self._note else self._title, width),)
        title = truncate(self._title, max(1, width - 4))
        row = style("border_active", "── ") + style("title", title)
        room = width - measure(row) - 4
        if self._note and room > 3:
            row += "  " + style("muted", truncate(self._note, room))
        rest = width - measure(row) - 1
        return (row + (style("border_active", f" {'─' * rest}") if rest > 0 else ""),)


class Panel(Holder, Answerable):
    """A heading, a body, hints. Subclasses fill `body` and handle keys in `react`."""

    cancel_closes = False
    """`select_cancel` closes it."""

    def __init__(self, desk: Desk, title: str, hints: Hints = ()) -> None:
        self.desk = desk
        self.theme = desk.drawing.theme
        self.heading = Heading(title, self.theme, spoken=desk.drawing.linear)
        self.body = Container()
        self.hints = KeyHints(theme=self.theme)
        self.set_hints(hints)
        super().__init__([self.heading, self.body, self.hints])
        self._stack = Container(self.children)

    def set_hints(self, hints: Hints) -> None:
        """Show these; an action without a key is left out."""
        self._meanings = tuple(hints)
        keyed = [(self.desk.bindings.keys(action), meaning) for action, meaning in hints]
        self.hints.set_hints([(keys[0], meaning) for keys, meaning in keyed if keys])

    def set_cancel_hint(self, meaning: str) -> None:
        """Show another meaning of escape."""
        hints = tuple((action, meaning if action == "select_cancel" else words) for action, words in self._meanings)
        if hints != self._meanings:
            self.set_hints(hints)

    @property
    def room(self) -> int:
        """Rows available for the body."""
        return max(3, self.desk.height - _AROUND - (1 if self._is_small else 2))

    def react(self, event: Input) -> bool:
        """Handle a key that does not close the panel. False: it means nothing here."""
        return Holder.handle_input(self, event)

    def handle_input(self, event: Input) -> bool:
        if self.finished:
            return True
        cancels = self.desk.bindings.matches(event, "select_cancel")
        if self.cancel_closes if cancels else self.desk.bindings.matches(event, "interrupt"):
            self.finish(None)
            return True
        return self.react(event)

    def render(self, width: int) -> Rows:
        shed = self.hints if self._is_small and not self.desk.drawing.linear else None
        self._stack.children = [child for child in self.children if child is not shed]
        if self.focused:
            self._pass_focus_on()
        return self._stack.render(width)

    def invalidate(self) -> None:
        self._stack.invalidate()
        super().invalidate()

    def redraw(self) -> None:
        if not self.finished:
            self.desk.redraw(self)

    @property
    def _is_small(self) -> bool:
        return self.desk.height < _SMALL


class ChoicePanel(Panel):
    """A list. Answers with the value of the chosen item, or with what one of `keys` makes of it. `confirm` describes
    what enter does."""

    def __init__(
        self,
        desk: Desk,
        title: str,
        items: Iterable[Item],
        *,
        filter: bool = True,
        at: str = "",
        query: str = "",
        empty: str = "nothing matches",
        confirm: str = "choose",
        hints: Hints = (),
        keys: Mapping[str, Callable[[Item], None]] | None = None,
    ) -> None:
        super().__init__(desk, title)
        self._confirm = confirm
        self.offer(hints)
        self.list = SelectList(
            bindings=desk.bindings, filter=filter, placeholder="type to search", empty=empty, theme=self.theme
        )
        self.list.on_select = lambda item: self.finish(item.value)
        self.list.on_cancel = self._cancel
        self._keys = dict(keys or {})
        self.body.children = [self.list]
        self.list.set_query(query)
        self.set_items(items, at)

    def offer(self, hints: Hints) -> None:
        """Show hints for these keys, between the one that chooses and the one that closes."""
        self.set_hints((("select_confirm", self._confirm), *hints, ("select_cancel", "close")))

    def set_items(self, items: Iterable[Item], at: str = "") -> None:
        """Replace the items; the highlight stays with its item, or moves to the one with the value `at`."""
        target = at or (self.list.highlighted.value if self.list.highlighted is not None else "")
        self.list.set_items(items)
        values = [item.value for item in self.list.matching]
        if target in values:
            self.list.move(values.index(target))

    def render(self, width: int) -> Rows:
        # Two rows are the query and the position.
        self.list.set_max_rows(min(max(5, self.desk.height // 2), self.room - 2))
        self.set_cancel_hint("clear" if self._clears else "close")
        return super().render(width)

    @property
    def _clears(self) -> bool:
        """Whether escape clears the query; in linear mode it was announced to close."""
        return bool(self.list.query) and not self.desk.drawing.linear

    def react(self, event: Input) -> bool:
        for action, act in self._keys.items():
            if self.desk.bindings.matches(event, action):
                if self.list.highlighted is not None:
                    act(self.list.highlighted)
                return True
        return super().react(event)

    def _cancel(self) -> None:
        if self._clears:
            self.list.set_query("")
        else:
            self.finish(None)


class LivePanel(ChoicePanel):
    """A list that is read again while it is open: `poll` does so."""

    def __init__(self, desk: Desk, title: str, at: str, **options: Any) -> None:
        self._shown: list[Item] = []
        super().__init__(desk, title, (), confirm="open", **options)
        self.look(at)

    def current_items(self) -> list[Item]:
        raise NotImplementedError

    def look(self, at: str = "") -> None:
        if (items := self.current_items()) != self._shown:
            self._shown = items
            self.set_items(items, at)
            self.redraw()

    async def poll(self) -> None:
        while not self.finished:
            await asyncio.sleep(_POLL_SECONDS)
            self.look()


class SearchPanel(Panel, Generic[T]):
    """A list that is searched elsewhere: by the host, or in a thread. Until the result is there the old lines stay, and
    enter waits. Only the newest search counts."""

    list: SelectList

    def __init__(self, desk: Desk, title: str, hints: Hints) -> None:
        super().__init__(desk, title, hints)
        self._requested = self._received = 0
        self._enter_waits = False

    def render(self, width: int) -> Rows:
        self.list.set_max_rows(min(max(5, self.desk.height // 2), max(1, self.room - 2)))
        return super().render(width)

    @property
    def _pending(self) -> bool:
        return self._requested != self._received

    async def _search(self) -> T:
        raise NotImplementedError

    def _show_found(self, found: T) -> bool:
        """Show the result. False: there is nothing to choose from in it."""
        raise NotImplementedError

    def _begin_search(self) -> None:
        self._requested += 1
        self.desk.spawn(self._fetch(self._requested))

    async def _fetch(self, number: int) -> None:
        if number != self._requested:
            return
        found = await self._search()
        if number != self._requested or self.finished:
            return
        self._received = number
        entered, self._enter_waits = self._enter_waits, False
        if self._show_found(found) and entered:
            self.list.choose()
        self.redraw()


class QuestionPanel(Panel):
    """One line to type. `mistake` is what was wrong with it before."""

    cancel_closes = True

    def __init__(
        self,
        desk: Desk,
        title: str,
        *,
        text: str = "",
        about: str = "",
        mistake: str = "",
        placeholder: str = "",
        confirm: str = "save",
    ) -> None:
        super().__init__(desk, title, (("submit", confirm), ("select_cancel", "back")))
        self.input = LineInput(placeholder=placeholder, bindings=desk.bindings, theme=self.theme)
        self.input.set_text(text)
        self.input.on_submit = self.finish
        error = TextComponent(clean_line(mistake), "error", theme=self.theme)
        self.body.children = [TextComponent(clean_line(about), "muted", theme=self.theme), self.input, error]

    def react(self, event: Input) -> bool:
        if self.desk.drawing.linear and (isinstance(event, Paste) or event.text):
            self.input.set_text("")  # a line replaces what is there
        return self.input.handle_input(event)


class WaitingPanel(Panel):
    """Shown while the host carries out a command; escape stops it. Answers with the host's reply."""

    def __init__(self, desk: Desk, label: str, command: Command, stop: Command) -> None:
        super().__init__(desk, "", (("select_cancel", "stop"),))
        self.stopped = False
        self._command, self._stop = command, stop
        self._loader = Loader(
            label,
            call_later=asyncio.get_running_loop().call_later,
            request_render=lambda _: self.redraw(),
            theme=self.theme,
        )
        self.body.children = [self._loader]
        self.children = [self.body, self.hints]

    async def answer(self) -> CommandReply:
        """Show it until the host has replied."""
        if not self.desk.drawing.linear:
            self._loader.start()
        self.desk.spawn(self._work())
        try:
            reply: CommandReply | None = await self.desk.ask(self)
        finally:
            self._loader.stop()
        return reply if reply is not None else CommandReply(False, error="it was stopped")

    def handle_input(self, event: Input) -> bool:
        bindings = self.desk.bindings
        if bindings.matches(event, "interrupt") or bindings.matches(event, "select_cancel"):
            if not self.stopped:
                self.stopped = True
                self._loader.set_label("stopping…")
                self.desk.spawn(self.desk.submit(self._stop))
            return True
        return False

    def dispose(self) -> None:
        self._loader.stop()

    async def _work(self) -> None:
        self.finish(await self.desk.submit(self._command))
