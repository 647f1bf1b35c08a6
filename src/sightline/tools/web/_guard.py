"""Which addresses of the network may be spoken to.

Rules:

- A name is looked up once, every address it has is checked, and the connection goes to one that was checked: a name
  that answers differently the second time gains nothing.
- Only addresses of the open internet pass. This machine, private networks, link-local addresses (where clouds keep
  their metadata) and forms of IPv6 that hold such an address do not, unless `web.private_hosts` says so.
- One address that does not pass refuses the name.
"""

import asyncio
import ipaddress
import socket

from sightline.tools._tool import ToolError

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # the last four bytes are an IPv4 address
_TRANSLATED_LOCALLY = ipaddress.IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
# Inside one cloud this is the host of the machine, although the address is a public one.
_METADATA = frozenset({ipaddress.IPv4Address("168.63.129.16")})
_MOST = 4  # addresses that are tried


class NotFound(ToolError):
    """A name has no address here."""


async def addresses_of(host: str, port: int, *, private: bool) -> list[str]:
    """Addresses that may be connected to. ToolError when the name has none, or one that may not."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise NotFound(f"The host {host} cannot be found: {reason}. Check the name.") from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    if not private:
        for address in addresses:
            check(host, address)
    return addresses[:_MOST]


def check(host: str, address: str) -> None:
    """ToolError when this is no address of the open internet."""
    if not is_public(ipaddress.ip_address(address)):
        where = "" if host == address else f" ({address})"
        raise ToolError(
            f"{host}{where} is an address of this machine or of a private network, which is not read. "
            "The setting web.private_hosts allows it."
        )


def is_public(address: IPAddress) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if address in _TRANSLATED_LOCALLY or address.scope_id is not None:
            return False
        inner = _inner(address)
        if inner is not None:
            return is_public(inner)
        if address.is_site_local:
            return False
    not_hosts = address.is_multicast or address.is_reserved or address.is_unspecified
    return address.is_global and not not_hosts and address not in _METADATA


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to this one may end at."""
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address.teredo is not None:
        return address.teredo[1]
    if address in _TRANSLATED or address in _COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None
