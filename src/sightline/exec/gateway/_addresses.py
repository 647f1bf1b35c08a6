"""Which addresses belong to the open internet.

Rules:

- This machine, private networks, link-local addresses (where clouds keep their metadata), carrier networks, multicast
  and reserved ranges do not.
- A form of IPv6 that carries an IPv4 address is judged by that address.
"""

import ipaddress

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # the last four bytes are an IPv4 address
_TRANSLATED_LOCALLY = ipaddress.IPv6Network("64:ff9b:1::/48")
_COMPATIBLE = ipaddress.IPv6Network("::/96")
# Inside one cloud this is the host of the machine, although the address is a public one.
_METADATA = frozenset({ipaddress.IPv4Address("168.63.129.16")})


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
