"""The bytes of an artifact, all or a range of them, read as they are sent and never held."""

import asyncio
import re
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sightline.journal import ArtifactReader
from sightline.views.web.api._reading import RequestRefused

_READ_SIZE = 256 * 1024
_range = re.compile(r"bytes=([0-9]{0,15})-([0-9]{0,15})").fullmatch


def download(request: Request, reader: ArtifactReader, name: str) -> Response:
    """A response with the artifact as it is now. `reader` is closed when it was sent."""
    size = reader.size
    etag = f'"{name}-{size}"'
    try:
        start, end = _requested_range(request, size, etag)
    except Unsatisfiable:
        reader.close()
        raise
    headers = {
        "accept-ranges": "bytes",
        "content-disposition": f'attachment; filename="{name}.log"',
        "content-length": str(end - start),
        "etag": etag,
    }
    partial = (start, end) != (0, size)
    if partial:
        headers["content-range"] = f"bytes {start}-{end - 1}/{size}"
    source = _read(reader, start, end)
    return StreamingResponse(source, 206 if partial else 200, headers, "application/octet-stream")


async def _read(reader: ArtifactReader, start: int, end: int) -> AsyncIterator[bytes]:
    try:
        while start < end:
            data = await asyncio.to_thread(reader.read, start, min(_READ_SIZE, end - start))
            if not data:  # it was cut meanwhile; the content length shows the reader
                return
            start += len(data)
            yield data
    finally:
        reader.close()


def _requested_range(request: Request, size: int, etag: str) -> tuple[int, int]:
    """The range to send; everything when none is requested, or one in a form that may be ignored."""
    match = _range(request.headers.get("range", ""))
    condition = request.headers.get("if-range")
    if match is None or match[0] == "bytes=-" or (condition is not None and condition != etag):
        return 0, size
    first, last = match[1], match[2]
    if not first:
        start, end = max(size - int(last), 0), size
    else:
        start, end = int(first), min(int(last) + 1, size) if last else size
        if last and int(last) < int(first):
            return 0, size
    if start >= size:
        raise Unsatisfiable(size)
    return start, end


class Unsatisfiable(RequestRefused):
    """A range that begins after the end."""

    def __init__(self, size: int) -> None:
        super().__init__(416, "the range is past the end of the output", f"the output has {size} bytes")
        self.size = size
