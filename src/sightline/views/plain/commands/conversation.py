"""Watching a session with an agent, in plain text: what happened so far, then what happens.

One agent of it can be watched alone, with those below it, until it works no more. Leaving never ends it. Words are as
they came; the user's messages, calls and their output are lines between them.
A watcher that is too slow for the host reads from the journal what it missed, so nothing is left out.
"""

import asyncio
import shlex
import signal
from collections.abc import Iterator
from contextlib import aclosing

import msgspec

from sightline.events import (
    AgentEnded,
    AgentStarted,
    AgentState,
    Error,
    Event,
    MailChanged,
    MailSent,
    Notice,
    Request,
    RunEnded,
    State,
    Text,
    ToolOutput,
    ToolResult,
    ToolUse,
    User,
)
from sightline.events.stamping import in_place_of, of_agent, of_source, stamp
from sightline.exceptions import UserMistake
from sightline.host import Frame, follow
from sightline.journal import Store
from sightline.text import clean_line
from sightline.transcript import (
    Entry,
    Remark,
    Snapshot,
    TranscriptCall,
    TranscriptMail,
    TranscriptMessage,
    TranscriptText,
)
from sightline.views.plain._output import columns_of, write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._renderer import EVERYTHING, PlainRenderer
from sightline.views.plain.commands.run import Channels

DETACHED = 130
_CODES = {"cancelled": 130, "timeout": 124, "refused": 3, "error": 1, "host": 1}
_AT_ONCE = 500  # events
_LISTED = 20  # agents
_FAILED = ("aborted", "failed")  # how an agent may stand


def show_conversation(store: Store, session: str, palette: Palette, agent: str = "") -> int:
    """Watch it to its end; the exit code is that of its last run. `agent`: of this one alone. Ctrl+C detaches."""
    return asyncio.run(_shown(store, session, palette, agent))


def check_agent(store: Store, session: str, path: str) -> None:
    """Raises UserMistake where the session has no such agent."""
    known = asyncio.run(_agents(store, session))
    if path not in known:
        text = f"there is no agent {clean_line(path)} in session {session}"
        there = ", ".join([clean_line(each) for each in known][:_LISTED])
        more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
        raise UserMistake(text, f"its agents: {there}{more}" if known else "it has no agents")


async def _agents(store: Store, session: str) -> list[str]:
    async with aclosing(follow(store, session)) as frames:
        async for frame in frames:
            if isinstance(frame, Snapshot):
                return list(frame.agents)
    return []


async def _shown(store: Store, session: str, palette: Palette, agent: str) -> int:
    watching = _Watching(store, session, Channels(PlainRenderer(EVERYTHING, palette, columns_of(1))), agent)
    task = asyncio.get_running_loop().create_task(watching.watch())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    if task.cancelled():
        way = f"sightline attach {session}" + (f" --agent {shlex.quote(clean_line(agent))}" if agent else "")
        write_text(2, f"{palette.dim}detached, still running. Attach with: {way}{palette.reset}\n")
        return DETACHED
    task.result()
    return watching.code


class _Watching:
    def __init__(self, store: Store, session: str, channels: Channels, agent: str) -> None:
        self.code = 0
        self._agent = agent
        self._is_over = False
        self._store = store
        self._session = session
        self._channels = channels
        self._last = 0  # the event up to which everything was shown

    async def watch(self) -> None:
        async with aclosing(follow(self._store, self._session)) as frames:
            async for frame in frames:
                await self._draw(frame)
                if self._is_over:
                    break
        await self._channels.end()

    async def _draw(self, frame: Frame) -> None:
        if not isinstance(frame, Snapshot):
            await self._show(frame)
        elif self._last:
            for part in self._missed(frame.seq):
                await self._show(part)
        else:
            entries = [entry for entry in frame.shown if self._is_of(entry.agent)]
            parts = [(entry.seq, _events_of(entry)) for entry in entries]
            parts += [(seq, events) for seq, reader, events in _read_by_calls(frame) if self._is_of(reader)]
            parts.sort(key=lambda part: part[0])
            parts.append((frame.seq, _unread(frame)))
            waiting = [msgspec.convert(request, Request) for request in frame.requests.values()]
            parts.append((frame.seq, [self._waits(request) for request in waiting if self._is_of(request.agent)]))
            await self._channels.write([_quoted(event) for _, events in parts for event in events])
            self._last, self.code = frame.seq, _CODES.get(frame.stop_reason, 0)
            if self._agent:
                agent = frame.agents.get(self._agent)
                self._is_over = agent is None or not agent.running
                self.code = int(agent is not None and agent.standing in _FAILED)

    async def _show(self, events: list[Event]) -> None:
        for event in events:
            self._last = event.seq or self._last
            if isinstance(event, RunEnded) and event.agent == self._agent:
                self.code = event.exit_code if event.exit_code is not None else int(event.is_error)
            if self._agent:
                self._note_end(event)
        shown = [event for event in events if isinstance(event, MailSent) or self._is_of(event.agent)]
        await self._channels.write([self._waits(e) if isinstance(e, Request) else _quoted(e) for e in shown])

    def _waits(self, request: Request) -> Event:
        """What waits for an answer, which cannot be given here."""
        who = clean_line(request.agent) or "the agent"
        text = f"{who} waits for your answer: {clean_line(request.text) or request.what}"
        return in_place_of(
            request, Notice(text, "warning", f"answer it in a terminal: sightline attach {self._session}")
        )

    def _is_of(self, path: str) -> bool:
        """Whether this agent is watched: the one that was asked for, or one below it."""
        return not self._agent or path == self._agent or path.startswith(f"{self._agent}/")

    def _note_end(self, event: Event) -> None:
        """Whether the agent works no more: what it publishes about itself, or its end as another program reports it."""
        match event:
            case AgentStarted() if event.path == self._agent:
                self._is_over = False
            case AgentEnded() if event.path == self._agent:
                self._is_over, self.code = True, self.code or int(event.is_error)
            case State() if event.agent == self._agent and event.key == AgentState.KEY:
                if (fact := AgentState.of(event.value)) is not None:
                    self._is_over = fact.state != "running"
                    self.code = self.code or int(fact.state in _FAILED)

    def _missed(self, last: int) -> Iterator[list[Event]]:
        part: list[Event] = []
        for event in self._store.read(self._session).events():
            if self._last < event.seq <= last:
                part.append(event)
            if len(part) >= _AT_ONCE:
                yield part
                part = []
        yield part


