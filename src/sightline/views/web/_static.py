"""The page itself: files of this package, each with a type that is not guessed, and none but those that are there."""

import hashlib
import re
from pathlib import Path

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

_FOLDER = Path(__file__).parent / "static"
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".webmanifest": "application/manifest+json",
}
_name = re.compile(r"[a-z0-9][a-z0-9_-]*\.[a-z]+").fullmatch


async def index(request: Request) -> Response:
    return _file(request, "index.html")


async def static(request: Request) -> Response:
    return _file(request, request.path_params["name"])


def _file(request: Request, name: str) -> Response:
    path = _FOLDER / name
    if _name(name) is None or path.suffix not in _TYPES or not path.is_file():
        raise HTTPException(404, f"no file {name}")
    data = path.read_bytes()
    etag = f'"{hashlib.sha256(data).hexdigest()[:16]}"'
    headers = {"etag": etag, "cache-control": "no-cache"}
    if etag in request.headers.get("if-none-match", ""):
        return Response(status_code=304, headers=headers)
    return Response(data, media_type=_TYPES[path.suffix], headers=headers)
