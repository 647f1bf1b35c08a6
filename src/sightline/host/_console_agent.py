"""A session for a console with our own agent in it."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from sightline.agent import Wanted, wanted_in
from sightline.exceptions import UserMistake
from sightline.host._announcing import Announcing
from sightline.host._console_wanted import HostWanted
from sightline.host._server import SocketServer
from sightline.host._session import Session
from sightline.host._working import working
from sightline.journal import Store
from sightline.settings import Approval, Thinking
from sightline.text import clean_line


@asynccontextmanager
async def opened_agent(store: Store, wanted: HostWanted) -> AsyncIterator[tuple[Session, SocketServer]]:
    """As `working`, for whoever may detach and come back."""
    folder = go_to(store, wanted)
    begun = working(
        store,
        asked_for(folder, wanted),
        resume=wanted.resume,
        title=wanted.title,
        attended=True,
        keep_unused=False,
    )
    async with begun as it:
        it.worker.settings_again = lambda: asked_for(folder, wanted)
        Announcing(it.session, it.agent).tell()
        await it.session.fold_kept()
        yield it.session, it.server


def go_to(store: Store, wanted: HostWanted) -> Path:
    """Be in the folder the session is about."""
    kept = store.read(wanted.resume).header.cwd if wanted.resume and not wanted.cwd else ""
    folder = Path(wanted.cwd or kept)
    try:
        folder = folder.absolute()
        os.chdir(folder)
    except OSError as error:
        hint = "start it in a folder that exists" if not wanted.resume else "create it again, or choose another"
        raise UserMistake(clean_line(f"cannot work in {folder}: {error.strerror}"), hint) from None
    if str(folder).encode("utf-8", "replace") != os.fsencode(folder):
        raise UserMistake(
            "the name of the current folder is not UTF-8", "rename it: the model could not name files in it"
        )
    return folder


def asked_for(folder: Path, wanted: HostWanted) -> Wanted:
    asked = wanted_in(
        folder,
        flags=wanted.flags,
        approval=_one_of(Approval, wanted.approval, "approval"),
        allow=wanted.allow,
        deny=wanted.deny,
        model=wanted.model,
        thinking=_one_of(Thinking, wanted.thinking, "thinking"),
        may_lack_model=True,
    )
    named = wanted.approval_named or not wanted.resume  # a new session's level is that of the console it is opened in
    return asked if named else msgspec.structs.replace(asked, approval=None)


def _one_of(kind: Any, word: str, what: str) -> Any:
    try:
        return msgspec.convert(word, kind) if word else None
    except msgspec.ValidationError:
        from typing import get_args

        raise UserMistake(f"no {what} level {word}", f"one of {', '.join(get_args(kind))}") from None
