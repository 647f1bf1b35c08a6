"""As much of HTTP/1.1 as model clients use: kept-alive connections, bodies by length or in chunks, streamed answers."""

from asyncio import IncompleteReadError, StreamReader, StreamWriter
from http import HTTPStatus
from typing import Any

import msgspec


class Request(msgspec.Struct, frozen=True):
    """One request as it came in. `body` is decoded JSON, or None when it is none."""

    method: str
    path: str
    query: str
    headers: dict[str, str]  # names in lower case
    body: Any


async def read_request(reader: StreamReader, writer: StreamWriter) -> Request | None:
    """The next request of a connection; None when the client has gone."""
    try:
        line = await reader.readline()
        if not line.strip():
            return None
        method, target, _ = line.decode("latin-1").split(" ", 2)
        headers = await _read_headers(reader)
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        body = await _read_body(reader, headers)
    except (IncompleteReadError, ConnectionError, ValueError):
        return None
    path, _, query = target.partition("?")
    return Request(method, path, query, headers, _decoded(body))


async def _read_headers(reader: StreamReader) -> dict[str, str]:
    headers = {}
    while (line := await reader.readline()).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return headers


async def _read_body(reader: StreamReader, headers: dict[str, str]) -> bytes:
    if "chunked" not in headers.get("transfer-encoding", ""):
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int((await reader.readline()).split(b";")[0], 16):
        body += await reader.readexactly(size)
        await reader.readline()
    await reader.readline()
    return body


def _decoded(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None


def write_reply(writer: StreamWriter, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
    """A whole answer in JSON; None has no body."""
    body = b"" if value is None else msgspec.json.encode(value)
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body)), **(headers or {})}
    writer.write(_head(status, fields) + body)


def write_half_reply(writer: StreamWriter, value: Any) -> None:
    """An answer that promises more than it holds; the connection is to be closed after it."""
    body = msgspec.json.encode(value)
    fields = {"Content-Type": "application/json", "Content-Length": str(len(body))}
    writer.write(_head(200, fields) + body[: len(body) // 2])


def write_stream_head(writer: StreamWriter) -> None:
    fields = {"Content-Type": "text/event-stream", "Cache-Control": "no-cache", "Transfer-Encoding": "chunked"}
    writer.write(_head(200, fields))


def write_chunk(writer: StreamWriter, data: bytes) -> None:
    """A piece of a streamed answer; an empty one ends it."""
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


def _head(status: int, headers: dict[str, str]) -> bytes:
    try:
        phrase = HTTPStatus(status).phrase
    except ValueError:
        phrase = "Overloaded" if status == 529 else "Unknown"
    fields = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} {phrase}\r\n{fields}\r\n".encode("latin-1")
