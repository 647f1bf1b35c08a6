"""Tickets for downloads, for which a browser sends no bearer token: one path, one use, half a minute."""

import hashlib
import secrets
import time

_SECONDS_VALID = 30.0
_MOST = 256


class Tickets:
    def __init__(self) -> None:
        self._valid: dict[bytes, tuple[str, float]] = {}  # digest: the path it is for, when it ends; the oldest first

    def issue(self, path: str) -> str:
        ticket = secrets.token_urlsafe(32)
        if len(self._valid) >= _MOST:
            del self._valid[next(iter(self._valid))]
        self._valid[_digest(ticket)] = path, time.monotonic() + _SECONDS_VALID
        return ticket

    def redeem(self, ticket: str, path: str) -> bool:
        """Whether it is for this path and was not used yet. It is found by its digest: no comparison shows how near."""
        found = self._valid.get(_digest(ticket))
        if found is None or found[0] != path:
            return False
        del self._valid[_digest(ticket)]
        return time.monotonic() < found[1]


def _digest(ticket: str) -> bytes:
    return hashlib.sha256(ticket.encode("utf-8", "replace")).digest()
