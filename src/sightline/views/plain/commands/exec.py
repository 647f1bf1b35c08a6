"""Running a command: live on a terminal, byte for byte into a pipe, as events, or in the background.

- On a terminal the command belongs to a host process of its own, and this is only its first watcher: closing the
  terminal leaves the command alone. Ctrl+C cancels it.
- Into a pipe this program is the host itself. A reader that leaves ends the command, Ctrl+C cancels it; a terminal that
  is closed leaves it alone.
- Started in a session that is already running, it is a job of that session in every case.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Iterator
from typing import TypeVar

import msgspec

from sightline import host
from sightline.events import Error, Event, Notice, ToolUse, encode_event
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec import CommandSpec
from sightline.journal import Store, session_of
from sightline.text import message
from sightline.transcript import Remark, Snapshot, TranscriptCall
from sightline.views.plain._ending import JobEnd, ending_in
from sightline.views.plain._figures import size_words
from sightline.views.plain._output import write_message, write_patiently, write_text
from sightline.views.plain._palette import Palette

_CANCELLED, _READER_GONE = 130, 141
_SECONDS_FOR_LAST_BYTES = 1.0
_SECONDS_TO_END = 6.0  # a little more than a command is given to end by itself

_PART = 64 * 1024

T = TypeVar("T")
_Session = host.Client | host.StoredSession | host.HostSession


class _Canceller:
    """Called for each Ctrl+C: the first cancels the command, the second kills it, the third leaves without waiting."""

    def __init__(self, session: _Session, job: str, leave: Callable[[], object] = lambda: None) -> None:
        self.pressed = asyncio.Event()
        self._session = session
        self._job = job
        self._leave = leave
        self._times = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self) -> None:
        self.pressed.set()
        self._times += 1
        if self._times > 2:
            self._leave()
            return
        task = asyncio.get_running_loop().create_task(self._cancel(force=self._times > 1))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel(self, *, force: bool) -> None:
        try:
            await self._session.submit(host.CancelJob(self._job, force))
        except (OutsideFailure, OSError):  # the host is gone, and the command with it; the watcher sees that
            pass


def show_exec(store: Store, spec: CommandSpec, palette: Palette, *, session: str, labelled: bool) -> int:
    """Run it on this terminal."""
    pressed: list[int] = []  # a Ctrl+C that comes before there is a watcher to take it
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    launched = "" if session else host.launch(store, spec, cwd=spec.cwd)
    return asyncio.run(_shown(_Start(store, spec, launched, session), palette, labelled, pressed))


def detach_exec(store: Store, spec: CommandSpec, palette: Palette, *, session: str) -> int:
    """Start it and print its id."""
    launched = "" if session else host.launch(store, spec, cwd=spec.cwd)
    return asyncio.run(_detached(_Start(store, spec, launched, session), palette))


def pass_exec(store: Store, spec: CommandSpec, *, session: str) -> int:
    """Run it with its output, byte for byte, as ours."""
    return asyncio.run(_passed_from(_Start(store, spec, "", session)) if session else _passed(store, spec))


def events_exec(store: Store, spec: CommandSpec, *, session: str) -> int:
    """Run it with its events as our output."""
    return asyncio.run(_events_from(_Start(store, spec, "", session)) if session else _events(store, spec))


class _Start(msgspec.Struct, frozen=True):
    """A command, and the session it was launched in or is to be started in."""

    store: Store
    spec: CommandSpec
    launched: str
    session: str

    async def begin(self) -> tuple[host.Client | host.StoredSession, str]:
        """The command's session and its id. A short command may have ended before we attach."""
        if not self.launched:
            return await _start_in(self.store, self.session, self.spec)
        watched = await host.attach(self.store, self.launched)
        if isinstance(watched, host.StoredSession) and not watched.snapshot().entries:
            hint = f"see {self.store.folder(self.launched) / 'host.log'}"
            raise OutsideFailure("the session of the command did not start", hint)
        return watched, f"{self.launched}-1"

    @property
    def after(self) -> int | None:
        """A session launched for it is followed from its first event."""
        return 0 if self.launched else None


