"""Requests to the proxy: HTTP, SOCKS 5 and SOCKS 4a on one port, told apart by the first byte.

Rules:

- A client may send anything. What is not understood exactly is refused (`BadRequest`), never guessed: two readings of
  one request are how a proxy is tricked.
- A host is a name as name servers know it or an address in its one canonical form; `127.1` and `0x7f000001` are the
  address they mean.
- Of plain HTTP a connection carries one request. Its `Host` is the requested host, headers between client
  and proxy go no further, and what follows its body is not forwarded.
- Only a connection to a TCP port can be requested: SOCKS's `BIND` and UDP are refused.
"""

import asyncio
import ipaddress
import re
import socket
from collections.abc import AsyncIterator, Callable
from typing import Literal

import msgspec

HEAD_AT_MOST = 32 * 1024  # bytes of an HTTP head
_FIELDS_AT_MOST = 200
_PIECE = 64 * 1024

Protocol = Literal["connect", "http", "socks5", "socks4"]
Why = Literal["refused", "bad", "unreachable", "busy"]

_name = re.compile(r"[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?(?:\.[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?)*").fullmatch
_numbers = re.compile(r"[0-9a-fx.]+").fullmatch
_last_label_is_a_number = re.compile(r"(?:.*\.)?(?:[0-9]+|0x[0-9a-f]*)").fullmatch
_authority = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@/?#\\\s]+)(?::([0-9]{1,5}))?").fullmatch
_request_line = re.compile(rb"([A-Z][A-Z0-9_-]{0,31}) ([\x21-\x7e]+) HTTP/1\.([01])").fullmatch
_field = re.compile(rb"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\t\x20-\x7e\x80-\xff]*)").fullmatch
_chunk = re.compile(rb"([0-9A-Fa-f]{1,8})(?:[ \t]*;[^\r\n]*)?\r\n").fullmatch
_absolute = re.compile(r"http://([^/?#]+)([^#]*)(?:#.*)?", re.IGNORECASE).fullmatch

# Between this client and this proxy; with `host`, which is ours to write.
_NOT_FORWARDED = frozenset(
    b"host connection proxy-connection keep-alive proxy-authorization proxy-authenticate te trailer upgrade".split()
)

_HTTP_CODES: dict[Why, str] = {
    "refused": "403 Refused by sightline",
    "bad": "400 Not understood by sightline",
    "unreachable": "502 Not reachable",
    "busy": "503 Too many connections",
}
_SOCKS5_CODES: dict[Why, int] = {"refused": 2, "bad": 7, "unreachable": 4, "busy": 1}


class BadRequest(Exception):
    """It cannot be understood, or is for nothing a proxy does. The message is for the client's output."""

    def __init__(self, text: str, protocol: Protocol = "http") -> None:
        super().__init__(text)
        self.protocol = protocol


class ConnectionRequest(msgspec.Struct, frozen=True, kw_only=True):
    """A requested connection. `head` is sent first; `body` bytes of the client may follow it, -1: chunks."""

    protocol: Protocol
    host: str
    port: int
    head: bytes = b""
    body: int = 0


async def read_request(reader: asyncio.StreamReader, write: Callable[[bytes], object]) -> ConnectionRequest | None:
    """None when the client left without a request. `write` answers where a protocol negotiates first.
    Raises `BadRequest`, and IncompleteReadError when the client leaves in the middle."""
    first = await reader.read(1)
    match first:
        case b"":
            return None
        case b"\x05":
            return await _socks5(reader, write)
        case b"\x04":
            return await _socks4(reader)
        case _:
            try:
                head = first + await reader.readuntil(b"\r\n\r\n")
            except asyncio.LimitOverrunError:
                raise BadRequest("the head of the request is too long") from None
            return http_request(head)


