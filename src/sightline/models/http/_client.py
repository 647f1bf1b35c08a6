"""HTTP/1.1 to one server over asyncio's streams: a request goes out, its answer comes in as it arrives.

It is our own because of the start: importing a whole HTTP client took a third of the time to the first request
(decision 14).

Rules:

- One request at a time on a connection. A connection whose answer was read to its end serves the next request, for
  `IDLE_SECONDS`; one that the server closed meanwhile, or on which anything came unasked, is replaced at once.
- A body ends with its length, with its last chunk, or with the connection. One that ends before that is `HttpBroken`.
- Nothing is decoded but the chunks, and gzip from a server that compresses unasked.
- The request is written whole and not waited for: a server may answer before it has read it.
- Nothing of the environment is used for this machine. Elsewhere a proxy gets the whole address of an http:// server,
  and a tunnel (`CONNECT`) to an https:// one.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Mapping
from contextlib import aclosing, asynccontextmanager
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import SplitResult, quote, unquote, urlsplit

import msgspec

if TYPE_CHECKING:
    import ssl

T = TypeVar("T")

IDLE_SECONDS = 120.0  # a tool may run between two requests
_SECOND_ADDRESS_SECONDS = 0.25  # a host's next address is tried when the first has not answered by then
_BUFFER = 256 * 1024  # also the most a head may take
_PORTS = {"http": 80, "https": 443}
_INTERIM_AT_MOST = 10  # heads (1xx) that an answer follows
_HEADER_LINES = 1000  # in all heads of an answer
_NO_BODY = frozenset({204, 304})
_PACKED = frozenset({"gzip", "x-gzip", "deflate"})
_VISIBLE = "".join(map(chr, range(33, 127)))
_IN_HEADER_NAME = frozenset(_VISIBLE) - frozenset('"(),/:;<=>?@[\\]{}')
# For a Python whose own places for certificates are those of the machine it was built on.
_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
)


class HttpFailure(Exception):
    """No answer, or not all of it. The message is why, without the address."""


class HttpUnusable(HttpFailure):
    """The address cannot be used, or the environment's proxies and certificates."""


class HttpUnconnected(HttpFailure):
    """There is no connection."""


class HttpSilent(HttpFailure):
    """Nothing came for too long."""


class HttpBroken(HttpFailure):
    """The connection broke, or what came is not HTTP."""


class HttpAnswer:
    """The names of `headers` are in lower case. `chunks` is read once."""

    def __init__(self, reader: asyncio.StreamReader, silence: float, head: "_Head") -> None:
        self.status = head.status
        self.headers = head.headers
        self.serves_again = False  # the connection: after the end of the body
        self._reader = reader
        self._silence = silence
        self._persists = head.persists
        self._left = 0

    async def chunks(self) -> AsyncGenerator[bytes, None]:
        """The body, as it comes."""
        packed = self.headers.get("content-encoding", "").strip().lower() in _PACKED
        async with aclosing(_unpacked(self._raw()) if packed else self._raw()) as chunks:
            async for chunk in chunks:
                yield chunk

    async def _raw(self) -> AsyncGenerator[bytes, None]:
        length = self.headers.get("content-length", "")
        if self.status in _NO_BODY:
            pass
        elif "chunked" in self.headers.get("transfer-encoding", "").lower():
            self._left = -1
            while piece := await _heard(self._of_chunk(), self._silence):
                yield piece
        elif length:
            self._left = _number(length)
            while self._left:
                yield await _heard(self._some(), self._silence)
        else:
            while piece := await _heard(self._reader.read(_BUFFER), self._silence):
                yield piece
            return
        self.serves_again = self._persists

    async def _of_chunk(self) -> bytes:
        """Some of a chunk; nothing at the end of the last one. The line end after a chunk is not waited for."""
        if self._left <= 0:
            if self._left == 0:
                await self._reader.readuntil(b"\n")
            line = await self._reader.readuntil(b"\n")
            self._left = _number(line.partition(b";")[0].decode("latin-1"), 16)
            if self._left == 0:
                await _header_lines(self._reader, _HEADER_LINES)  # trailers
                return b""
        return await self._some()

    async def _some(self) -> bytes:
        piece = await self._reader.read(min(self._left, _BUFFER))
        if not piece:
            raise HttpBroken("the connection was closed before the end")
        self._left -= len(piece)
        return piece