async def _start_in(store: Store, session: str, spec: CommandSpec) -> tuple[host.Client, str]:
    found = host.find(store, session)
    client = await host.attach(store, session_of(found) or found)
    if isinstance(client, host.StoredSession):
        raise UserMistake(f"session {client.session} is not running", "see `sightline ps`, or leave out --session")
    environment = {name: value for name, value in os.environ.items() if _can_travel(name + value)}
    if not all(map(_can_travel, (*spec.argv, spec.cwd))):
        raise UserMistake("the command, or its folder, has bytes in it that are not UTF-8", "leave out --session")
    reply = await client.submit(host.Start(msgspec.structs.replace(spec, env=environment)))
    if not reply.ok:
        raise OutsideFailure(reply.error, reply.hint)
    return client, reply.id


def _can_travel(text: str) -> bool:
    return text.isascii() or text.encode("utf-8", "replace") == os.fsencode(text)


async def _shown(start: _Start, palette: Palette, labelled: bool, pressed: list[int]) -> int:
    from sightline.views.plain.commands.attach import Watcher

    client, job = await start.begin()
    watcher = Watcher(start.store, client, palette, job=job, headings=False, labelled=labelled)
    watcher.on_interrupt = cancel = _Canceller(client, job, watcher.leave)
    asyncio.get_running_loop().call_soon(lambda: cancel() if pressed else None)
    ending = await watcher.watch(start.after)
    if ending is None:
        return _CANCELLED
    if ending.how == "spawn":
        return _reported(ending)
    write_text(2, f"{ending.line(palette)}\n")
    return ending.exit_code


async def _detached(start: _Start, palette: Palette) -> int:
    client, job = await start.begin()
    ending = None
    async for frame in client.subscribe(start.after):
        if _mentions(frame, job):
            ending = ending_in(frame, job)  # what cannot be started has ended by its first event
            break
    client.close()
    if ending is not None and ending.how == "spawn":
        return _reported(ending)
    write_text(1, f"{job}\n")
    if os.isatty(2):
        write_text(2, f"{palette.dim}watch it: sightline attach {job}{palette.reset}\n")
    return 0


async def _passed(store: Store, spec: CommandSpec) -> int:
    from sightline.exec import OutputForwarder

    async with host.hosting(store, cwd=spec.cwd) as session:
        hung_up = asyncio.Event()
        passing = OutputForwarder(1, 2, on_broken=lambda: None if hung_up.is_set() else cancel())
        job = session.start(spec, passing).id
        cancel = _Canceller(session, job)
        _take_signals(cancel, hung_up)
        ending = await _ended(session.subscribe(0), job)
        closing = asyncio.get_running_loop().create_task(passing.close())
        written = await _in_time(closing, cancel, _SECONDS_FOR_LAST_BYTES)
    if passing.broken and not hung_up.is_set():
        return _READER_GONE
    return _CANCELLED if written is None or ending is None else _reported(ending)


async def _passed_from(start: _Start) -> int:
    """The command is a job of another host's session: its bytes are read from the artifact that host writes."""
    from sightline.views.plain.commands.logs import pass_bytes

    client, job = await start.begin()
    passing = asyncio.get_running_loop().create_task(pass_bytes(start.store, job, client))
    cancel = _Canceller(client, job, passing.cancel)
    hung_up = asyncio.Event()
    _take_signals(cancel, hung_up)
    try:
        ending = await _in_time(passing, cancel, _SECONDS_TO_END)
    except BrokenPipeError:
        if not hung_up.is_set():
            await _cancel_anew(client.session, job)
        return _READER_GONE
    finally:
        client.close()
    if ending is not None and ending.stored < ending.bytes:
        write_message(2, "warning", f"{size_words(ending.bytes - ending.stored)} of output could not be stored")
    return _CANCELLED if ending is None else _reported(ending)


