"""Opening and closing a session: its journal, new or resumed, the session in it, and its socket.

Every session is opened and closed here, whatever works in it: our own agent, another provider's, or commands alone.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sightline.exceptions import UserMistake
from sightline.host.session._session import HostSession
from sightline.host.session._worktree import worktree_held
from sightline.host.socket._runtime import forget_socket, listen
from sightline.host.socket._server import SocketServer
from sightline.journal import Busy, JournalWriter, SessionTree, Store, prune

_SECONDS_BETWEEN_PRUNES = 3600.0
Journal = tuple[JournalWriter, SessionTree]


def open_journal(store: Store, *, cwd: str, resume: str = "", title: str = "", provider: str = "") -> Journal:
    """The journal of a new session, or of one that is resumed: then what a killed host left open has ended."""
    if not resume:
        writer = store.create(cwd=cwd, title=title, provider=provider)
        return writer, SessionTree.load(writer.folder)
    try:
        return store.reopen(resume)
    except Busy:
        hint = f"watch it with `sightline attach {resume}`, or fork it with `sightline fork {resume}`"
        raise UserMistake(f"session {resume} is running", hint) from None


@asynccontextmanager
async def opened(store: Store, journal: Journal, *, remove_unused: bool = False) -> AsyncIterator[HostSession]:
    """A session in its journal. On the way out its work is ended and the journal complete.

    A new session without a message or a call is removed if it failed, or with `remove_unused`."""
    writer, tree = journal
    removable = failed = False
    try:
        session = HostSession(writer, store.index, last_seq=tree.last_seq)
        is_new = not tree.last_seq
        try:
            yield session
        except (Exception, asyncio.CancelledError):
            failed = True
            raise
        finally:
            # Now already: what fails on the way out must not cost it.
            removable = is_new and (failed or remove_unused) and _is_unused(session, tree)
            await session.stop()
            await session.sync()
            removable = removable and _is_unused(session, tree)
    finally:
        writer.close()
        if removable:
            store.remove(writer.folder.name)
    if tree.nodes and not removable:
        await asyncio.to_thread(store.catalogue.note, writer.folder.name)
    _prune(store)


@asynccontextmanager
async def served(
    session: HostSession, *, cwd: str, listener: socket.socket | None = None
) -> AsyncIterator[SocketServer]:
    """The session on its socket. On the way out its work is ended, and every viewer receives that."""
    server = SocketServer(session, listener or listen(session.id), cwd=cwd, started=time.time())
    with worktree_held(session, cwd):
        try:
            await server.open()
            yield server
        finally:
            try:
                await session.stop()
                await server.close()
            finally:  # also when the wait for slow viewers is given up
                forget_socket(session.id)


@asynccontextmanager
async def hosting(store: Store, *, cwd: str) -> AsyncIterator[HostSession]:
    """A new session without an agent, hosted by this process. Viewers may attach to it meanwhile."""
    async with opened(store, open_journal(store, cwd=cwd)) as session, served(session, cwd=cwd):
        yield session


def _is_unused(session: HostSession, tree: SessionTree) -> bool:
    """Whether it has neither a message nor a call, nor an agent that was shown."""
    has_messages = any(node.type in ("message", "custom_message") for node in tree.nodes.values())
    return not has_messages and not session.calls_made and not session.agents


def _prune(store: Store) -> None:
    """Delete what is too old or too much: at most once an hour, by the session that ends first after that."""
    stamp = store.folder("").parent / "pruned"
    try:
        if time.time() - stamp.stat().st_mtime < _SECONDS_BETWEEN_PRUNES:
            return
    except OSError:
        pass
    try:
        stamp.touch(mode=0o600)
        prune(store)
    except OSError:
        pass