def _quoted(event: Event) -> Event:
    """The user's message as a text of its own, set off from the agent's words; any other event as it is."""
    if not isinstance(event, User) or event.mail:
        return event
    words = "\n".join([f"> {line}" for line in event.text.split("\n")])
    return in_place_of(event, Text(f"{words}\n", -event.seq - 2))


def _events_of(entry: Entry) -> list[Event]:
    """The events a view would have received of it."""
    match entry:
        case TranscriptMessage():
            read = of_agent(entry.agent, [stamp(User(entry.text, mail=entry.mail), entry.seq, 0.0)])
            return [*_sent(entry), *read]
        case TranscriptText():
            return [] if entry.reasoning else of_agent(entry.agent, [Text(entry.text, entry.block)])
        case TranscriptCall():
            use = ToolUse(entry.id, entry.name, entry.native_name, entry.arg, entry.args)
            return of_agent(entry.agent, [use, *_printed(entry), *_ended(entry)])
        case Remark():
            if entry.level in ("info", "warning"):
                return [Notice(entry.text, "warning" if entry.level == "warning" else "info", entry.hint)]
            return [Error(entry.text, entry.hint)]


def _sent(message: TranscriptMessage) -> list[Event]:
    """What it is known by, where it is a message between agents or of the user to one."""
    if not message.mail:
        return []
    sent = of_agent(message.sender, [MailSent(message.mail, message.text, [], reply_to=message.reply_to)])
    return sent if message.source else of_source("person", sent)


def _unread(frame: Snapshot) -> list[Event]:
    """What is known of messages that are unread."""
    unread = [mail for mail in frame.mail if any(receipt.now == "unread" for receipt in mail.receipts)]
    return [event for mail in unread for event in _of_mail(mail)]


def _of_mail(mail: TranscriptMail) -> list[Event]:
    sent = of_agent(mail.sender, [MailSent(mail.id, mail.text, [], reply_to=mail.reply_to)])
    return of_source("person", sent) if mail.by_user else sent


def _read_by_calls(frame: Snapshot) -> Iterator[tuple[int, str, list[Event]]]:
    """Messages that are in no conversation, since a call read them: when, and by whom."""
    shown = {
        (entry.mail, entry.agent) for entry in frame.entries if isinstance(entry, TranscriptMessage) and entry.mail
    }
    for mail in frame.mail:
        for receipt in mail.receipts:
            is_read = (receipt.outcome, receipt.now) == ("delivered", "read")
            if is_read and (mail.id, receipt.agent) not in shown:
                read = of_agent(receipt.agent, [MailChanged([mail.id], "read")])
                yield receipt.seq, receipt.agent, [*_of_mail(mail), *read]


def _printed(call: TranscriptCall) -> Iterator[Event]:
    """The end of its output, and how much came before that."""
    before = call.skipped
    for piece in call.pieces:
        yield ToolOutput(call.id, piece.text, offset=piece.offset, dropped=before + piece.dropped)
        before = 0


def _ended(call: TranscriptCall) -> list[Event]:
    """The result, where there is one."""
    if call.content is None:
        return []
    return [ToolResult(call.id, call.content, call.details, call.is_error, call.exit_code)]
