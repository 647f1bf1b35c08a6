"""Images that were kept with a session, for the page: recognised by their bytes, never by what they are called."""

import asyncio
from collections.abc import Callable
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sightline.journal import Store, artifact_file
from sightline.views.web.api._reading import RequestRefused

_CAP = 20 * 1024 * 1024
# What a browser draws and cannot run: an SVG may hold a script.
_KINDS = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


class Pictures:
    def __init__(self, store: Store, known: Callable[[str], str]) -> None:
        self._store = store
        self._known = known

    async def picture(self, request: Request) -> Response:
        session, name = self._known(request.path_params["id"]), request.path_params["name"]
        path = artifact_file(self._store.folder(session), name)
        data = await asyncio.to_thread(_read, path) if path is not None else b""
        kind = _kind(data)
        if not kind:
            raise RequestRefused(404, f"no image {name} in session {session}")
        return Response(data, media_type=kind)


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_CAP + 1)
    except OSError:
        return b""
    return data if len(data) <= _CAP else b""


def _kind(data: bytes) -> str:
    from sightline.tools.images import sniff

    facts = sniff(data)
    return facts.media_type if facts is not None and facts.media_type in _KINDS else ""
