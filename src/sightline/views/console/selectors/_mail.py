"""`/mail`: the messages of this session as one conversation: of agents to each other, and of the user to agents.

It is shown over the whole window, live, the newest last. Each has its time, from whom to whom, what became of it, and
the beginning of its text. Only what is in the window is drawn, however many there are.

Enter answers the marked one; `mail_write` writes a new one, to the agent of the session or whom the user chooses. As
text it can be searched; that is also how it is shown in linear mode, where the user then chooses whom to write to.
"""

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

import msgspec

from sightline.host import CommandReply, SendMail
from sightline.text import clean_line, clean_text
from sightline.transcript import Snapshot, TranscriptMail
from sightline.tty import Component, Input, Key, Rows, measure, pad, truncate
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item
from sightline.views._mail import (
    ALL,
    USER,
    address,
    recipients,
    sent_at,
    standing,
    standing_of_all,
    takes_mail,
    unread_count,
)
from sightline.views.console._agent_names import agent_role
from sightline.views.console._desk import Answerable, Desk, reply_data
from sightline.views.console.blocks._gradual import wrapped_lazily
from sightline.views.console.selectors._pager import WHOLE, PagerDocument, bottom_row, show
from sightline.views.console.selectors._pages import ChangingText, TextInMemory
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel
from sightline.views.console.shapes._shape import line_count, plural

FOLDED, UNFOLDED = 3, 20
"""Rows of a text that are shown."""
_LOOKS_APART = 0.25  # seconds
_DRAWN_AT_MOST = 1000  # messages whose rows are held
_NAMED_AT_MOST = 4  # readers, in a row
_AS_TEXT_AT_MOST = 1024 * 1024  # characters of all of them
_INDENT, _MARKED = "  ", "▌ "
_SEARCH = "search"
_WRITE, _ANSWER, _OPEN = "mail_write", "select_confirm", "mail_open"
_HINTS = (
    ("view_close", "leave"),
    (_ANSWER, "answer"),
    (_WRITE, "write"),
    (_OPEN, "all of it"),
    ("view_search", "as text, to search"),
    ("view_last", "bottom"),
)


class Recipient(msgspec.Struct, frozen=True):
    """Whom the user writes to."""

    path: str = ""
    to_all: bool = False

    @property
    def name(self) -> str:
        return ALL if self.to_all else address(self.path)


async def open(desk: Desk, args: str) -> None:
    if desk.drawing.linear:
        await _spoken(desk)
        return
    while True:
        viewer = MailViewer(desk)
        desk.spawn(viewer.poll())
        answer = await desk.ask(viewer, WHOLE)
        if answer is None:
            return
        await show(desk, [partial(_document, desk) if answer == _SEARCH else partial(_whole, desk, answer)])


async def _spoken(desk: Desk) -> None:
    """All messages as text, then whom to write to."""
    await show(desk, [partial(_document, desk)])
    choices = [Item("", "no one"), *[Item(str(n), f"to {each.name}") for n, each in enumerate(_all(desk.state), 1)]]
    chosen = await desk.ask(ChoicePanel(desk, "Write a message", choices, filter=False))
    if not chosen:
        return
    to = list(_all(desk.state))[int(chosen) - 1]
    text, mistake = "", ""
    while True:
        text = await desk.ask(QuestionPanel(desk, f"Message to {to.name}", text=text, mistake=mistake, confirm="send"))
        if not text or not text.strip():
            return
        reply = await desk.submit(SendMail(text, agent=to.path, to_all=to.to_all))
        if reply.ok:
            desk.report(_outcome(reply))
            return
        mistake = _outcome(reply)