async def _events(store: Store, spec: CommandSpec) -> int:
    async with host.hosting(store, cwd=spec.cwd) as session:
        job = session.start(spec).id
        return await _written(store, session, session.subscribe(0), job)


async def _events_from(start: _Start) -> int:
    client, job = await start.begin()
    try:
        return await _written(start.store, client, client.subscribe(None), job)
    except BrokenPipeError:
        await _cancel_anew(client.session, job)
        raise
    finally:
        client.close()


async def _written(store: Store, session: _Session, frames: AsyncIterator[host.Frame], job: str) -> int:
    work = asyncio.get_running_loop().create_task(_pass_events(store, frames, job))
    cancel = _Canceller(session, job, work.cancel)
    _take_signals(cancel, asyncio.Event())
    ending = await _in_time(work, cancel, _SECONDS_TO_END)
    return _CANCELLED if ending is None else ending.exit_code


async def _pass_events(store: Store, frames: AsyncIterator[host.Frame], job: str) -> JobEnd | None:
    """Write a job's events to stdout as NDJSON until it ended, as the session numbered them, each once.

    The events a snapshot stands for are read from the journal."""
    last = 0
    async for frame in frames:
        events = _stored_events(store, job, last, frame.seq) if isinstance(frame, Snapshot) else iter(frame)
        data = b""
        for event in events:
            last = max(last, event.seq)
            if getattr(event, "id", job) == job:
                data += encode_event(event) + b"\n"
            if len(data) > _PART:
                await write_patiently(1, data)
                data = b""
        await write_patiently(1, data)
        ending = ending_in(frame, job)
        if ending is not None:
            return ending
    return None


def _stored_events(store: Store, job: str, after: int, last: int) -> Iterator[Event]:
    return (event for event in store.read(session_of(job)).events() if after < event.seq <= last)


async def _cancel_anew(session: str, job: str) -> None:
    """Over a new connection: the old one still has unread output."""
    client = await host.connect(session)
    try:
        await client.submit(host.CancelJob(job))
    finally:
        client.close()


def _take_signals(cancel: _Canceller, hung_up: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, cancel)
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)


async def _in_time(work: "asyncio.Task[T]", cancel: _Canceller, seconds: float) -> "T | None":
    """The result of the work; None when it took too long after a Ctrl+C, because its output is not read."""
    pressed = asyncio.ensure_future(cancel.pressed.wait())
    await asyncio.wait([work, pressed], return_when=asyncio.FIRST_COMPLETED)
    if not work.done():
        await asyncio.wait([work], timeout=seconds)
    pressed.cancel()
    if work.done() and not work.cancelled():
        return work.result()
    work.cancel()
    return None


async def _ended(frames: host.Subscription, job: str) -> JobEnd | None:
    """Wait for the end of a command whose output goes elsewhere; notices and errors go to stderr."""
    written = 0
    async for frame in frames:
        if isinstance(frame, Snapshot):
            remarks = [entry for entry in frame.entries if isinstance(entry, Remark)][written:]
        else:
            remarks = [Remark("", e.level, e.text, e.hint) for e in frame if isinstance(e, Notice | Error)]
        written += len(remarks)
        for remark in remarks:
            await write_patiently(2, message(remark.level, remark.text, remark.hint).encode())
        ending = ending_in(frame, job)
        if ending is not None:
            return ending
    return None


def _mentions(frame: host.Frame, job: str) -> bool:
    known = frame.entries if isinstance(frame, Snapshot) else frame
    return any(isinstance(item, TranscriptCall | ToolUse) and item.id == job for item in known)


def _reported(ending: JobEnd) -> int:
    """The exit code. Nothing is added to the output but an error that the command could not print itself."""
    if ending.how in ("spawn", "timeout", "host"):
        write_message(2, "error", ending.problem or ending.message, ending.hint)
    return ending.exit_code