class HttpClient:
    """`address` names the server; `user:password` in it are sent as Basic authorization."""

    def __init__(self, address: SplitResult, *, connect_seconds: float, silence_seconds: float) -> None:
        self._address = address
        self._connect_seconds = connect_seconds
        self._silence = silence_seconds
        self._way: _Way | None = None
        self._open: set[_Connection] = set()
        self._idle: list[_Connection] = []  # the youngest last

    @asynccontextmanager
    async def answer(
        self, method: str, url: str, headers: Mapping[str, str], body: bytes = b""
    ) -> AsyncIterator[HttpAnswer]:
        """The answer's head has come; its body is read inside."""
        way = self._way = self._way or await self._found_way()
        request = _request(method, way, urlsplit(url), headers, body)
        connection, answer = await self._answered(way, request)
        try:
            yield answer
        finally:
            if answer.serves_again and connection.is_reusable and connection in self._open:
                connection.idle_since = asyncio.get_running_loop().time()
                self._idle.append(connection)
            else:
                self._drop(connection)

    async def close(self) -> None:
        """Answers that are being read break off."""
        self._idle = []
        for connection in [*self._open]:
            self._drop(connection)
        await asyncio.sleep(0)  # that is when the loop closes them

    def _drop(self, connection: "_Connection") -> None:
        self._open.discard(connection)
        connection.abort()

    async def _answered(self, way: "_Way", request: bytes) -> "tuple[_Connection, HttpAnswer]":
        if (idle := self._youngest_idle()) is not None:
            try:
                return idle, await self._answer_on(idle, request)
            except HttpBroken:
                while (idle := self._youngest_idle()) is not None:
                    self._drop(idle)  # it waited longer
        connection = await self._connected(way)
        self._open.add(connection)
        return connection, await self._answer_on(connection, request)

    async def _answer_on(self, connection: "_Connection", request: bytes) -> HttpAnswer:
        try:
            return await connection.ask(request, self._silence)
        except BaseException:
            self._drop(connection)
            raise

    def _youngest_idle(self) -> "_Connection | None":
        expired = asyncio.get_running_loop().time() - IDLE_SECONDS
        while self._idle:
            connection = self._idle.pop()
            if connection.idle_since > expired and connection.is_reusable:
                return connection
            self._drop(connection)
        return None

    async def _found_way(self) -> "_Way":
        is_here = _is_this_machine(self._address.hostname or "")
        proxied = not is_here and any(name.lower().endswith("_proxy") for name in os.environ)
        if not proxied and self._address.scheme == "http":
            return _Way(self._address)
        try:
            return await asyncio.to_thread(_way, self._address, proxied=proxied)
        except (OSError, ValueError) as problem:
            raise HttpUnusable(_reason(problem)) from None

    async def _connected(self, way: "_Way") -> "_Connection":
        there = way.proxy or way.address
        try:
            async with asyncio.timeout(self._connect_seconds):
                reader, writer = await asyncio.open_connection(
                    there.hostname,
                    _port(there),
                    ssl=way.certificates if there.scheme == "https" else None,
                    limit=_BUFFER,
                    happy_eyeballs_delay=_SECOND_ADDRESS_SECONDS,
                )
                connection = _Connection(reader, writer)
                if way.proxy is not None and way.address.scheme == "https":
                    await connection.tunnel(way, self._connect_seconds)
        except TimeoutError:
            raise HttpUnconnected(f"it took more than {self._connect_seconds:g} seconds") from None
        except OSError as problem:
            raise HttpUnconnected(_reason(problem)) from None
        except ValueError:
            raise HttpUnusable("this is not the name of a host") from None
        return connection


class _Way(msgspec.Struct, frozen=True):
    """How the server is reached."""

    address: SplitResult
    proxy: SplitResult | None = None
    certificates: "ssl.SSLContext | None" = None


class _Head(msgspec.Struct, frozen=True):
    status: int
    headers: dict[str, str]
    lines: int
    persists: bool


