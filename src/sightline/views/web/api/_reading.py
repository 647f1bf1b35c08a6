"""Reading a request: bodies and parameters, checked, or a refusal with the reason."""

import re
from typing import TypeVar

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sightline.exceptions import SightlineError

_BODY_CAP = 1024 * 1024
_DEEPEST = 32  # of nested arrays and objects; no request needs more than five

_strings = re.compile(rb'"(?:[^"\\]+|\\.)*"?', re.DOTALL).sub
_brackets = re.compile(rb"[\[{]+|[\]}]+").findall

T = TypeVar("T")


class RequestRefused(SightlineError):
    """A request that cannot be answered: the status says whose fault it is."""

    def __init__(self, status: int, message: str, hint: str = "") -> None:
        super().__init__(message, hint)
        self.status = status


def json_answer(body: object, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(msgspec.json.encode(body), status, headers, "application/json")


async def body(request: Request, kind: type[T]) -> T:
    """The body as a struct; an empty one is an empty object."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > _BODY_CAP:
            raise RequestRefused(413, "the request is too long", f"send at most {_BODY_CAP} bytes")
        parts.append(part)
    data = b"".join(parts) or b"{}"
    if _nests_deeper(data, _DEEPEST):
        raise RequestRefused(400, f"more than {_DEEPEST} nested arrays and objects", "see /api/openapi.json")
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        raise RequestRefused(400, f"invalid request: {error}", "see /api/openapi.json") from error


def _nests_deeper(data: bytes, most: int) -> bool:
    """Counted before it is decoded: hosts, journals and views of such a value call themselves for each level."""
    depth = 0
    for run in _brackets(_strings(b"", data)):
        depth += len(run) if run[0] in b"[{" else -len(run)
        if depth > most:
            return True
    return False


def number(request: Request, name: str, default: int, most: int | None = None) -> int:
    """A whole number that is not negative; one over the most counts as the most."""
    given = request.query_params.get(name)
    if given is None:
        return default
    if not (given.isascii() and given.isdigit() and len(given) <= 15):
        raise RequestRefused(400, f"{name} is not a number", f"use {name}={default}")
    return int(given) if most is None else min(int(given), most)


def after(request: Request) -> int | None:
    """The number of the last event a reader knows."""
    given = request.headers.get("last-event-id") or request.query_params.get("after") or ""
    return int(given) if given.isascii() and given.isdigit() and len(given) <= 15 else None
