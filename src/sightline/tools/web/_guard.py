"""Which addresses of the network may be connected to.

Rules:

- A name is looked up once, every address it has is checked, and the connection goes to one that was checked: a name
  that answers differently the second time gains nothing.
- Only addresses of the open internet pass (`exec/gateway/_addresses.py`), unless `web.private_hosts` allows others,
  and none that a rule denies.
- One address that does not pass refuses the name.
- What a page leads to (a redirect, another form of it) is requested within the same call only where the host and port
  are those the call was allowed for, or the rules allow them too.
"""

import asyncio
import ipaddress
import socket
from collections.abc import Callable

from sightline.exec.gateway import is_public, spellings
from sightline.settings import Decision
from sightline.tools._tool import ToolError
from sightline.tools.web._address import Address

_MOST = 4  # addresses that are tried


class NotFound(ToolError):
    """A name has no address here."""


class Reach:
    """What one call may connect to: `approved`, the address it was allowed for, and what the `rules` allow."""

    def __init__(self, approved: Address, rules: Callable[[str, int], Decision] | None, *, private: bool) -> None:
        self._approved = approved
        self._rules = rules
        self._private = private

    def why_not(self, there: Address) -> str:
        """Why an address that a page leads to may not be requested, and what to do; empty when it may."""
        decision = self._decision(there.host, there.port)
        if decision is not None and decision.verdict == "deny":
            return f"{there}, which a rule denies: {decision.rule}"
        is_approved = (there.host, there.port) == (self._approved.host, self._approved.port)
        if is_approved or (decision is not None and decision.verdict == "allow"):
            return ""
        other = f"another host, {there.host}" if there.host != self._approved.host else f"another port, {there.port}"
        return f"{other}. Read {there} if that is what you want"

    def check(self, host: str, port: int, address: str) -> None:
        """ToolError when what a host leads to may not be connected to."""
        for each in spellings(address):
            decision = self._decision(each, port)
            if decision is not None and decision.verdict == "deny":
                raise ToolError(f"{host} ({address}) is not read: a rule denies its address: {decision.rule}.")
        if not self._private:
            check(host, address)

    def _decision(self, host: str, port: int) -> Decision | None:
        return None if self._rules is None else self._rules(host, port)


async def addresses_of(host: str, port: int, reach: Reach) -> list[str]:
    """Addresses that may be connected to. ToolError when the name has none, or one that may not."""
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as problem:
        reason = getattr(problem, "strerror", None) or problem
        raise NotFound(f"The host {host} cannot be found: {reason}. Check the name.") from None
    addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
    for address in addresses:
        reach.check(host, port, address)
    return addresses[:_MOST]


def check(host: str, address: str) -> None:
    """ToolError when this is no address of the open internet."""
    if not is_public(ipaddress.ip_address(address)):
        where = "" if host == address else f" ({address})"
        raise ToolError(
            f"{host}{where} is an address of this machine or of a private network, which is not read. "
            "The setting web.private_hosts allows it."
        )
