"""A session for a console: with our own agent in it, or another provider's."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

from msgspec.structs import replace

from sightline.agent import agent_spec
from sightline.exceptions import UserMistake
from sightline.host.native._working import working
from sightline.host.provider._memory import conversation_in
from sightline.host.session._announcing import SessionFacts
from sightline.host.session._attachments import SessionShelf
from sightline.host.session._life import open_journal, opened, served
from sightline.host.session._session import HostSession
from sightline.host.socket._server import SocketServer
from sightline.journal import NATIVE, Store
from sightline.settings import StartOptions
from sightline.text import clean_line


@asynccontextmanager
async def open_session(store: Store, options: StartOptions) -> AsyncIterator[tuple[HostSession, SocketServer]]:
    """A new session, or a stored one that is resumed, for users who may detach and come back."""
    options = replace(options, cwd=str(_go_to(store, options)))
    provider = options.provider or (conversation_in(store, options.resume).provider if options.resume else "")
    if provider in ("", NATIVE):
        spec = partial(agent_spec, options, may_lack_model=True)
        async with working(store, spec(), attended=True, remove_unused=True) as it:
            it.worker.reload_settings = spec
            SessionFacts(it.session, it.agent).publish()
            await it.session.fold_stored()
            yield it.session, it.server
        return
    from sightline.host.provider._worker import open_provider

    options = replace(options, provider=provider)
    journal = open_journal(store, cwd=options.cwd, resume=options.resume, title=options.title, provider=provider)
    async with opened(store, journal, remove_unused=True) as session:
        session.worker = await open_provider(session, options, journal[1], SessionShelf(store, session.id))
        await session.fold_stored()
        async with served(session, cwd=options.cwd) as server:
            yield session, server


def _go_to(store: Store, options: StartOptions) -> Path:
    """Change to the folder of the session."""
    stored = store.read(options.resume).header.cwd if options.resume and not options.cwd else ""
    folder = Path(options.cwd or stored)
    try:
        folder = folder.absolute()
        os.chdir(folder)
    except OSError as error:
        hint = "start it in a folder that exists" if not options.resume else "create it again, or choose another"
        raise UserMistake(clean_line(f"cannot work in {folder}: {error.strerror}"), hint) from None
    if str(folder).encode("utf-8", "replace") != os.fsencode(folder):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    return folder