class MailViewer(Answerable):
    """Answers with the id of a message to be read whole, or with `search`."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._theme = desk.drawing.theme
        self._seen = -1
        self._at: int | None = None
        """The number of the marked message; None: the last one, whichever that is."""
        self._top = 0
        """The first message in the window."""
        self._in_window = 1
        self._drawn: dict[int, tuple[object, list[str]]] = {}
        self._composer: MessageLine | None = None
        self._note = ""
        self._rows: Rows = ()

    async def poll(self) -> None:
        while not self.finished:
            if self._desk.state.seq != self._seen:
                self._seen = self._desk.state.seq
                self._redraw()
            await asyncio.sleep(_LOOKS_APART)

    @property
    def _mail(self) -> list[TranscriptMail]:
        return self._desk.state.mail

    @property
    def _marked(self) -> int:
        last = len(self._mail) - 1
        return last if self._at is None else min(self._at, last)

    @property
    def _height(self) -> int:
        return max(1, self._desk.height - 2)

    def render(self, width: int) -> Rows:
        width = max(width, 4)
        shown = (
            self._window(width) if self._mail else [self._theme.style("muted", truncate(_nothing(self._desk), width))]
        )
        shown = shown[: self._height]
        drawn = (self._head(width), *shown, *[""] * (self._height - len(shown)), self._bottom(width))
        if drawn != self._rows:
            self._rows = drawn
        return self._rows

    def invalidate(self) -> None:
        self._drawn.clear()
        self._rows = ()

    def dispose(self) -> None:
        self.finished = True

    def handle_input(self, event: Input) -> bool:
        if self.finished:
            return True
        if self._composer is not None:
            return self._react_to_composer(self._composer, event)
        matches = self._desk.bindings.matches
        if matches(event, _ANSWER):
            self._write(self._mail[self._marked] if self._mail else None)
        elif matches(event, _WRITE):
            self._write(None)
        elif matches(event, _OPEN) and self._mail:
            self.finish(self._mail[self._marked].id)
        elif any(matches(event, action) for action in ("view_close", "select_cancel", "interrupt")):
            self.finish(None)
        elif matches(event, "view_search"):
            self.finish(_SEARCH)
        elif matches(event, "exit"):
            self.finish(None)  # it would cover a question before leaving
            return False
        else:
            return self._move(event)
        return True

    def _move(self, event: Input) -> bool:
        page, count = self._in_window, len(self._mail)
        steps = {
            "view_up": -1,
            "view_down": 1,
            "view_page_up": -page,
            "view_page_down": page,
            "view_first": -count,
            "view_last": count,
        }
        step = next((step for action, step in steps.items() if self._desk.bindings.matches(event, action)), None)
        if step is None:
            return False
        at = max(self._marked + step, 0)
        self._at = at if at < count - 1 else None
        self._note = ""
        self._redraw()
        return True

    # Writing

    def _write(self, answered: TranscriptMail | None) -> None:
        self._note = ""
        self._composer = MessageLine(self._desk, list(_all(self._desk.state)), answered, self._submitted)
        self._redraw()

    def _react_to_composer(self, composer: "MessageLine", event: Input) -> bool:
        matches = self._desk.bindings.matches
        if matches(event, "select_cancel") or matches(event, "interrupt"):
            self._composer = None
            self._redraw()
            return True
        known = composer.handle_input(event)
        self._redraw()
        return known or isinstance(event, Key)

    def _submitted(self, composer: "MessageLine") -> None:
        self._composer = None
        if composer.text.strip():
            self._desk.spawn(self._send(composer))
        self._redraw()

    async def _send(self, composer: "MessageLine") -> None:
        to = composer.recipient
        command = SendMail(composer.text, agent=to.path, to_all=to.to_all, reply_to=composer.reply_to)
        reply = await self._desk.submit(command)
        self._note = _outcome(reply)
        if reply.ok:
            self._at = None
        elif self._composer is None and not self.finished:
            self._composer = composer  # nothing that was written is lost
        self._redraw()

    # Drawing

    def _window(self, width: int) -> list[str]:
        """The rows of the messages around the marked one, which is shown whole; of the one above the last part."""
        marked, height = self._marked, self._height
        rows, first = self._block(marked, width), marked
        while first > min(self._top, marked) and len(rows) + len(above := self._block(first - 1, width)) <= height:
            rows, first = [*above, *rows], first - 1
        after = marked + 1
        while len(rows) < height and after < len(self._mail):
            rows, after = [*rows, *self._block(after, width)], after + 1
        self._top, self._in_window = first, max(after - first, 1)
        while len(rows) < height and first > 0:
            first -= 1
            rows = [*self._block(first, width)[-(height - len(rows)) :], *rows]
        return rows

    def _block(self, number: int, width: int) -> list[str]:
        mail, marked = self._mail[number], number == self._marked
        made_of = (mail, width, marked, self._desk.drawing.unfolded)
        known = self._drawn.get(number)
        if known is not None and known[0] == made_of:
            return known[1]
        if len(self._drawn) >= _DRAWN_AT_MOST:
            self._drawn.clear()
        gutter = self._theme.style("accent", _MARKED) if marked else _INDENT
        rows = [self._top_row(mail, width - 2), *(f"{_INDENT}{row}" for row in self._text(mail, width - 4))]
        block = [truncate(gutter + row, width) for row in rows]
        self._drawn[number] = made_of, block
        return block

    def _top_row(self, mail: TranscriptMail, width: int) -> str:
        style, now = self._theme.style, self._desk.drawing.clock()
        sender = self._name(mail.sender) if not mail.by_user else style("strong", USER)
        to = (
            [style("muted", ALL)]
            if mail.to_all
            else [self._name(each.agent) for each in mail.receipts[:_NAMED_AT_MOST]]
        )
        more = len(mail.receipts) - _NAMED_AT_MOST
        to += [style("muted", f"{more} more")] if more > 0 and not mail.to_all else []
        about = [mail.id, *([f"answers {mail.reply_to}"] if mail.reply_to else [])]
        facts = style("muted", " · ".join([clean_line(each) for each in about] + [standing_of_all(mail)]))
        when = style("muted", sent_at(mail, now))
        return truncate(f"{when}  {sender} {style('muted', '→')} {', '.join(to)}  {facts}".strip(), width)

    def _name(self, path: str) -> str:
        role = agent_role(path) if path else "strong"
        return self._theme.style(role, address(path))

    def _text(self, mail: TranscriptMail, width: int) -> Iterator[str]:
        most = UNFOLDED if self._desk.drawing.unfolded else FOLDED
        rows = list(islice(wrapped_lazily(clean_text(mail.text).strip("\n"), max(width, 2)), most + 1))
        yield from rows[:most]
        if len(rows) > most:
            keys = self._desk.bindings.keys(_OPEN)
            way = f" ({keys[0]})" if keys else ""
            size = plural(line_count(mail.text), "line") if "\n" in mail.text else f"{len(mail.text):,} characters"
            yield self._theme.style("muted", truncate(f"… {size} in all{way}", max(width, 2)))

    def _head(self, width: int) -> str:
        count, unread = len(self._mail), unread_count(self._mail)
        title = f"Mail: {plural(count, 'message')}" + (f" · {unread} unread" if unread else "")
        title += f" · {self._note}" if self._note and self._composer is not None else ""  # why it was not sent
        return self._theme.style("title", truncate(pad(title, width), width))

    def _bottom(self, width: int) -> str:
        if self._composer is not None:
            return self._composer.render(width)[0]
        below = len(self._mail) - 1 - self._marked
        place = f"{below} below" if below > 0 else "following"
        hints = [([action], meaning) for action, meaning in _HINTS if self._mail or action not in (_ANSWER, _OPEN)]
        return bottom_row(self._desk, place, hints, width, note=self._note)

    def _redraw(self) -> None:
        if not self.finished:
            self._desk.redraw(self)


class MessageLine(Component):
    """A line to write a message on, and whom it is for, which other keys of a list choose."""

    def __init__(
        self,
        desk: Desk,
        choices: list[Recipient],
        answered: TranscriptMail | None,
        on_submit: Callable[["MessageLine"], None],
    ) -> None:
        self._desk = desk
        self._theme = desk.drawing.theme
        self._choices = choices
        self._answered = answered
        self._at = choices.index(_answer_to(answered, choices))
        self._line = LineInput(bindings=desk.bindings, theme=self._theme)
        self._line.focused = True
        self._line.on_submit = lambda text: on_submit(self)

    @property
    def text(self) -> str:
        return self._line.text

    @property
    def recipient(self) -> Recipient:
        return self._choices[self._at]

    @property
    def reply_to(self) -> str:
        """The message that is answered, while it is written to its sender."""
        answered = self._answered
        is_answer = answered is not None and self.recipient == _answer_to(answered, self._choices)
        return answered.id if answered is not None and is_answer else ""

    def handle_input(self, event: Input) -> bool:
        matches = self._desk.bindings.matches
        if matches(event, "select_down") or matches(event, "select_up"):
            self._at = (self._at + (1 if matches(event, "select_down") else -1)) % len(self._choices)
            return True
        return self._line.handle_input(event)

    def render(self, width: int) -> Rows:
        to, reply_to = self.recipient, clean_line(self.reply_to)
        role = "strong" if to.to_all or not to.path else agent_role(to.path)
        words = f"answer {reply_to} to " if reply_to else "to "
        keys = self._desk.bindings.keys("select_down")
        way = f" ({keys[-1]}: another)" if keys and len(self._choices) > 1 and not self.text else ""
        head = self._theme.style("muted", words) + self._theme.style(role, to.name) + self._theme.style("muted", way)
        head = truncate(f"{head} ", max(width // 2, 1))
        return (head + self._line.render(max(width - measure(head), 1))[0],)


def _answer_to(answered: TranscriptMail | None, choices: list[Recipient]) -> Recipient:
    """Whom an answer is for: the sender; of the user's own message those it was for."""
    if answered is None:
        return Recipient()
    if not answered.by_user:
        found = Recipient(answered.sender)
    else:
        found = Recipient(to_all=True) if answered.to_all else Recipient(answered.receipts[0].agent)
    return found if found in choices else Recipient()


