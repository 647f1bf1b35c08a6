"""One command's way into the network of its session, and the record of what it connects to.

Rules:

- Every connection is reported when it is decided and at its end, as events of the call. The first ones each; of a flood
  one a second, with how many there were in between.
- That it came to a bound of the proxy is reported once.
- Nothing is reported after the command has left, and nothing of it stays connected.
"""

import asyncio
import time
from collections.abc import Callable, Mapping
from typing import Literal

import msgspec

from sightline.events import Event, Notice, ToolConnection

_LISTED = 100  # connections of one command that are reported one by one
_SECONDS_BETWEEN = 1.0  # between reports of a flood


class Entrance:
    """Made by the gateway. `argv` goes before the command's own, `env` into its environment."""

    def __init__(
        self,
        id: str,
        args: Mapping[str, object],
        publish: Callable[[Event], None],
        *,
        argv: tuple[str, ...] = (),
        env: Mapping[str, str] | None = None,
        on_leave: Callable[[], None] = lambda: None,
    ) -> None:
        """`id`: of the call. `args`: what it was called with, for the user who is asked about a connection."""
        self.id = self.call = id
        self.args = dict(args)
        self.argv = argv
        self.env = dict(env or {})
        self.granted: set[tuple[str, int]] = set()  # by the user, for this command alone
        self.refused: dict[str, str] = {}  # `host:port` and why, for the result of the command
        self.failed: dict[str, str] = {}  # likewise, of those that were allowed and came to nothing
        self._publish = publish
        self._on_leave = on_leave
        self._open: dict[ProxyConnection, asyncio.Task[object] | None] = {}
        self._made = 0
        self._last_report = 0.0
        self._unreported = 0
        self._last: ToolConnection | None = None  # of those that were not reported
        self._overflowed = False
        self._left = False

    def become(self, job: str) -> None:
        """The command continues as a job."""
        self.id = job

    def leave(self) -> None:
        """The command has ended: so do its connections. A second time, nothing."""
        if self._left:
            return
        for connection, task in list(self._open.items()):
            connection.end()
            if task is not None:
                task.cancel()
        if self._last is not None:
            self._publish(msgspec.structs.replace(self._last, more=self._unreported - 1))
        self._left = True
        self._on_leave()

    def overflow(self, held: int) -> None:
        """There was no room for one more connection of it."""
        if self._overflowed or self._left:
            return
        self._overflowed = True
        text = f"a command has {held} connections open, which is the maximum, and wants more"
        hint = "idle connections are closed, new ones refused"
        self._publish(Notice(text, "warning", hint))

    def connection(self, number: int, host: str, port: int) -> "ProxyConnection":
        self._made += 1
        made = ProxyConnection(self, number, host, port, listed=self._made <= _LISTED)
        self._open[made] = asyncio.current_task()
        return made

    def report(self, connection: "ProxyConnection", event: ToolConnection) -> None:
        """Report one of its connections; `duration` is set in its last event."""
        if event.duration is not None:
            self._open.pop(connection, None)
        now = time.monotonic()
        if self._left:
            return
        if connection.listed:
            self._publish(event)
        elif event.duration is not None:
            if now - self._last_report < _SECONDS_BETWEEN:
                self._unreported, self._last = self._unreported + 1, event
                return
            self._publish(msgspec.structs.replace(event, more=self._unreported))
            self._unreported, self._last, self._last_report = 0, None, now


class ProxyConnection:
    """One connection. It ends once, and is reported until then."""

    def __init__(self, entrance: Entrance, number: int, host: str, port: int, *, listed: bool) -> None:
        self.host = host
        self.port = port
        self.listed = listed
        self.sent = self.received = 0
        self._entrance = entrance
        self._number = number
        self._began = time.monotonic()
        self._verdict: Literal["asked", "allowed", "refused"] = "refused"
        self._rule = ""
        self._ended = False

    @property
    def name(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    def ask(self) -> None:
        """The user is being asked."""
        self._verdict = "asked"
        self._report()

    def allow(self, rule: str) -> None:
        self._verdict, self._rule = "allowed", rule
        self._report()

    def refuse(self, rule: str, reason: str) -> None:
        self._verdict, self._rule = "refused", rule
        if len(self._entrance.refused) < _LISTED:
            self._entrance.refused.setdefault(self.name, reason)
        self.end(reason)

    def end(self, reason: str = "") -> None:
        """It is over; `reason`: what went wrong."""
        if self._ended:
            return
        self._ended = True
        if self._verdict == "allowed" and reason and len(self._entrance.failed) < _LISTED:
            self._entrance.failed[self.name] = reason
        if self._verdict == "asked":  # the answer is no longer waited for
            self._verdict, reason = "refused", reason or "the command gave up before the answer"
        self._report(reason, round(time.monotonic() - self._began, 3))

    def _report(self, reason: str = "", duration: float | None = None) -> None:
        event = ToolConnection(
            self._entrance.id,
            self._number,
            self.host,
            self.port,
            self._verdict,
            self._rule,
            reason,
            self.sent,
            self.received,
            duration,
        )
        self._entrance.report(self, event)
