"""A session hosted by the program that asked for it, for as long as that takes. Others may attach to it meanwhile."""

import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from sightline.host._process import prune_now_and_then
from sightline.host._runtime import forget_socket, listen
from sightline.host._server import SocketServer
from sightline.host._session import Session
from sightline.journal import Store


@asynccontextmanager
async def hosting(store: Store, *, cwd: str, title: str = "") -> AsyncIterator[Session]:
    """A new session; on the way out its jobs are ended and everybody who watches is told."""
    writer = store.create(cwd=cwd, title=title)
    session = Session(writer, store.index)
    try:
        server = SocketServer(session, listen(session.id), cwd=cwd, started=time.time())
        await server.open()
        try:
            yield session
        finally:
            await session.stop()
            await server.close()
            forget_socket(session.id)
    finally:
        writer.close()
    prune_now_and_then(store)
