"""The way out: a name is looked up by us, once, and the connection goes to an address that was judged.

Rules:

- Every address a name has is judged; one that may not be connected to refuses the name. There is no second lookup that
  could answer differently.
- Lookups have threads of their own: a slow name server holds up connections and nothing else.
- Where our own environment names a proxy (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`), connections go through it by
  CONNECT with the name, except to private addresses and what `NO_PROXY` names. It looks the name up itself; what can be
  looked up here is judged before. Only `http://` proxies can be used.
"""

import asyncio
import base64
import contextlib
import ipaddress
import socket
import threading
from urllib.parse import SplitResult, unquote, urlsplit

from sightline.exec.gateway._addresses import is_public

ADDRESSES_AT_MOST = 4  # of a name that are tried
_LOOKUPS_AT_ONCE = 8
_LOOKUP_SECONDS = 20.0
_CONNECT_SECONDS = 15.0

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class UpstreamUnreachable(Exception):
    """No connection can be made; the message has the reason."""


class Upstream:
    """Looks up and connects, for one gateway."""

    def __init__(self, limit: int) -> None:
        """`limit`: bytes a reader holds at most before the other side has to wait, half of it."""
        self._limit = limit
        self._lookups = asyncio.Semaphore(_LOOKUPS_AT_ONCE)

    async def addresses(self, host: str, port: int) -> list[str]:
        """All of a name; none when it has none here. An address is its own."""
        try:
            return [str(ipaddress.ip_address(host))]
        except ValueError:
            pass
        async with self._lookups:
            loop = asyncio.get_running_loop()
            found: asyncio.Future[list[str]] = loop.create_future()
            threading.Thread(target=_look_up, args=(host, port, loop, found), daemon=True).start()
            try:
                return await asyncio.wait_for(found, _LOOKUP_SECONDS)
            except TimeoutError:
                return []

    async def connect(self, host: str, port: int, addresses: list[str], *, plain: bool) -> Streams:
        """`addresses` are judged. `plain`: HTTP without encryption, which may have a proxy of its own."""
        proxy = self._proxy(host, port, addresses, plain=plain)
        if proxy:
            return await self._through(proxy, host, port)
        if not addresses:
            raise UpstreamUnreachable(f"{host} cannot be found")
        problem: OSError | TimeoutError | None = None
        for address in addresses[:ADDRESSES_AT_MOST]:
            try:
                return await self._open(address, port)
            except (OSError, TimeoutError) as failed:
                problem = problem or failed
        raise UpstreamUnreachable(f"cannot connect to {host}:{port}: {_words(problem)}")

    async def _open(self, address: str, port: int) -> Streams:
        return await asyncio.wait_for(asyncio.open_connection(address, port, limit=self._limit), _CONNECT_SECONDS)

    def _proxy(self, host: str, port: int, addresses: list[str], *, plain: bool) -> str:
        from urllib.request import getproxies, proxy_bypass

        proxies = getproxies()
        url = proxies.get("http" if plain else "https") or proxies.get("all") or ""
        private = any(not is_public(ipaddress.ip_address(address)) for address in addresses)
        bare = f"[{host}]" if ":" in host else host
        return "" if not url or private or proxy_bypass(f"{bare}:{port}") else url

    async def _through(self, proxy: str, host: str, port: int) -> Streams:
        try:
            parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
            server, server_port = parts.hostname if parts.scheme == "http" else None, parts.port or 80
        except ValueError:
            server = None
        if not server:
            raise UpstreamUnreachable("the proxy set in the environment cannot be used: write it as http://HOST:PORT")
        try:
            reader, writer = await self._open(server, server_port)
        except (OSError, TimeoutError) as problem:
            raise UpstreamUnreachable(f"the proxy set in the environment does not answer: {_words(problem)}") from None
        try:
            status = await asyncio.wait_for(_tunnel(reader, writer, parts, host, port), _CONNECT_SECONDS)
        except (OSError, TimeoutError, EOFError, asyncio.LimitOverrunError):
            status = "no answer"
        except BaseException:
            writer.close()
            raise
        if status:
            writer.close()
            raise UpstreamUnreachable(f"the proxy set in the environment refused {host}:{port}: {status}")
        return reader, writer


async def _tunnel(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, proxy: SplitResult, host: str, port: int
) -> str:
    """Empty when the tunnel stands, else the proxy's message."""
    bare = f"[{host}]" if ":" in host else host
    head = f"CONNECT {bare}:{port} HTTP/1.1\r\nhost: {bare}:{port}\r\n"
    if proxy.username is not None:
        credentials = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
        head += f"proxy-authorization: Basic {base64.b64encode(credentials.encode()).decode()}\r\n"
    writer.write(f"{head}\r\n".encode())
    answer = (await reader.readuntil(b"\r\n\r\n")).partition(b"\r\n")[0].split(b" ", 2)
    return "" if len(answer) > 1 and answer[1] == b"200" else b" ".join(answer[1:]).decode("ascii", "replace")[:100]


def _look_up(host: str, port: int, loop: asyncio.AbstractEventLoop, answer: "asyncio.Future[list[str]]") -> None:
    """In a thread of its own that the end of the program does not wait for."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        found = []
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    with contextlib.suppress(RuntimeError):  # the loop is closed by now
        loop.call_soon_threadsafe(_settle, answer, addresses)


def _settle(answer: "asyncio.Future[list[str]]", addresses: list[str]) -> None:
    if not answer.done():
        answer.set_result(addresses)


def _words(problem: BaseException | None) -> str:
    if isinstance(problem, TimeoutError):
        return "timed out"
    return str(getattr(problem, "strerror", None) or "failed")
