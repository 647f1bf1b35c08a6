"""Watching a session with an agent, in plain text: what happened so far, then what happens.

Leaving never ends it. Words are as they came; the user's messages, calls and their output are lines between them.
A watcher that is too slow for the host reads from the journal what it missed, so nothing is left out.
"""

import asyncio
import signal
from collections.abc import Iterator
from contextlib import aclosing

from sightline.events import Error, Event, Notice, RunEnded, Text, ToolOutput, ToolResult, ToolUse, User
from sightline.events.stamping import in_place_of, of_agent, stamp
from sightline.host import Frame, follow
from sightline.journal import Store
from sightline.transcript import Entry, Remark, Snapshot, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views.plain._output import columns_of, write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._renderer import EVERYTHING, PlainRenderer
from sightline.views.plain.commands.run import Channels

DETACHED = 130
_CODES = {"cancelled": 130, "timeout": 124, "refused": 3, "error": 1, "host": 1}
_AT_ONCE = 500  # events


def show_conversation(store: Store, session: str, palette: Palette) -> int:
    """Watch it to its end; the exit code is that of its last run. Ctrl+C detaches."""
    return asyncio.run(_shown(store, session, palette))


async def _shown(store: Store, session: str, palette: Palette) -> int:
    watching = _Watching(store, session, Channels(PlainRenderer(EVERYTHING, palette, columns_of(1))))
    task = asyncio.get_running_loop().create_task(watching.watch())
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    await asyncio.wait([task])
    if task.cancelled():
        write_text(2, f"{palette.dim}detached, still running. Attach with: sightline attach {session}{palette.reset}\n")
        return DETACHED
    task.result()
    return watching.code


class _Watching:
    def __init__(self, store: Store, session: str, channels: Channels) -> None:
        self.code = 0
        self._store = store
        self._session = session
        self._channels = channels
        self._last = 0  # the event up to which everything was shown

    async def watch(self) -> None:
        async with aclosing(follow(self._store, self._session)) as frames:
            async for frame in frames:
                await self._draw(frame)
        await self._channels.end()

    async def _draw(self, frame: Frame) -> None:
        if not isinstance(frame, Snapshot):
            await self._show(frame)
        elif self._last:
            for part in self._missed(frame.seq):
                await self._show(part)
        else:
            await self._channels.write([_quoted(event) for entry in frame.shown for event in _events_of(entry)])
            self._last, self.code = frame.seq, _CODES.get(frame.stop_reason, 0)

    async def _show(self, events: list[Event]) -> None:
        for event in events:
            self._last = event.seq or self._last
            if isinstance(event, RunEnded) and not event.agent:
                self.code = event.exit_code if event.exit_code is not None else int(event.is_error)
        await self._channels.write([_quoted(event) for event in events])

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
    if not isinstance(event, User):
        return event
    words = "\n".join([f"> {line}" for line in event.text.split("\n")])
    return in_place_of(event, Text(f"{words}\n", -event.seq - 2))


def _events_of(entry: Entry) -> list[Event]:
    """The events a view would have received of it."""
    match entry:
        case TranscriptMessage():
            return of_agent(entry.agent, [stamp(User(entry.text), entry.seq, 0.0)])
        case TranscriptText():
            return [] if entry.reasoning else of_agent(entry.agent, [Text(entry.text, entry.block)])
        case TranscriptCall():
            use = ToolUse(entry.id, entry.name, entry.native_name, entry.arg, entry.args)
            return of_agent(entry.agent, [use, *_printed(entry), *_ended(entry)])
        case Remark():
            if entry.level in ("info", "warning"):
                return [Notice(entry.text, "warning" if entry.level == "warning" else "info", entry.hint)]
            return [Error(entry.text, entry.hint)]


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
