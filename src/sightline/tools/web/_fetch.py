"""One page of the web, fetched.

Rules:

- Every hop is checked before it is made: the scheme, the host, and the address that is connected to (`_guard`).
- Redirects are followed to the same host and port, and to what the rules allow; any other is an error that names where
  it leads: this host and port were approved, and no other.
- Nothing but the request goes out: no cookies, no referrer, no credentials, nothing stored for the next request.
- At most so many bytes are taken, packed or not, and the whole takes at most so long.
- A proxy of the environment is used, except for this machine and private networks. It looks up names itself; what can
  be checked here is checked before.
"""

import asyncio
import functools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING
from urllib.request import getproxies, proxy_bypass

import msgspec

from sightline.exec.gateway import is_public
from sightline.tools._tool import ToolError
from sightline.tools.web import _guard
from sightline.tools.web._address import Address, follow
from sightline.tools.web._decoding import ACCEPTED, DecodedBody

if TYPE_CHECKING:
    import ssl

    import httpx2

MAX_BYTES = 20 * 1024**2
MAX_REDIRECTS = 10
CONNECT_SECONDS = 5.0  # for one of the addresses of a host
PREFERRED = "text/markdown, text/html;q=0.9, application/xhtml+xml;q=0.9, text/plain;q=0.8, */*;q=0.5"
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


class Fetched(msgspec.Struct, frozen=True, kw_only=True):
    address: Address  # where the answer came from
    status: int
    reason: str
    media_type: str  # lower case, without parameters; empty when the server sends none
    charset: str
    body: bytes
    cut: bool  # there was more

    @property
    def ok(self) -> bool:
        return 200 <= self.status < 300


async def fetch(address: Address, reach: _guard.Reach, *, seconds: float, accept: str = PREFERRED) -> Fetched:
    """The answer, whatever its status, after redirects. ToolError when there is none, or none that may be had."""
    started = address
    try:
        async with asyncio.timeout(seconds):
            for _ in range(MAX_REDIRECTS + 1):
                answer = await _hop(address, accept, reach)
                if isinstance(answer, Fetched):
                    return answer
                address = _next(address, answer, reach)
    except TimeoutError:
        raise ToolError(f"{started} took more than {seconds:g} seconds. Try again, or read another page.") from None
    raise ToolError(f"{started} redirects more than {MAX_REDIRECTS} times; the last one led to {address}.")


def _next(address: Address, location: str, reach: _guard.Reach) -> Address:
    """Where a redirect leads, if it may be followed."""
    there = follow(address, location)
    if there is None:
        raise ToolError(f"{address} redirects to {location[:200]!a}, which is not a web address.")
    reason = reach.why_not(there)
    if reason:
        raise ToolError(f"{address} redirects to {reason}.")
    return there


async def _hop(address: Address, accept: str, reach: _guard.Reach) -> Fetched | str:
    """An answer, or where it redirects to."""
    import httpx2

    async with _response(address, accept, reach) as response:
        location = response.headers.get("location", "")
        if response.status_code in _REDIRECTS and location:
            return str(location)
        body = DecodedBody(response.headers.get("content-encoding", ""), MAX_BYTES)
        try:
            async for piece in response.aiter_raw():
                body.feed(piece)
                if body.full:
                    break
        except httpx2.HTTPError as problem:
            raise ToolError(f"The answer of {address} broke off: {_reason(problem)}. Try again.") from None
        return _fetched(address, response, body)


def _fetched(address: Address, response: "httpx2.Response", body: DecodedBody) -> Fetched:
    kind, _, parameters = str(response.headers.get("content-type", "")).partition(";")
    charset = parameters.lower().partition("charset=")[2].partition(";")[0].strip(" \"'")
    return Fetched(
        address=address,
        status=response.status_code,
        reason=response.reason_phrase,
        media_type="".join(filter(str.isprintable, kind.strip().lower()))[:100],
        charset=charset,
        body=bytes(body.data),
        cut=body.full,
    )


@asynccontextmanager
async def _response(address: Address, accept: str, reach: _guard.Reach) -> "AsyncIterator[httpx2.Response]":
    import httpx2

    proxy = _proxy(address)
    secure = await asyncio.to_thread(_certificates) if address.scheme == "https" else False
    hosts = await _hosts(address, reach, by_proxy=proxy is not None)
    async with httpx2.AsyncHTTPTransport(verify=secure, trust_env=False, proxy=proxy) as transport:
        response = await _requested(transport, address, hosts, accept)
        try:
            yield response
        finally:
            await response.aclose()


async def _hosts(address: Address, reach: _guard.Reach, *, by_proxy: bool) -> list[str]:
    """What to connect to, each as it stands in a URL."""
    try:
        found = await _guard.addresses_of(address.host, address.port, reach)
    except _guard.NotFound:
        if by_proxy:  # a machine that reaches the web only this way often cannot look up its names
            return [address.host]
        raise
    if by_proxy:
        return [f"[{address.host}]" if ":" in address.host else address.host]
    return [f"[{one}]" if ":" in one else one for one in found]


async def _requested(
    transport: "httpx2.AsyncHTTPTransport", address: Address, hosts: list[str], accept: str
) -> "httpx2.Response":
    import httpx2

    problem: Exception | None = None
    for host in hosts:
        try:
            return await transport.handle_async_request(_request(address, host, accept))
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as failed:
            problem = problem or failed
        except (httpx2.HTTPError, httpx2.InvalidURL) as failed:
            raise ToolError(f"{address} did not answer: {_reason(failed)}.") from None
    raise ToolError(f"Cannot connect to {address.authority}: {_reason(problem)}. Check the address, or try later.")


def _request(address: Address, host: str, accept: str) -> "httpx2.Request":
    """To an address that was checked, in the name of the host: for its certificate too."""
    import httpx2

    headers = {
        "host": address.authority,
        "user-agent": "sightline",
        "accept": accept,
        "accept-encoding": ACCEPTED,
        "connection": "close",
    }
    extensions = {"sni_hostname": address.host, "timeout": {"connect": CONNECT_SECONDS}}
    url = f"{address.scheme}://{host}:{address.port}{address.target}"
    return httpx2.Request("GET", url, headers=headers, extensions=extensions)


def _proxy(address: Address) -> "httpx2.Proxy | None":
    """The user's own, from the environment."""
    proxies = getproxies()
    url = proxies.get(address.scheme) or proxies.get("all")
    if not url or address.host == "localhost" or proxy_bypass(address.authority) or _is_private(address.host):
        return None
    import httpx2

    try:
        return httpx2.Proxy(url if "://" in url else f"http://{url}")
    except (ValueError, httpx2.InvalidURL):
        raise ToolError("The proxy set in the environment has no usable address.") from None


def _is_private(host: str) -> bool:
    import ipaddress

    try:
        return not is_public(ipaddress.ip_address(host))
    except ValueError:
        return False


@functools.cache
def _certificates() -> "ssl.SSLContext":
    import httpx2

    return httpx2.create_ssl_context()


def _reason(problem: Exception | None) -> str:
    return " ".join(str(problem).split())[:200] or type(problem).__name__
