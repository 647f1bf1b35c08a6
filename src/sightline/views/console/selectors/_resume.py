"""`/resume`: another conversation. Those of this folder, or of all; what is typed is searched for in what was said.

Lists and searches come from the catalogue of what is kept, asked in a thread. While an answer is under way the old one
stays; only the newest question counts.
"""

import asyncio
import os
import time
from collections.abc import Sequence

import msgspec

from sightline.journal import SessionHit
from sightline.text import clean_line
from sightline.tty import Input, Paste
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item, SelectList
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import Panel

_AT_MOST = 200
AGAIN = ""
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))
_HINTS = (("select_confirm", "open"), ("list_everywhere", "all folders"), ("select_cancel", "close"))


class Looked(msgspec.Struct):
    """What is looked for, and where: kept from one panel to the next."""

    words: str = ""
    everywhere: bool = False


async def open(desk: Desk, args: str) -> None:
    looked = Looked(args.strip())
    session = AGAIN
    while session == AGAIN:
        hits = await asyncio.to_thread(find, desk, looked)
        session = await desk.ask(ResumePanel(desk, looked, hits))
    if session is not None:
        await desk.switch(session)


def find(desk: Desk, looked: Looked) -> list[SessionHit]:
    cwd = None if looked.everywhere else desk.cwd
    if words := looked.words.strip():
        return desk.store.search(words, cwd, _AT_MOST)
    return [SessionHit(record, "", "") for record in desk.store.conversations(cwd, _AT_MOST)]


class ResumePanel(Panel):
    """Answers with the id of a session, or (linear) that there is something new to read."""

    def __init__(self, desk: Desk, looked: Looked, hits: Sequence[SessionHit]) -> None:
        super().__init__(desk, "Resume a conversation", _HINTS)
        self._looked = looked
        self._asked = self._answered = 0
        self._enter_waits = False
        self._input = LineInput(placeholder="type to search", bindings=desk.bindings, theme=self.theme)
        self._input.set_text(looked.words)
        self._input.on_change = lambda _: self._ask()
        self.list = SelectList(bindings=desk.bindings, theme=self.theme, empty="no conversation")
        self.list.on_select = lambda item: self.finish(item.value)
        self.list.on_cancel = self._cancel
        self.body.children = [self._input, self.list]
        self._show(hits)

    def render(self, width: int) -> Sequence[str]:
        self.list.set_max_rows(min(max(5, self.desk.height // 2), self.room - 2))
        return super().render(width)

    def react(self, event: Input) -> bool:
        bindings = self.desk.bindings
        if bindings.matches(event, "list_everywhere"):
            self._looked.everywhere = not self._looked.everywhere
            self._ask()
            return True
        if bindings.matches(event, "select_confirm") and self._asked != self._answered:
            self._enter_waits = True
            return True
        if self.desk.drawing.linear and (isinstance(event, Paste) or event.text):
            self._input.set_text("")  # a line is entered in place of the one before
        return self.list.handle_input(event) or self._input.handle_input(event)

    def _ask(self) -> None:
        self._asked += 1
        self._looked.words = self._input.text
        self.heading.set_note("looking…")
        self.desk.spawn(self._fetch(self._asked))

    async def _fetch(self, number: int) -> None:
        if number != self._asked:
            return
        hits = await asyncio.to_thread(find, self.desk, self._looked)
        if number != self._asked or self.finished:
            return
        self._answered = number
        if self.desk.drawing.linear:
            self.finish(AGAIN)
            return
        self._show(hits)
        entered, self._enter_waits = self._enter_waits, False
        if entered:
            self.list.choose()
        self.redraw()

    def _show(self, hits: Sequence[SessionHit]) -> None:
        now = time.time()
        self.list.set_items([_item(hit, now, self._looked.everywhere) for hit in hits])
        self.heading.set_note("all folders" if self._looked.everywhere else "this folder")

    def _cancel(self) -> None:
        if self._input.text:
            self._input.set_text("")
            self._ask()
        else:
            self.finish(None)


def _item(hit: SessionHit, now: float, everywhere: bool) -> Item:
    record = hit.session
    title = record.title or record.first_prompt or record.last_text or record.id
    words = clean_line(hit.snippet.replace("\x02", "").replace("\x03", ""))
    facts = ["running" if record.running else _age(now - record.changed), f"{record.messages} messages"]
    facts += [_short(clean_line(record.cwd))] if everywhere else []
    facts += [f"… {words}"] if words else []
    return Item(record.id, f"{'● ' if record.running else ''}{title}", " · ".join(facts))


def _short(folder: str) -> str:
    home = os.path.expanduser("~")
    return f"~{folder[len(home) :]}" if folder == home or folder.startswith(f"{home}/") else folder


def _age(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "now"
