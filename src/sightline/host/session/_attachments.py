"""Artifacts of a session: attachments of prompts, with images made small enough for a model, and their files."""

import asyncio
import os
import re
from pathlib import Path

from sightline.agent import Agent
from sightline.conversation import ImagePart
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal import Store, artifact_file, is_private, is_session_id, store_file
from sightline.text import clean_line
from sightline.tools import ArtifactShelf, ToolError
from sightline.tools.images import MAX_INPUT, SNIFFED, fit, sniff

_NAME_AT_MOST = 60
_odd = re.compile(r"[^A-Za-z0-9._-]+")


class Attachments:
    """Those of one session."""

    def __init__(self, agent: Agent, shelf: ArtifactShelf) -> None:
        self._agent = agent
        self._shelf = shelf

    async def store(self, name: str, data: bytes) -> str:
        """Store a file; returns its artifact URL. An image is recognised by its bytes, not by its name."""
        if len(data) > MAX_INPUT:
            raise UserMistake(
                f"{clean_line(name)} has {len(data)} bytes, more than {MAX_INPUT}",
                "name its path in the prompt instead",
            )
        settings = self._agent.workplace.settings.images
        if sniff(data[:SNIFFED]) is not None:
            try:
                fitted = await asyncio.to_thread(fit, data, max_bytes=settings.max_bytes, max_side=settings.max_side)
            except ToolError as error:
                raise UserMistake(f"{clean_line(name)} cannot be shown to a model: {error.message}") from error
            data = fitted.image.data
            name = f"{os.path.splitext(name)[0]}.{fitted.image.media_type.rpartition('/')[2]}"
        try:
            return await asyncio.to_thread(self._shelf.store, self._name(name), data)
        except OSError as error:
            what = f"{clean_line(name)} could not be stored: {error.strerror}"
            raise OutsideFailure(what, "free some disk space") from error

    def sorted(self, urls: list[str]) -> tuple[tuple[ImagePart, ...], tuple[str, ...]]:
        """Images, which a model sees, and other files, which it has to read."""
        images: list[ImagePart] = []
        files: list[str] = []
        for url in urls:
            facts = sniff(self._beginning(url))
            if facts is None:
                files.append(url)
            else:
                images.append(ImagePart(facts.media_type, url))
        return tuple(images), tuple(files)

    def _beginning(self, url: str) -> bytes:
        path = self._shelf.find(url)
        try:
            if path is None:
                raise FileNotFoundError
            with path.open("rb") as file:
                return file.read(SNIFFED)
        except OSError:
            raise UserMistake(f"there is no attachment {clean_line(url)}", "attach the file again") from None

    def _name(self, name: str) -> str:
        """A unique file name in which the original name stays readable."""
        readable = _odd.sub("-", os.path.basename(name)).strip("-.")[-_NAME_AT_MOST:] or "file"
        return f"{self._agent.actor.new_call()}-{readable}"


class SessionShelf:
    """`artifact://SESSION/NAME` URLs and their files."""

    def __init__(self, store: Store, session: str) -> None:
        self._store = store
        self._session = session

    def store(self, name: str, data: bytes) -> str:
        store_file(self._store.folder(self._session), name, data)
        return f"artifact://{self._session}/{name}"

    def find(self, url: str) -> Path | None:
        session, _, name = url.removeprefix("artifact://").partition("/")
        if not is_session_id(session) or not name:
            return None
        folder = self._store.folder(session)
        found = artifact_file(folder, name)
        is_output = found is not None and found.suffix in (".out", ".idx")
        return None if is_output and is_private(folder, name) else found
