"""How the agents of running sessions stand: at work, waiting for an answer, or neither. Their hosts say it in greeting.

Rules:

- A host is asked when its journal has grown since it was asked last, and again and again while somebody works or waits
  in it; never more than once a second. One in which nothing happens is left alone, so that it can end by itself.
- A host that does not answer is asked again when its journal has grown: what was known of it stays.
- Nothing waits for an answer but who says so.
"""

import asyncio
import os
import time
from collections.abc import Iterable
from pathlib import Path

import msgspec

from sightline.exceptions import SightlineError
from sightline.host import connect
from sightline.journal import Store

_SECONDS_BETWEEN_QUESTIONS = 1.0
_SECONDS_TO_ANSWER = 2.0


class HostStanding(msgspec.Struct, frozen=True):
    busy: bool = False
    waiting: int = 0  # requests nobody has answered


_AT_REST = HostStanding()


class _Host(msgspec.Struct):
    standing: HostStanding = _AT_REST
    journal: object = None  # how it was when the host was asked last
    asked: float = float("-inf")
    again: bool = True
    asking: asyncio.Task[None] | None = None


class Hosts:
    """Those of the sessions that run."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hosts: dict[str, _Host] = {}

    @property
    def standings(self) -> dict[str, HostStanding]:
        """Of those in which somebody works or waits."""
        return {session: host.standing for session, host in self._hosts.items() if host.standing != _AT_REST}

    def of(self, session: str) -> HostStanding:
        host = self._hosts.get(session)
        return _AT_REST if host is None else host.standing

    def look(self, sessions: Iterable[str]) -> None:
        """Ask those that are to be asked; `sessions` are all there are."""
        running = set(sessions)
        for session in self._hosts.keys() - running:
            self._forget(session)
        now = time.monotonic()
        for session in running:
            host = self._hosts.setdefault(session, _Host())
            if host.asking is None and now - host.asked >= _SECONDS_BETWEEN_QUESTIONS:
                self._ask_if_due(session, host, now)

    async def answers(self) -> None:
        """Until every host that is being asked has answered, or will not."""
        asking = [host.asking for host in self._hosts.values() if host.asking is not None]
        if asking:
            await asyncio.wait(asking)

    def close(self) -> None:
        for session in list(self._hosts):
            self._forget(session)

    def _ask_if_due(self, session: str, host: _Host, now: float) -> None:
        journal = mark_of(self._store.folder(session) / "journal.jsonl")
        if host.again or journal != host.journal:
            host.journal, host.asked = journal, now
            host.asking = asyncio.ensure_future(self._ask(session, host))

    async def _ask(self, session: str, host: _Host) -> None:
        try:
            async with asyncio.timeout(_SECONDS_TO_ANSWER):
                client = await connect(session)
        except (OSError, SightlineError, msgspec.MsgspecError):  # gone, too late, or of another version
            host.again = False
        else:
            client.close()
            host.standing = HostStanding(client.hello.busy, client.hello.waiting)
            host.again = host.standing != _AT_REST
        finally:
            host.asking = None

    def _forget(self, session: str) -> None:
        host = self._hosts.pop(session)
        if host.asking is not None:
            host.asking.cancel()


def mark_of(path: Path) -> object:
    """Another one when the file or folder changed."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
