"""Which addresses belong to the open internet.

Rules:

- This machine, private networks, link-local addresses (where clouds keep their metadata), carrier networks, multicast
  and reserved ranges do not. The ranges are listed here, after the special-purpose registries of IANA: what the
  interpreter calls global differs between its versions.
- Nor does an address that this machine has itself, however public it is: what listens on it counts on a firewall that
  is not between us and it.
- A form of IPv6 that carries an IPv4 address is judged by that address.
"""

import ipaddress
import socket

IPAddress = ipaddress.IPv4Address | ipaddress.IPv6Address

_SPECIAL_IPV4 = [
    ipaddress.IPv4Network(written)
    for written in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # carriers
        "127.0.0.0/8",  # loopback
        "168.63.129.16/32",  # inside one cloud the host of the machine, although the address is a public one
        "169.254.0.0/16",  # link-local
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols; 192.0.0.192 is a cloud's metadata
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # answers about private addresses (AS112)
        "192.52.193.0/24",  # tunnels of multicast
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # answers about private addresses (AS112)
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, broadcast
    )
]
# Nothing else of IPv6 is given to hosts. What is special outside of it (::1, fc00::/7, fe80::/10, fec0::/10, ff00::/8,
# 100::/64, 5f00::/16, 64:ff9b:1::/48) needs no line of its own.
_HOSTS_IPV6 = ipaddress.IPv6Network("2000::/3")
_SPECIAL_IPV6 = [
    ipaddress.IPv6Network(written)
    for written in (
        "2001::/23",  # protocols: Teredo, benchmarks, identifiers that are no addresses
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # answers about private addresses (AS112)
        "3fff::/20",  # documentation
    )
]
_TRANSLATED = ipaddress.IPv6Network("64:ff9b::/96")  # the last four bytes are an IPv4 address
_COMPATIBLE = ipaddress.IPv6Network("::/96")
_NOBODYS = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}  # which no interface has


def is_public(address: IPAddress) -> bool:
    """Whether this is some other machine's address on the open internet."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = carried(address)
        if inner is not None:
            return is_public(inner)
        if address.scope_id is not None or address not in _HOSTS_IPV6 or any(address in each for each in _SPECIAL_IPV6):
            return False
    elif any(address in each for each in _SPECIAL_IPV4):
        return False
    return not _is_own(address)


def carried(address: IPAddress) -> ipaddress.IPv4Address | None:
    """The IPv4 address that packets to this one may end at."""
    if not isinstance(address, ipaddress.IPv6Address):
        return None
    if address.ipv4_mapped is not None:
        return address.ipv4_mapped
    if address.sixtofour is not None:
        return address.sixtofour
    if address in _TRANSLATED or address in _COMPATIBLE:
        return ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
    return None


def spellings(address: str) -> list[str]:
    """What a rule may call it: itself, and the address it carries."""
    inner = carried(ipaddress.ip_address(address))
    return [address] if inner is None else [address, str(inner)]


def _is_own(address: IPAddress) -> bool:
    """Whether an interface of this machine has it now. The kernel is asked each time: addresses come and go."""
    family = socket.AF_INET if address.version == 4 else socket.AF_INET6
    if not _can_bind(family, str(address)):
        return False
    # Where a machine lets programs bind to any address (ip_nonlocal_bind), that says nothing.
    return not _can_bind(family, _NOBODYS[family]) or _is_source(family, str(address))


def _can_bind(family: socket.AddressFamily, address: str) -> bool:
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _is_source(family: socket.AddressFamily, address: str) -> bool:
    """Whether packets to it would come from it. Connecting a datagram socket sends nothing."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((address, 9))
            return str(probe.getsockname()[0]) == address
    except OSError:
        return False