def canonical_host(written: str) -> str:
    """A name in lower case without its last dot, or an address; `BadRequest` for anything else."""
    host = written.removesuffix(".").lower()
    if host.startswith("[") or ":" in host:
        try:
            address = ipaddress.IPv6Address(host.removeprefix("[").removesuffix("]"))
        except ValueError:
            raise BadRequest("not an address") from None
        if address.scope_id is not None:
            raise BadRequest("addresses with a zone are not supported")
        return str(address.ipv4_mapped or address)
    if not host.isascii():
        try:
            host = host.encode("idna").decode("ascii").lower()
        except UnicodeError:
            raise BadRequest("not a host name") from None
    if _numbers(host) and _last_label_is_a_number(host):  # what the system's resolver reads as a number
        try:
            return str(ipaddress.IPv4Address(socket.inet_aton(host)))
        except OSError:
            raise BadRequest("not an address") from None
    if len(host) > 253 or not _name(host):
        raise BadRequest("not a host name")
    return host


def split_authority(written: str, port: int | None = None) -> tuple[str, int]:
    """`HOST:PORT`; `port` is used where none is written."""
    found = _authority(written)
    if found is None or (found[2] is None and port is None):
        raise BadRequest("not a host and a port")
    number = port if found[2] is None else int(found[2])
    if number is None or not 0 < number < 65536:
        raise BadRequest("not a port")
    return canonical_host(found[1]), number


def http_request(head: bytes) -> ConnectionRequest:
    """A head, its empty line included."""
    line, *rest = head.removesuffix(b"\r\n\r\n").split(b"\r\n")
    found = _request_line(line)
    if found is None:
        raise BadRequest("not a request to a proxy")
    fields = _fields(rest)
    method, target = found[1], found[2].decode("ascii")
    if method == b"CONNECT":
        host, port = split_authority(target)
        return ConnectionRequest(protocol="connect", host=host, port=port)
    parts = _absolute(target)
    if parts is None:
        raise BadRequest("this is a proxy: only http:// addresses and CONNECT are answered")
    host, port = split_authority(parts[1], 80)
    path = parts[2] if parts[2].startswith("/") else f"/{parts[2]}"
    body = _body(fields)
    bare = f"[{host}]" if ":" in host else host
    lines = [b"%s %s HTTP/1.1" % (method, path.encode("ascii"))]
    lines += [b"host: %s" % (bare if port == 80 else f"{bare}:{port}").encode("ascii"), b"connection: close"]
    lines += [b"%s: %s" % field for field in _forwarded(fields)]
    return ConnectionRequest(protocol="http", host=host, port=port, head=b"\r\n".join([*lines, b"", b""]), body=body)


def _fields(lines: list[bytes]) -> list[tuple[bytes, bytes]]:
    if len(lines) > _FIELDS_AT_MOST:
        raise BadRequest("too many headers")
    found = [_field(line) for line in lines]
    return [(_readable(match)[1].lower(), _readable(match)[2].strip(b" \t")) for match in found]


def _readable(match: "re.Match[bytes] | None") -> "re.Match[bytes]":
    if match is None:
        raise BadRequest("a header that cannot be read")
    return match


def _forwarded(fields: list[tuple[bytes, bytes]]) -> list[tuple[bytes, bytes]]:
    """Without what is for the proxy alone, and what the client's `Connection` names."""
    named = {word.strip().lower() for name, value in fields if name == b"connection" for word in value.split(b",")}
    named -= {b"content-length", b"transfer-encoding"}  # they define where the body ends
    return [field for field in fields if field[0] not in _NOT_FORWARDED and field[0] not in named]


def _body(fields: list[tuple[bytes, bytes]]) -> int:
    codings = [value.lower() for name, value in fields if name == b"transfer-encoding"]
    lengths = [value for name, value in fields if name == b"content-length"]
    if codings:
        if codings != [b"chunked"] or lengths:
            raise BadRequest("a body of unclear length")
        return -1
    if not lengths:
        return 0
    if len(lengths) > 1 or not re.fullmatch(rb"[0-9]{1,15}", lengths[0]):
        raise BadRequest("a body of unclear length")
    return int(lengths[0])


async def read_body(reader: asyncio.StreamReader, request: ConnectionRequest) -> AsyncIterator[bytes]:
    """The body that belongs to the request, in pieces to forward; nothing behind it is read."""
    if request.body >= 0:
        async for piece in _exactly(reader, request.body):
            yield piece
        return
    while size := await _chunk_size(reader):
        yield b"%x\r\n" % size
        async for piece in _exactly(reader, size):
            yield piece
        if await reader.readexactly(2) != b"\r\n":
            raise BadRequest("a body of unclear length")
        yield b"\r\n"
    for _ in range(_FIELDS_AT_MOST):  # trailers, which are not forwarded
        if await reader.readuntil(b"\r\n") == b"\r\n":
            yield b"0\r\n\r\n"
            return
    raise BadRequest("too many trailers")


