"""A session for a console in which somebody else's agent works."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec

from sightline.host._console_agent import go_to
from sightline.host._console_wanted import HostWanted
from sightline.host._process import prune_now_and_then
from sightline.host._provider_worker import open_provider
from sightline.host._runtime import forget_socket, listen
from sightline.host._server import SocketServer
from sightline.host._session import Session
from sightline.host._stage import SessionShelf
from sightline.host._working import is_unused, opened_journal
from sightline.journal import Store


@asynccontextmanager
async def opened_provider(store: Store, wanted: HostWanted) -> AsyncIterator[tuple[Session, SocketServer]]:
    """A new session, or a kept one that is gone on with."""
    folder = str(go_to(store, wanted))
    wanted = msgspec.structs.replace(wanted, cwd=folder)
    writer, tree = opened_journal(store, folder, wanted.resume, wanted.title, wanted.provider)
    unused = not wanted.resume
    try:
        session = Session(writer, store.index, last_seq=tree.last_seq)
        session.worker = await open_provider(session, wanted, tree, SessionShelf(store, session.id))
        await session.fold_kept()
        server = SocketServer(session, listen(session.id), cwd=folder, started=time.time())
        try:
            await server.open()
            yield session, server
        finally:
            unused = unused and is_unused(session, tree)  # now already: what fails on the way out must not cost it
            await session.stop()
            await server.close()
            forget_socket(session.id)
            await session.sync()
            unused = unused and is_unused(session, tree)
    finally:
        writer.close()
        if unused:
            store.remove(writer.folder.name)
    prune_now_and_then(store)
