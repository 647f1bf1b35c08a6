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
from collections.abc import AsyncIterator

import msgspec

from sightline.events import Error, Notice, ToolUse
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.exec import CommandSpec
from sightline.host import Client, Frame, Kept, Start, Subscription, attach, connect, find, hosting, launch
from sightline.journal import Store, session_of
from sightline.transcript import Call, Remark, Snapshot
from sightline.views.plain._cancelling import Canceller
from sightline.views.plain._ending import Ending, ending_in
from sightline.views.plain._output import write_all, write_patiently
from sightline.views.plain._palette import Palette

_CANCELLED, _READER_GONE = 130, 141
_SECONDS_FOR_LAST_BYTES = 1.0


def show_exec(store: Store, spec: CommandSpec, palette: Palette, *, session: str, labelled: bool) -> int:
    """Run it on this terminal."""
    pressed: list[int] = []  # a Ctrl+C that comes before there is anybody to take it
    signal.signal(signal.SIGINT, lambda *_: pressed.append(1))
    launched = "" if session else launch(store, spec, cwd=spec.cwd)
    return asyncio.run(_shown(_Asked(store, spec, launched, session), palette, labelled, pressed))


def detach_exec(store: Store, spec: CommandSpec, palette: Palette, *, session: str) -> int:
    """Start it and say its id."""
    launched = "" if session else launch(store, spec, cwd=spec.cwd)
    return asyncio.run(_detached(_Asked(store, spec, launched, session), palette))


def pass_exec(store: Store, spec: CommandSpec, *, session: str) -> int:
    """Run it with its output, byte for byte, as ours."""
    return asyncio.run(_passed_from(_Asked(store, spec, "", session)) if session else _passed(store, spec))


class _Asked(msgspec.Struct, frozen=True):
    """A command, and the session it was launched in or is to be started in."""

    store: Store
    spec: CommandSpec
    launched: str
    session: str

    async def begun(self) -> tuple[Client, str]:
        """A connection to the command's host, and its id."""
        if not self.launched:
            return await _start_in(self.store, self.session, self.spec)
        try:
            return await connect(self.launched), f"{self.launched}-1"
        except OSError as error:
            hint = f"see {self.store.folder(self.launched) / 'host.log'}"
            raise OutsideFailure(f"the host of the command did not come up: {error}", hint) from error

    @property
    def after(self) -> int | None:
        """A session launched for it is followed from its first event."""
        return 0 if self.launched else None


async def _start_in(store: Store, session: str, spec: CommandSpec) -> tuple[Client, str]:
    found = find(store, session)
    client = await attach(store, session_of(found) or found)
    if isinstance(client, Kept):
        raise UserMistake(f"session {client.session} is not running", "see `sightline ps`, or leave out --session")
    environment = {name: value for name, value in os.environ.items() if _can_travel(name + value)}
    if not all(map(_can_travel, spec.argv)):
        raise UserMistake("the command has bytes in it that are not UTF-8", "leave out --session")
    reply = await client.submit(Start(msgspec.structs.replace(spec, env=environment)))
    if not reply.ok:
        raise OutsideFailure(reply.error, reply.hint)
    return client, reply.id


def _can_travel(text: str) -> bool:
    return text.isascii() or text.encode("utf-8", "replace") == os.fsencode(text)


async def _shown(asked: _Asked, palette: Palette, labelled: bool, pressed: list[int]) -> int:
    from sightline.views.plain.attach import Watcher

    client, job = await asked.begun()
    watcher = Watcher(asked.store, client, palette, job=job, headings=False, labelled=labelled)
    watcher.on_interrupt = cancel = Canceller(client, job, watcher.leave)
    asyncio.get_running_loop().call_soon(lambda: cancel() if pressed else None)
    ending = await watcher.watch(asked.after)
    if ending is None:
        return _CANCELLED
    if ending.how == "spawn":
        return _told(ending)
    write_all(2, f"{ending.line(palette)}\n".encode())
    return ending.exit_code


async def _detached(asked: _Asked, palette: Palette) -> int:
    client, job = await asked.begun()
    ending = None
    async for frame in client.subscribe(asked.after):
        if _mentions(frame, job):
            ending = ending_in(frame, job)  # what cannot be started has ended by the time it is heard of
            break
    client.close()
    if ending is not None and ending.how == "spawn":
        return _told(ending)
    write_all(1, f"{job}\n".encode())
    if os.isatty(2):
        write_all(2, f"{palette.dim}watch it: sightline attach {job}{palette.reset}\n".encode())
    return 0


async def _passed(store: Store, spec: CommandSpec) -> int:
    from sightline.exec import Passing

    async with hosting(store, cwd=spec.cwd) as session:
        hung_up = asyncio.Event()
        passing = Passing(1, 2, on_broken=lambda: None if hung_up.is_set() else cancel())
        job = session.start(spec, passing).id
        cancel = Canceller(session, job)
        _take_signals(cancel, hung_up)
        ending = await _ended(session.subscribe(0), job)
        written = await _last_bytes(passing.close(), cancel)
    if passing.broken and not hung_up.is_set():
        return _READER_GONE
    return _told(ending) if written and ending is not None else _CANCELLED


async def _passed_from(asked: _Asked) -> int:
    from sightline.views.plain.logs import pass_bytes

    client, job = await asked.begun()
    cancel = Canceller(client, job)
    _take_signals(cancel, asyncio.Event())
    try:
        ending = await pass_bytes(asked.store, job, client, cancel.pressed)
    except BrokenPipeError:
        ...
    return 0


def _take_signals(cancel: Canceller, hung_up: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, cancel)
    loop.add_signal_handler(signal.SIGHUP, hung_up.set)