def _all(state: Snapshot) -> Iterator[Recipient]:
    """Whom the user can write to."""
    agents = list(takes_mail(state))
    yield Recipient()
    yield from (Recipient(path) for path in agents)
    if agents:
        yield Recipient(to_all=True)


def _nothing(desk: Desk) -> str:
    keys = desk.bindings.keys(_WRITE)
    return "no messages between agents yet" + (f"; {keys[0]} writes one" if keys else "")


def _outcome(reply: CommandReply) -> str:
    """What became of a message, by its reply."""
    if not reply.ok:
        return clean_line(f"{reply.error}; {reply.hint}" if reply.hint else reply.error)
    receipts = [each for each in reply_data(reply).get("receipts") or () if isinstance(each, dict)]
    words = [clean_line(f"{each.get('to', '')} {each.get('outcome', '')}") for each in receipts[:_NAMED_AT_MOST]]
    more = len(receipts) - _NAMED_AT_MOST
    return f"sent: {', '.join([*words, *([f'{more} more'] if more > 0 else [])])}"


def _document(desk: Desk) -> PagerDocument:
    return PagerDocument("Mail", ChangingText(lambda: mail_text(desk.state.mail), lambda: desk.state.seq))


def mail_text(thread: list[TranscriptMail]) -> str:
    """All messages as text; of very much the end."""
    parts: list[str] = []
    size = 0
    for mail in reversed(list(thread)):
        part = _as_text(mail)
        size += len(part)
        if parts and size > _AS_TEXT_AT_MOST:
            parts.append(f"({len(thread) - len(parts)} earlier messages are left out)")
            break
        parts.append(part)
    return "\n\n".join(reversed(parts)) + "\n" if parts else "no messages yet\n"


def _as_text(mail: TranscriptMail) -> str:
    sender = USER if mail.by_user else address(mail.sender)
    about = f" · answers {mail.reply_to}" if mail.reply_to else ""
    head = f"{mail.id} {sender} to {', '.join(recipients(mail))}{about} · {standing_of_all(mail)}"
    return f"{clean_line(head)}\n{clean_text(mail.text)}"


def _whole(desk: Desk, id: str) -> PagerDocument:
    """One message, with what became of it for each reader."""
    mail = next(mail for mail in desk.state.mail if mail.id == id)
    readers = "".join(f"{address(each.agent)}: {standing(each)}\n" for each in mail.receipts)
    sender = USER if mail.by_user else address(mail.sender)
    title = f"{mail.id}: {sender} to {', '.join(recipients(mail))}"
    return PagerDocument(clean_line(title), TextInMemory(f"{clean_text(mail.text)}\n\n{readers}"))
