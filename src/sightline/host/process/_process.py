"""A host as a process of its own: made by a fork, so that it starts at once with what is already loaded.

Rules:

- The fork happens before there is a thread or an event loop.
- The host is detached and has no terminal: it outlives the process that started it. What a command inherits
  (environment, folder, limits, niceness, umask) comes from that process.
- It closes all descriptors it inherited: a pipe held open by a host would block its reader.
- SIGTERM and SIGINT stop the session properly; a closed terminal (SIGHUP) means nothing to it.
"""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Coroutine
from pathlib import Path

from sightline.exec import CommandSpec
from sightline.host.session._life import Journal, open_journal, opened, served
from sightline.host.session._session import HostSession
from sightline.host.socket._runtime import listen
from sightline.host.socket._server import SocketServer
from sightline.journal import JournalWriter, Store

# With nothing to do and no viewer. A session made for one command has its first viewer coming.
LINGER_AFTER_A_COMMAND = 1.0
LINGER = 600.0


BeHost = Callable[[Journal, socket.socket], Coroutine[object, object, None]]


def launch(store: Store, spec: CommandSpec | None, *, cwd: str, title: str = "") -> str:
    """Start a host for a new session and, with a spec, its first job. Returns its id once it can be connected to."""

    def be_host(journal: Journal, listener: socket.socket) -> Coroutine[object, object, None]:
        return host(store, journal, listener, spec, cwd=cwd)

    return detached(store, be_host, cwd=cwd, title=title)


def detached(store: Store, be_host: BeHost, *, cwd: str, title: str = "") -> str:
    """Start a host for a new session. Returns its id once it can be connected to."""
    journal = open_journal(store, cwd=cwd, title=title)
    writer, session = journal[0], journal[0].folder.name
    listener = listen(session)
    if between := os.fork():
        os.waitpid(between, 0)  # it is gone at once
        writer.close()
        listener.close()
        return session
    try:
        _leave(writer, listener)
        if os.fork() == 0:
            asyncio.run(be_host(journal, listener))
    except BaseException:
        _log_bug()
        os._exit(1)
    os._exit(0)


async def host(store: Store, journal: Journal, listener: socket.socket, spec: CommandSpec | None, *, cwd: str) -> None:
    """Be the host of a session until nothing runs and no view is attached, or until it is stopped."""
    over = asyncio.Event()
    stop_on_signals(over)
    async with opened(store, journal) as session:
        async with served(session, cwd=cwd, listener=listener) as server:
            if spec is not None:
                session.start(spec)
            stop_when_idle(over, session, server, LINGER if spec is None else LINGER_AFTER_A_COMMAND)
            await over.wait()
        remove_empty_log(session.folder)


def stop_on_signals(over: asyncio.Event) -> None:
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, over.set)
    loop.add_signal_handler(signal.SIGHUP, lambda: None)


def stop_when_idle(over: asyncio.Event, session: HostSession, server: SocketServer, seconds: float) -> "Linger":
    """End a host when it is stopped, or when it has had nothing to do and no viewer for so long."""
    waiting = Linger(seconds, lambda: session.idle and not server.connections, over.set)
    session.on_idle = waiting.look
    server.on_change = waiting.look_again
    session.on_stopped = over.set
    waiting.look()
    return waiting


class Linger:
    """Calls `end` once it has been quiet for so long without a break."""

    def __init__(self, seconds: float, quiet: Callable[[], bool], end: Callable[[], None]) -> None:
        self._seconds = seconds
        self._quiet = quiet
        self._end = end
        self._timer: asyncio.TimerHandle | None = None

    def look(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._quiet():
            self._timer = asyncio.get_running_loop().call_later(self._seconds, self._over)

    def look_again(self) -> None:
        """After a connection that only read the hello: that does not make the wait longer."""
        if self._timer is None:
            self.look()

    def _over(self) -> None:
        self._timer = None
        if self._quiet():
            self._end()


def _leave(writer: JournalWriter, listener: socket.socket) -> None:
    """Become a session leader without a terminal, with nothing open but what a host needs."""
    os.setsid()
    null = os.open(os.devnull, os.O_RDWR)
    log = os.open(writer.folder / "host.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    for fd, source in ((0, null), (1, log), (2, log)):
        os.dup2(source, fd)
    needed = sorted({writer.fileno(), listener.fileno()})
    begin = 3
    for fd in (*needed, os.sysconf("SC_OPEN_MAX")):
        os.closerange(begin, fd)
        begin = fd + 1


def remove_empty_log(folder: Path) -> None:
    try:
        log = folder / "host.log"
        if not log.stat().st_size:
            log.unlink()
    except OSError:
        pass


def _log_bug() -> None:
    import traceback

    traceback.print_exc()