async def _exactly(reader: asyncio.StreamReader, left: int) -> AsyncIterator[bytes]:
    while left:
        piece = await reader.read(min(left, _PIECE))
        if not piece:
            raise BadRequest("a body that ends early")
        left -= len(piece)
        yield piece


async def _chunk_size(reader: asyncio.StreamReader) -> int:
    found = _chunk(await reader.readuntil(b"\r\n"))
    if found is None:
        raise BadRequest("a body of unclear length")
    return int(found[1], 16)


async def _socks5(reader: asyncio.StreamReader, write: Callable[[bytes], object]) -> ConnectionRequest:
    """The version is read already."""
    methods = await reader.readexactly((await reader.readexactly(1))[0])
    if 0 in methods:
        write(b"\x05\x00")
    elif 2 in methods:  # a name and a password, which mean nothing here
        write(b"\x05\x02")
        await reader.readexactly(1)
        for _ in range(2):
            await reader.readexactly((await reader.readexactly(1))[0])
        write(b"\x01\x00")
    else:
        write(b"\x05\xff")
        raise BadRequest("no supported way to sign in", "socks5")
    version, command, _, kind = await reader.readexactly(4)
    if version != 5 or command != 1:
        raise BadRequest("only CONNECT is supported", "socks5")
    match kind:
        case 1:
            host = str(ipaddress.IPv4Address(await reader.readexactly(4)))
        case 3:
            host = _text(await reader.readexactly((await reader.readexactly(1))[0]))
        case 4:
            host = str(ipaddress.IPv6Address(await reader.readexactly(16)))
        case _:
            raise BadRequest("not an address", "socks5")
    return _of_socks("socks5", host, await reader.readexactly(2))


async def _socks4(reader: asyncio.StreamReader) -> ConnectionRequest:
    """The version is read already. An address 0.0.0.x means that a name follows."""
    command, *_ = await reader.readexactly(1)
    port, address = await reader.readexactly(2), await reader.readexactly(4)
    await _until_zero(reader)  # the client's name
    host = str(ipaddress.IPv4Address(address))
    if address[:3] == b"\0\0\0" and address[3]:
        host = _text(await _until_zero(reader))
    if command != 1:
        raise BadRequest("only CONNECT is supported", "socks4")
    return _of_socks("socks4", host, port)


def _of_socks(protocol: Protocol, host: str, port: bytes) -> ConnectionRequest:
    try:
        host = canonical_host(host)
    except BadRequest as problem:
        raise BadRequest(str(problem), protocol) from None
    number = int.from_bytes(port)
    if not number:
        raise BadRequest("not a port", protocol)
    return ConnectionRequest(protocol=protocol, host=host, port=number)


async def _until_zero(reader: asyncio.StreamReader) -> bytes:
    found = bytearray()
    while (byte := await reader.readexactly(1)) != b"\0":
        found += byte
        if len(found) > 255:
            raise BadRequest("a field that is too long", "socks4")
    return bytes(found)


def _text(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def granted(request: ConnectionRequest) -> bytes:
    """What the client is sent when it is connected; nothing where the answer of the server is the first word."""
    return {
        "connect": b"HTTP/1.1 200 Connected\r\n\r\n",
        "http": b"",
        "socks5": b"\x05\x00\x00\x01" + bytes(6),
        "socks4": b"\x00\x5a" + bytes(6),
    }[request.protocol]


def denied(protocol: Protocol, why: Why, text: str) -> bytes:
    """What the client is sent when it is not. A program shows little of it: most is in the status line."""
    if protocol == "socks5":
        return bytes([5, _SOCKS5_CODES[why], 0, 1]) + bytes(6)
    if protocol == "socks4":
        return b"\x00\x5b" + bytes(6)
    body = f"sightline: {text}\n".encode()
    head = f"HTTP/1.1 {_HTTP_CODES[why]}\r\ncontent-type: text/plain; charset=utf-8\r\n"
    return f"{head}content-length: {len(body)}\r\nconnection: close\r\n\r\n".encode() + body
