"""Web addresses as a model writes them, and as they are requested.

Rules:

- `http://`, `https://`, and `www.` (which means https). Lines may follow the path: `https://host/page:5-10`.
- After a host alone, a number is its port: `https://host:80`. With a slash before it, it is a line: `https://host/:80`.
- The host that is approved is the host that is connected to: what two parsers could read differently (a backslash, a
  name with escapes, a control character) is refused, and so are credentials.
"""

import re
from urllib.parse import quote, urljoin

import msgspec

from sightline.tools._tool import Need, ToolError
from sightline.tools.files._selectors import Selector, split_selector

LONGEST = 8192
_WEB = re.compile(r"https?://|www\.[^/?#:\s.]+\.", re.IGNORECASE)
_PARTS = re.compile(r"(https?)://([^/?#]*)([^#]*)(?:#.*)?", re.IGNORECASE | re.DOTALL)
_HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[^\[\]:@]+)(.*)", re.DOTALL)
_PORT_AND_REST = re.compile(r":([0-9]{1,5})(:.*)?", re.DOTALL)
_NAME = re.compile(r"[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?")
_PORTS = {"http": 80, "https": 443}
_UNQUOTED = "/%:@!$&'()*+,;=~-._?|[]"


class Address(msgspec.Struct, frozen=True):
    """Everything in it is ASCII; `host` has no brackets, `target` begins with a slash."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == _PORTS[self.scheme] else f"{host}:{self.port}"

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]

    def __str__(self) -> str:
        return f"{self.scheme}://{self.authority}{self.target}"


def is_web_url(path: str) -> bool:
    return _WEB.match(path.strip()) is not None


def needs_of(path: str) -> list[Need]:
    """The network, of the address's host and port."""
    address, _ = parse(path)
    host = f"[{address.host}]" if ":" in address.host else address.host
    return [Need("network", f"{host}:{address.port}", why=f"to read {address}")]


def parse(path: str) -> tuple[Address, Selector | None]:
    """An address as a model wrote it, and its line selector. ToolError when it is none."""
    url = path.strip()
    if url.lower().startswith("www."):
        url = f"https://{url}"
    parts = _PARTS.fullmatch(url)
    if parts is None or len(url) > LONGEST:
        raise _no_address(path)
    scheme, authority, target = parts[1].lower(), parts[2], parts[3]
    if "#" in url and (fragment := split_selector(url)[1]) is not None and not fragment.conflicts:
        return _address(scheme, authority, target), fragment
    if target:
        target, selector = _split(target)
    else:
        authority, selector = _split_authority(authority)
    return _address(scheme, authority, target), selector


def follow(base: Address, link: str) -> Address | None:
    """Where a link of a page leads; None when that is no web address."""
    try:
        parts = _PARTS.fullmatch(urljoin(str(base), link.strip()))
        return None if parts is None else _address(parts[1].lower(), parts[2], parts[3])
    except (ToolError, ValueError):
        return None


def is_same_site(one: str, other: str) -> bool:
    """The same host, or the one with and the other without `www.`."""
    return one.removeprefix("www.") == other.removeprefix("www.")


def _split(target: str) -> tuple[str, Selector | None]:
    base, selector = split_selector(target)
    return (target, None) if selector is None or selector.conflicts else (base, selector)


def _split_authority(authority: str) -> tuple[str, Selector | None]:
    """Without a path, the first number is a port and everything else after the host a selector."""
    found = _HOST.fullmatch(authority)
    if found is None or not found[2]:
        return authority, None
    host, rest = found[1], found[2]
    port = _PORT_AND_REST.fullmatch(rest)
    if port is not None:
        host, rest = f"{host}:{port[1]}", port[2] or ""
    base, selector = _split(f"host{rest}")
    return (host, selector) if base == "host" else (authority, None)


def _address(scheme: str, authority: str, target: str) -> Address:
    written = f"{scheme}://{authority}{target}"
    if "@" in authority:
        raise ToolError("Addresses with a user name or password are not read. Leave out what is before the @.")
    found = _HOST.fullmatch(authority)
    port = _PORT_AND_REST.fullmatch(found[2]) if found is not None and found[2] else None
    if found is None or (found[2] and (port is None or port[2])) or len(written) > LONGEST:
        raise _no_address(written)
    number = int(port[1]) if port is not None else _PORTS[scheme]
    if not 0 < number < 65536 or any(ord(character) < 33 and character != " " for character in target):
        raise _no_address(written)
    if not target.startswith("/"):
        target = f"/{target}"
    try:
        return Address(scheme, _host(found[1]), number, quote(target, safe=_UNQUOTED))
    except UnicodeError:
        raise _no_address(written) from None


def _host(written: str) -> str:
    if written.startswith("["):
        import ipaddress

        try:
            return str(ipaddress.IPv6Address(written[1:-1]))
        except ValueError:
            raise _no_address(written) from None
    name = (written if written.isascii() else written.encode("idna").decode("ascii")).lower()
    if len(name) > 253 or not _NAME.fullmatch(name):
        raise _no_address(written)
    return name.removesuffix(".")


def _no_address(written: str) -> ToolError:
    return ToolError(f"{written[:200]!a} is not a web address that can be read. Write it as https://host/path.")
