"""The policy for a command's connections, as the proxy uses it."""

from typing import Protocol

import msgspec

from sightline.exec.gateway._entrance import Entrance


class Ruling(msgspec.Struct, frozen=True):
    """`rule` decided; `reason` is for the one who is refused."""

    allowed: bool
    rule: str = ""
    reason: str = ""


class ConnectionPolicy(Protocol):
    """The rules and the user of a session, as its proxy asks them."""

    def rule(self, host: str, port: int) -> Ruling | None:
        """What is settled about a host; None: the user has to be asked."""

    def rule_address(self, host: str, port: int, address: str) -> Ruling:
        """Whether what is allowed may be at this address."""

    async def ask(self, entrance: Entrance, host: str, port: int) -> Ruling:
        """The answer of the user, or what applies where there is none."""
