"""`/resume`: another session, of this folder or of all; what is typed is searched for in the conversations. A session
can also be renamed, archived, or deleted for good, which has to be confirmed.

Lists and searches come from the catalogue of stored sessions, read in a thread.
"""

import asyncio
import time
from collections.abc import Sequence

import msgspec

from sightline.exceptions import SightlineError
from sightline.journal import SessionHit, SessionRecord, still_running
from sightline.text import clean_line
from sightline.tty import Input, Paste
from sightline.tty.components import Input as LineInput
from sightline.tty.components import Item, SelectList
from sightline.views._names import listed_title, session_folder, title_of
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._panel import ChoicePanel, QuestionPanel, SearchPanel
from sightline.views.console.shapes._shape import plural

_AT_MOST = 200
AGAIN = ""
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))
_HINTS = (
    ("select_confirm", "open"),
    ("list_everywhere", "all"),
    ("list_rename", "rename"),
    ("list_archive", "archive"),
    ("list_remove", "remove"),
    ("select_cancel", "close"),
)
_CHANGES = ("list_rename", "list_archive", "list_remove")
_RUNNING = "◌ running"
"""Of one whose host does not answer."""
_DELETE, _CANCEL = "delete", "keep"


class SessionSearch(msgspec.Struct):
    """What is searched for, and where: the same from one panel to the next."""

    words: str = ""
    everywhere: bool = False
    at: str = ""
    """The session that is highlighted."""
    note: str = ""
    """What was done last, in a few words."""
    states: dict[str, str] = {}
    """What running sessions are doing, as far as their hosts answer."""
    folders: dict[str, str] = {}
    """Where each session began, if the list is of all folders."""
    archived: int = 0
    """How many are archived: they are not searched."""


class SessionAction(msgspec.Struct, frozen=True):
    """What to do with a session instead of opening it: an action of `_CHANGES`."""

    action: str
    session: str
    title: str


async def open(desk: Desk, args: str) -> None:
    looked = SessionSearch(args.strip())
    while True:
        hits = await asyncio.to_thread(find, desk, looked)
        answer: str | SessionAction | None = await desk.ask(ResumePanel(desk, looked, hits))
        looked.note = ""
        if isinstance(answer, SessionAction):
            await _change(desk, looked, answer)
        elif answer != AGAIN:
            break
    if answer is not None:
        await desk.switch(answer)


async def _change(desk: Desk, looked: SessionSearch, change: SessionAction) -> None:
    looked.at = change.session
    try:
        looked.note = await _changed(desk, change)
    except (SightlineError, OSError) as error:
        hint = getattr(error, "hint", "")
        looked.note = (getattr(error, "message", "") or str(error)) + (f"; {hint}" if hint else "")


async def _changed(desk: Desk, change: SessionAction) -> str:
    """Carry it out. What was done, in a few words; empty: nothing was."""
    if change.session == desk.session and change.action != "list_rename":
        raise still_running(change.session)
    if change.action == "list_archive":
        await asyncio.to_thread(desk.store.archive, change.session)
        return f"archived; undo with: sightline sessions unarchive {change.session}"
    if change.action == "list_rename":
        title = await desk.ask(QuestionPanel(desk, "Rename the session", text=change.title, confirm="rename"))
        if title is None:
            return ""
        await asyncio.to_thread(desk.store.rename, change.session, title)
        return "renamed"
    if await asyncio.to_thread(desk.store.is_running, change.session):
        raise still_running(change.session)
    items = (
        Item(_CANCEL, "No, do nothing"),
        Item(_DELETE, "Yes, delete it", "with its jobs and their output, for good"),
    )
    question = f"Delete “{change.title}”?"
    if await desk.ask(ChoicePanel(desk, question, items, filter=False)) != _DELETE:
        return ""
    await asyncio.to_thread(desk.store.delete, change.session)
    return "deleted"


def find(desk: Desk, looked: SessionSearch) -> list[SessionHit]:
    """Blocking. Sets the states, the folders and the count of archived sessions in `looked`."""
    from sightline.views.plain._standing import hosts_by_session, signed_standing

    cwd, words = None if looked.everywhere else desk.cwd, looked.words.strip()
    if words:
        hits = desk.store.search(words, cwd, _AT_MOST)
    else:
        hits = [SessionHit(record, "", "") for record in desk.store.conversations(cwd, _AT_MOST)]
    some_run = any(hit.session.running for hit in hits)
    hosts = hosts_by_session(desk.store) if some_run else {}
    looked.states = {session: signed_standing(hello) for session, hello in hosts.items()}
    looked.folders = {hit.session.id: session_folder(desk.store, hit.session) for hit in hits} if cwd is None else {}
    looked.archived = 0 if hits else desk.store.count(cwd, archived=True)
    return hits