class _Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self.idle_since = 0.0

    @property
    def is_reusable(self) -> bool:
        """The request was sent to its end, and nothing follows its answer."""
        return self._writer.transport.get_write_buffer_size() == 0 and _is_quiet(self._reader)

    def abort(self) -> None:
        self._writer.transport.abort()

    async def ask(self, request: bytes, silence: float) -> HttpAnswer:
        self._writer.write(request)
        lines = _HEADER_LINES
        for _ in range(_INTERIM_AT_MOST + 1):
            head = await _heard(_head(self._reader, lines), silence)
            if head.status >= 200:
                return HttpAnswer(self._reader, silence, head)
            lines -= head.lines
        raise HttpBroken("no answer follows")

    async def tunnel(self, way: "_Way", seconds: float) -> None:
        """Through the proxy to the server."""
        try:
            host = f"{_host(way.address)}:{_port(way.address)}"
            self._writer.write(
                _encoded(f"CONNECT {host} HTTP/1.1", {"host": host, **_authorization(way.proxy, "proxy-")})
            )
            head = await _heard(_head(self._reader), seconds)
            if head.status != 200:
                raise HttpUnconnected(f"the proxy refused: {head.status}")
            assert way.certificates is not None
            self._check_quiet()
            await self._writer.start_tls(way.certificates, server_hostname=way.address.hostname)
            self._check_quiet()  # the TLS stream has the same reader: what the proxy left in it would be an answer
        except HttpBroken as problem:
            self.abort()
            raise HttpUnconnected(f"the proxy: {problem}") from None
        except BaseException:
            self.abort()
            raise

    def _check_quiet(self) -> None:
        if not _is_quiet(self._reader):
            raise HttpBroken("it closed, or sent more than its answer")


def _is_quiet(reader: asyncio.StreamReader) -> bool:
    """Whether nothing is there to be read: no byte, no end, no error.

    The buffer of a `StreamReader` is private, but the first step of a read either waits or does not.
    """
    reading = reader.read(1)
    try:
        reading.send(None)
    except (StopIteration, OSError):
        return False
    reading.close()
    return True


async def _heard(reading: Awaitable[T], seconds: float) -> T:
    try:
        async with asyncio.timeout(seconds):
            return await reading
    except TimeoutError:
        raise HttpSilent(f"nothing came for {seconds:g} seconds") from None
    except asyncio.IncompleteReadError:
        raise HttpBroken("the connection was closed before the end") from None
    except (asyncio.LimitOverrunError, ValueError):
        raise HttpBroken("what came is not HTTP") from None
    except OSError as problem:
        raise HttpBroken(_reason(problem)) from None


async def _head(reader: asyncio.StreamReader, most_lines: int = _HEADER_LINES) -> _Head:
    version, _, status = (await reader.readuntil(b"\n")).partition(b" ")
    if not version.startswith(b"HTTP/1.") or not status[:3].isdigit():
        raise HttpBroken("what came is not HTTP")
    lines = await _header_lines(reader, most_lines)
    values: dict[str, list[str]] = {}
    for line in lines:
        name, _, value = line.partition(":")
        values.setdefault(name.strip().lower(), []).append(value.strip())
    headers = {name: ", ".join(repeated) for name, repeated in values.items()}
    stays = version == b"HTTP/1.1" and "close" not in headers.get("connection", "").lower()
    return _Head(int(status[:3]), headers, len(lines), stays)


async def _header_lines(reader: asyncio.StreamReader, at_most: int) -> list[str]:
    """The lines up to a blank one."""
    lines: list[str] = []
    taken = 0
    while line := (await reader.readuntil(b"\n")).decode("latin-1").rstrip("\r\n"):
        lines.append(line)
        taken += len(line)
        if taken > _BUFFER or len(lines) > at_most:
            raise HttpBroken("its headers are too long")
    return lines


async def _unpacked(raw: AsyncGenerator[bytes, None]) -> AsyncGenerator[bytes, None]:
    import zlib

    unpacking = zlib.decompressobj(zlib.MAX_WBITS | 32)
    is_empty = True
    async with aclosing(raw) as chunks:
        async for chunk in chunks:
            is_empty = False
            while chunk and not unpacking.eof:
                try:
                    yield unpacking.decompress(chunk, _BUFFER)
                except zlib.error as problem:
                    raise HttpBroken(str(problem)) from None
                chunk = unpacking.unconsumed_tail
                await asyncio.sleep(0)  # a little may unpack to a lot, and others have work too
    if not (unpacking.eof or is_empty):
        raise HttpBroken("what is compressed in it ends too early")


