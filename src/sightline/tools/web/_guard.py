"""Which addresses of the network may be spoken to.

Rules:

- A name is looked up once, every address it has is checked, and the connection goes to one that was checked: a name
  that answers differently the second time gains nothing.
- Only addresses of the open internet pass (`exec/gateway/_addresses.py`), unless `web.private_hosts` says otherwise.
- One address that does not pass refuses the name.
"""

import asyncio
import ipaddress
import socket

from sightline.exec.gateway import is_public
from sightline.tools._tool import ToolError

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
