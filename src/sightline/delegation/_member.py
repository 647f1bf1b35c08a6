"""One agent of a session's directory: what it is, what it does now, what it returned, and its mail."""

import asyncio
import time
from collections.abc import Callable, Sequence

import msgspec

from sightline.actors import Actor
from sightline.delegation._bound import Place
from sightline.delegation._driver import Driver
from sightline.delegation._isolation import CopyCounts, HandedIn, Isolation
from sightline.delegation._mailboxes import Mail, Mailbox, MailNow, UserWords
from sightline.delegation._record import AgentRecord, Lifecycle
from sightline.events import (
    AgentState,
    Event,
    ReviewFinding,
    RunEnded,
    RunStarted,
    Text,
    ToolResult,
    ToolUse,
    TurnEnded,
    Usage,
)
from sightline.text import clean_line, clean_text, cut_graphemes

_LINE = 200  # characters of the last line


class Yielded(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent handed back."""

    text: str = ""
    data: object = None  # where a schema asks for it
    error: str = ""


class AgentResult(msgspec.Struct, frozen=True, kw_only=True):
    """What came of one task."""

    id: str
    agent: str
    description: str = ""
    output: str = ""
    error: str = ""
    hint: str = ""  # what to do about the error
    aborted: str = ""  # why it was stopped
    is_refused: bool = False  # something it needed was refused
    warnings: list[str] = []
    findings: list[ReviewFinding] = []
    handed_in: HandedIn | None = None  # what became of the files it changed, if it was isolated
    requests: int = 0
    tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0

    @property
    def failed(self) -> bool:
        return bool(self.error or self.aborted)

    @property
    def failure(self) -> str:
        """The error, and what to do about it."""
        return f"{self.error}; {self.hint}" if self.error and self.hint else self.error


class Member:
    """Used in the session's event loop only. `changed`: called when something of it that is shown has changed. `save`:
    has its record stored soon. `mail_changed`: called with what became of messages in its mailbox, and why."""

    def __init__(
        self,
        record: AgentRecord,
        state: Lifecycle,
        changed: Callable[["Member"], object],
        save: Callable[["Member"], object],
        mail_changed: Callable[["Member", Sequence[Mail], MailNow, str], object],
    ) -> None:
        self.record = record
        self.state: Lifecycle = state
        self.actor: Actor | None = None
        self.driver: Driver | None = None
        self.isolation: Isolation | None = None
        self.workplace = ""  # what it works in, or worked in, that is not the folder of the session
        self.place: Place | None = None  # the one it had last
        self.options: dict[str, object] = {}  # of its provider; not stored: there may be a key in them
        self.opening = asyncio.Lock()  # of its journal: one driver at a time
        self.has_irc = True  # or cannot answer messages
        self.may_continue: Callable[[], bool] = lambda: False  # another program works again, without a prompt
        self.mailbox = Mailbox(self._mail_changed)
        self.announced: set[str] = set()  # messages that wait to join its run
        self.words: list[UserWords] = []  # of the user, for a run that is about to begin
        self.yielded: Yielded | None = None
        self.findings: list[ReviewFinding] = []
        self.last_line = ""
        self._block: int | None = None  # of text, that the last line is the end of
        self.requests = 0
        self.usage = Usage()
        self.cost: float | None = None
        self.active = time.time()
        self.stopping = False  # its run is being stopped
        self.reason = ""  # why it was aborted, or parked
        self.failed = self.stopped = False  # what it did last
        self._changed = changed
        self._save = save
        self._report_mail = mail_changed
        self._counted = self._priced = False  # the turns of the current run reported their tokens, and their cost
        self._published: AgentState | None = None
        self._copied = CopyCounts()  # what it changed in its working copy

    @property
    def id(self) -> str:
        return self.record.id

    @property
    def path(self) -> str:
        return self.record.path

    @property
    def is_program(self) -> bool:
        """Whether it is a process of its own: another provider's program, or ours in a working copy. Such a one has no
        `irc` and no `yield`: it reads prompts and answers in words."""
        return bool(self.record.definition.provider) or self.record.isolated

    @property
    def is_over(self) -> bool:
        """Whether it can do nothing more although it was not stopped: its working copy is gone."""
        return self.record.isolated and self.state == "parked"

    @property
    def takes_nothing(self) -> bool:
        return self.state == "aborted" or self.is_over

    @property
    def tokens(self) -> int:
        return (self.usage.input_tokens or 0) + (self.usage.output_tokens or 0)

    def become(self, state: Lifecycle, reason: str = "", *, failed: bool = False, stopped: bool = False) -> None:
        """`stopped`: by the user."""
        self.state, self.reason, self.active = state, reason, time.time()
        self.failed, self.stopped = failed, stopped
        self.publish()
        self._changed(self)

    def store(self, record: AgentRecord) -> None:
        """Store what has to be known when the program is killed."""
        self.record = record
        self._save(self)

    def publish(self) -> None:
        """Its state, where that is news."""
        if self.actor is None or self.state == "pending":
            return
        definition = self.record.definition
        now = AgentState(
            self.state,
            model=self.driver.model if self.driver is not None else self.record.model,
            reason=self.reason,
            unread=len(self.mailbox),
            definition=definition.name,
            extension=definition.file if definition.source == "extension" else "",
            provider=definition.provider,
            workplace=self.workplace,
            changed_files=self._copied.files,
            added=self._copied.added,
            removed=self._copied.removed,
            failed=self.failed,
            is_review=self.record.is_review,
            stopped=self.stopped,
        )
        if now != self._published:
            self._published = now
            self.actor.publish(now.as_state())

    def copy_changed(self, counts: CopyCounts) -> None:
        self._copied = counts
        self.publish()
        self._changed(self)

    def see(self, event: Event) -> None:
        """What it publishes passes here: for the last line, and for what it spent."""
        match event:
            case Text():
                before = self.last_line if event.block == self._block else ""
                self._block = event.block
                self._set_line(event.text.rstrip().rpartition("\n")[2] if "\n" in event.text else before + event.text)
            case ToolUse():
                self._block = None
                self._set_line(f"{event.name} {event.arg}")
            case ToolResult():
                self.active = time.time()
                if self.isolation is not None:
                    self.isolation.look_soon()
            case RunStarted():
                self._counted = self._priced = False
            case TurnEnded():
                self.requests += 1
                self._count(event.usage, event.cost)
            case RunEnded():  # counts where its turns did not report
                if event.usage is not None and not self._counted:
                    self.requests += 1
                self._count(None if self._counted else event.usage, None if self._priced else event.cost)

    def _set_line(self, line: str) -> None:
        line = cut_graphemes(clean_line(line), _LINE)
        if line != self.last_line:
            self.last_line = line
            self._changed(self)

    def _count(self, usage: Usage | None, cost: float | None) -> None:
        from sightline.agent import added

        self._counted, self._priced = self._counted or usage is not None, self._priced or cost is not None
        self.usage = added(self.usage, usage) or self.usage
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        self._changed(self)

    def _mail_changed(self, mails: Sequence[Mail], now: MailNow, error: str) -> None:
        self._report_mail(self, mails, now, error)
        self.publish()
        self._changed(self)


def failed_result(member: Member, error: str, hint: str = "") -> AgentResult:
    record = member.record
    return AgentResult(
        id=record.id,
        agent=record.definition.name,
        description=record.description,
        error=clean_text(error),
        hint=clean_text(hint),
    )


def stopped_result(member: Member, reason: str) -> AgentResult:
    return AgentResult(
        id=member.id,
        agent=member.record.definition.name,
        description=member.record.description,
        output=member.yielded.text if member.yielded is not None else "",
        aborted=reason,
    )