def _request(method: str, way: _Way, url: SplitResult, headers: Mapping[str, str], body: bytes) -> bytes:
    target = quote(url.path or "/", _VISIBLE) + (f"?{quote(url.query, _VISIBLE)}" if url.query else "")
    lowered = {name.lower(): value for name, value in headers.items()}
    given = {"host": _authority(way.address), **lowered, **_authorization(way.address)}
    if body or method == "POST":
        given["content-length"] = str(len(body))
    if way.proxy is not None and way.address.scheme == "http":
        target = f"http://{given['host']}{target}"
        given |= _authorization(way.proxy, "proxy-")
    return _encoded(f"{method} {target} HTTP/1.1", given) + body


def is_header_name(name: str) -> bool:
    return bool(name) and _IN_HEADER_NAME.issuperset(name)


def _encoded(first: str, headers: Mapping[str, str]) -> bytes:
    for name, value in headers.items():
        if not (is_header_name(name) and value.isascii() and value.isprintable()):
            raise HttpUnusable("a header has a character that cannot be sent")
    lines = [first, *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


def _authorization(address: SplitResult | None, prefix: str = "") -> dict[str, str]:
    if address is None or not (address.username or address.password):
        return {}
    from base64 import b64encode

    pair = f"{unquote(address.username or '')}:{unquote(address.password or '')}".encode(errors="surrogateescape")
    return {f"{prefix}authorization": f"Basic {b64encode(pair).decode()}"}


def _authority(address: SplitResult) -> str:
    is_usual = address.port in (None, _PORTS[address.scheme])
    return _host(address) if is_usual else f"{_host(address)}:{address.port}"


def _host(address: SplitResult) -> str:
    host = address.hostname or ""
    if host.isascii():
        return f"[{host}]" if ":" in host else host
    try:
        return host.encode("idna").decode()
    except UnicodeError:
        raise HttpUnusable("this is not the name of a host") from None


def _port(address: SplitResult) -> int:
    return address.port or _PORTS[address.scheme]


def _is_this_machine(host: str) -> bool:
    """By its name, or by an address in any of the forms that connecting takes: 127.1 and 2130706433 too."""
    if f".{host.removesuffix('.')}".endswith(".localhost"):
        return True
    if ":" not in host and not host[:1].isdecimal():
        return False
    import ipaddress
    import socket

    try:
        address = ipaddress.ip_address(host if ":" in host else socket.inet_aton(host))
    except (OSError, ValueError):
        return False
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_loopback or address.is_unspecified


def _way(address: SplitResult, *, proxied: bool) -> _Way:
    """For a thread: certificates take 20 ms."""
    proxy = _proxy(address) if proxied else None
    is_secure = "https" in (address.scheme, proxy.scheme if proxy else "")
    return _Way(address, proxy, _certificates() if is_secure else None)


def _proxy(address: SplitResult) -> SplitResult | None:
    from urllib.request import getproxies, proxy_bypass

    proxies = getproxies()
    url = proxies.get(address.scheme) or proxies.get("all") or ""
    if not url or proxy_bypass(_authority(address)):
        return None
    try:
        proxy = urlsplit(url if "://" in url else f"http://{url}")
        # An @ behind the host: the password has a character that ends a host, and the user's name looks like one.
        is_cut = "@" in proxy.path + proxy.query + proxy.fragment
        if proxy.scheme in _PORTS and proxy.hostname and proxy.port != 0 and not is_cut:
            return proxy
    except ValueError:  # its text quotes the address, and so the password
        pass
    raise ValueError("the proxy has no usable address")


def _certificates() -> "ssl.SSLContext":
    import ssl

    file, folder = os.environ.get("SSL_CERT_FILE") or None, os.environ.get("SSL_CERT_DIR") or None
    places = ssl.get_default_verify_paths()
    if not (file or folder or places.cafile or places.capath):
        file = next(filter(os.path.isfile, _CERTIFICATES), None)
    context = ssl.create_default_context(cafile=file, capath=folder)
    context.set_alpn_protocols(["http/1.1"])
    return context


def _number(digits: str, base: int = 10) -> int:
    try:
        number = int(digits.strip(), base)
    except ValueError:
        number = -1
    if number < 0:
        raise HttpBroken("what came is not HTTP")
    return number


def _reason(problem: Exception) -> str:
    """Without the address, which the caller names; several addresses failed where there is no one reason."""
    if isinstance(problem, ConnectionError) and problem.errno:
        return os.strerror(problem.errno)
    if isinstance(problem, OSError) and problem.errno is None and not isinstance(problem, ConnectionError):
        return "none of its addresses answers"
    return getattr(problem, "strerror", None) or str(problem)
