"""The state of the agents of running sessions: working, waiting for an answer, or neither. A host's greeting has it.

Rules:

- A host is queried when its journal has grown since the last query, and repeatedly while its agent works or waits, at
  most once a second. An idle host is left alone, so that it can end by itself.
- A host that does not answer is queried again when its journal has grown; until then its last known state stands.
- Only `answers` waits for hosts.
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

_SECONDS_BETWEEN_QUERIES = 1.0
_SECONDS_TO_ANSWER = 2.0


class HostStanding(msgspec.Struct, frozen=True):
    busy: bool = False
    waiting: int = 0  # open requests


_AT_REST = HostStanding()


class _Host(msgspec.Struct):
    standing: HostStanding = _AT_REST
    journal: object = None  # its mark at the last query
    queried: float = float("-inf")  # when
    repeat: bool = True
    query: asyncio.Task[None] | None = None


class Hosts:
    """The hosts of the running sessions."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._hosts: dict[str, _Host] = {}

    @property
    def standings(self) -> dict[str, HostStanding]:
        """Of the hosts whose agent works or waits."""
        return {session: host.standing for session, host in self._hosts.items() if host.standing != _AT_REST}

    def of(self, session: str) -> HostStanding:
        host = self._hosts.get(session)
        return _AT_REST if host is None else host.standing

    def look(self, sessions: Iterable[str]) -> None:
        """Query the hosts that are due; `sessions` are all that run."""
        running = set(sessions)
        for session in self._hosts.keys() - running:
            self._forget(session)
        now = time.monotonic()
        for session in running:
            host = self._hosts.setdefault(session, _Host())
            if host.query is None and now - host.queried >= _SECONDS_BETWEEN_QUERIES:
                self._query_if_due(session, host, now)

    async def answers(self) -> None:
        """Wait until every query under way has ended."""
        queries = [host.query for host in self._hosts.values() if host.query is not None]
        if queries:
            await asyncio.wait(queries)

    def close(self) -> None:
        for session in list(self._hosts):
            self._forget(session)

    def _query_if_due(self, session: str, host: _Host, now: float) -> None:
        journal = mark_of(self._store.folder(session) / "journal.jsonl")
        if host.repeat or journal != host.journal:
            host.journal, host.queried = journal, now
            host.query = asyncio.ensure_future(self._query(session, host))

    async def _query(self, session: str, host: _Host) -> None:
        try:
            async with asyncio.timeout(_SECONDS_TO_ANSWER):
                client = await connect(session)
        except (OSError, SightlineError, msgspec.MsgspecError):  # gone, too late, or of another version
            host.repeat = False
        else:
            client.close()
            host.standing = HostStanding(client.hello.busy, client.hello.waiting)
            host.repeat = host.standing != _AT_REST
        finally:
            host.query = None

    def _forget(self, session: str) -> None:
        host = self._hosts.pop(session)
        if host.query is not None:
            host.query.cancel()


def mark_of(path: Path) -> object:
    """Identifies the state of a file or folder: it differs when that changed."""
    try:
        stat = os.stat(path)
    except OSError:
        return None
    return stat.st_ino, stat.st_mtime_ns, stat.st_size
