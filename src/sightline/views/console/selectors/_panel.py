"""What every selector is made of: a heading, what is chosen from, and the keys that mean something.

- A panel answers once; whatever comes after that is not heard.
- `interrupt` (ctrl+c) always closes it; `select_cancel` (escape) means what the panel says. `exit` (ctrl+d) leaves the
  console, as on an empty editor.
- It is never higher than the terminal: lists shrink, and on a very small one the keys are left out.
"""

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from sightline.host import Command, CommandReply
from sightline.text import clean_line
from sightline.tty import Component, Input, Paste, Rows, Theme, measure, truncate
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item, KeyHints, Loader, SelectList, TextComponent
from sightline.tty.components._container import Container, Holder
from sightline.views.console._desk import Answerable, Desk

_SMALL = 12  # rows: below this there is no room for hints
_AROUND = 3  # rows of the console below it

Hints = Sequence[tuple[str, str]]
"""Actions, and what they do here."""


class Heading(Component):
    """What this is about, and beside it where one is."""

    def __init__(self, title: str, theme: Theme, *, spoken: bool = False) -> None:
        self._title, self._note = clean_line(title), ""
        self._spoken = spoken
        self._theme = theme
        self._rows: tuple[int, Rows] | None = None

    def set_title(self, title: str) -> None:
        self._title, self._rows = clean_line(title), None

    def set_note(self, note: str) -> None:
        if (note := clean_line(note)) != self._note:
            self._note, self._rows = note, None

    def render(self, width: int) -> Rows:
        if self._rows is None or self._rows[0] != width:
            self._rows = (width, (self._row(max(1, width)),))
        return self._rows[1]

    def invalidate(self) -> None:
        self._rows = None

    def _row(self, width: int) -> str:
        """A line above what is chosen from, as the editor has one, with the words in it."""
        style = self._theme.style
        if self._spoken:
            return truncate(f"{self._title} ({self._note})" if self._note else self._title, width)
        title = truncate(self._title, max(1, width - 4))
        row = style("border_active", "── ") + style("title", title)
        room = width - measure(row) - 4
        if self._note and room > 3:
            row += "  " + style("muted", truncate(self._note, room))
        rest = width - measure(row) - 1
        return row + (style("border_active", f" {'─' * rest}") if rest > 0 else "")


class Panel(Holder, Answerable):
    """A heading, a body, hints. Subclasses put their parts into `body` and say in `react` what keys mean."""

    def __init__(self, desk: Desk, title: str, hints: Hints = ()) -> None:
        self.desk = desk
        self.theme = desk.drawing.theme
        self.heading = Heading(title, self.theme, spoken=desk.drawing.linear)
        self.body = Container()
        self.hints = KeyHints(theme=self.theme)
        self.set_hints(hints)
        self.finished = False
        super().__init__([self.heading, self.body, self.hints])
        self._stack = Container(self.children)

    def set_hints(self, hints: Hints) -> None:
        """Those whose action has no key are left out."""
        self._meanings = tuple(hints)
        keyed = [(self.desk.bindings.keys(action), meaning) for action, meaning in hints]
        self.hints.set_hints([(keys[0], meaning) for keys, meaning in keyed if keys])

    def set_cancel_hint(self, meaning: str) -> None:
        """What escape does now."""
        hints = tuple((action, meaning if action == "select_cancel" else words) for action, words in self._meanings)
        if hints != self._meanings:
            self.set_hints(hints)

    @property
    def room(self) -> int:
        """Rows there are for the body."""
        return max(3, self.desk.height - _AROUND - (1 if self._is_small else 2))

    def finish(self, answer: Any) -> None:
        if not self.finished:
            self.finished = True
            self.done(answer)

    def react(self, event: Input) -> bool:
        """A key that does not close everything. False: it means nothing here."""
        return Holder.handle_input(self, event)

    def handle_input(self, event: Input) -> bool:
        if self.finished:
            return True
        bindings = self.desk.bindings
        if bindings.matches(event, "interrupt") and not bindings.matches(event, "select_cancel"):
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
    """A list. Answers with the value of the item that was chosen, or with what one of `keys` makes of it.
    `confirm` is what enter does."""

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
        """These keys, between the one that chooses and the one that closes."""
        self.set_hints((("select_confirm", self._confirm), *hints, ("select_cancel", "close")))

    def set_items(self, items: Iterable[Item], at: str = "") -> None:
        """Other items; the highlight stays with its item, or goes to the one with this value."""
        target = at or (self.list.highlighted.value if self.list.highlighted is not None else "")
        self.list.set_items(items)
        values = [item.value for item in self.list.matching]
        if target in values:
            self.list.move(values.index(target))

    def render(self, width: int) -> Rows:
        # The row of the query and the one that says where one is.
        self.list.set_max_rows(min(max(5, self.desk.height // 2), self.room - 2))
        self.set_cancel_hint("clear" if self._clears else "close")
        return super().render(width)

    @property
    def _clears(self) -> bool:
        """Whether escape clears what was searched for; to who listens it was said to leave."""
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


class QuestionPanel(Panel):
    """One line to type. `mistake` is what was wrong with it before."""

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
        if self.desk.bindings.matches(event, "select_cancel"):
            self.finish(None)
            return True
        if self.desk.drawing.linear and (isinstance(event, Paste) or event.text):
            self.input.set_text("")  # a line is entered in place of what is there
        return self.input.handle_input(event)


class WaitingPanel(Panel):
    """Something the host does meanwhile; escape stops it. Answers when the host has answered, with what it said."""

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
        """Show it until there is an answer."""
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