class ResumePanel(SearchPanel[list[SessionHit]]):
    """Answers with the id of a session, or (linear) that there is a new list to read."""

    def __init__(self, desk: Desk, looked: SessionSearch, hits: Sequence[SessionHit]) -> None:
        super().__init__(desk, "Resume a conversation", _HINTS)
        self._looked = looked
        self._input = LineInput(placeholder="type to search", bindings=desk.bindings, theme=self.theme)
        self._input.set_text(looked.words)
        self._input.on_change = lambda _: self._ask()
        self.list = SelectList(bindings=desk.bindings, theme=self.theme)
        self.list.on_select = lambda item: self.finish(item.value)
        self.list.on_cancel = self._cancel
        self.body.children = [self._input, self.list]
        self._titles: dict[str, str] = {}
        self._show(hits)
        values = [item.value for item in self.list.matching]
        if looked.at in values:
            self.list.move(values.index(looked.at))
        if looked.note:
            self.heading.set_note(looked.note)

    def render(self, width: int) -> Sequence[str]:
        self.set_cancel_hint("clear" if self._input.text else "close")
        return super().render(width)

    def react(self, event: Input) -> bool:
        bindings = self.desk.bindings
        if bindings.matches(event, "list_everywhere"):
            self._looked.everywhere = not self._looked.everywhere
            self._ask()
            return True
        marked = self.list.highlighted
        for action in _CHANGES:
            if bindings.matches(event, action):
                if marked is not None and not self._pending:
                    self.finish(SessionAction(action, marked.value, self._titles[marked.value]))
                return True
        if bindings.matches(event, "select_confirm") and self._pending:
            self._enter_waits = True
            return True
        if self.desk.drawing.linear and (isinstance(event, Paste) or event.text):
            self._input.set_text("")  # a line replaces the one before
        return self.list.handle_input(event) or self._input.handle_input(event)

    def _ask(self) -> None:
        self._looked.words = self._input.text
        self.heading.set_note("looking…")
        self._begin_search()

    async def _search(self) -> list[SessionHit]:
        return await asyncio.to_thread(find, self.desk, self._looked)

    def _show_found(self, found: list[SessionHit]) -> bool:
        if self.desk.drawing.linear:
            self.finish(AGAIN)
            return False
        self._show(found)
        return True

    def _show(self, hits: Sequence[SessionHit]) -> None:
        now = time.time()
        self._titles = {hit.session.id: _title(hit.session) for hit in hits}
        self.list.set_items([_item(hit, now, self._looked, self.desk.session) for hit in hits])
        self.list.set_empty(_nothing(self._looked))
        self.heading.set_note("all folders" if self._looked.everywhere else "this folder")

    def _cancel(self) -> None:
        if self._input.text:
            self._input.set_text("")
            self._ask()
        else:
            self.finish(None)


def _nothing(looked: SessionSearch) -> str:
    text = "nothing found" if looked.words.strip() else "no conversation"
    if not looked.archived:
        return text
    are = "1 archived session is" if looked.archived == 1 else f"{looked.archived:,} archived sessions are"
    return f"{text}; {are} not searched: sightline sessions --archived"


def _item(hit: SessionHit, now: float, looked: SessionSearch, current: str) -> Item:
    record = hit.session
    words = clean_line(hit.snippet.replace("\x02", "").replace("\x03", ""))
    state = looked.states.get(record.id, _RUNNING) if record.running else _age(now - record.changed)
    facts = ["this session"] if record.id == current else []
    facts += [state, plural(record.messages, "message")]
    facts += [looked.folders[record.id]] if record.id in looked.folders else []
    facts += [f"… {words}"] if words else []
    return Item(record.id, listed_title(record) or record.id, " · ".join(facts))


def _title(record: SessionRecord) -> str:
    """The title, or the id: this list has no column for that."""
    return title_of(record) or record.id


def _age(seconds: float) -> str:
    for size, unit in _UNITS:
        if seconds >= size:
            return f"{int(seconds // size)} {unit} ago"
    return "now"
