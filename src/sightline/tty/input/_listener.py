"""Reading the terminal on an event loop: keys and pastes go to a callback, replies to the probes.

The timers for the decoder and the probes are those of the loop. See `_decoder` and `_probes`.
"""

import os
import select
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline.tty.input._decoder import Decoder
from sightline.tty.input._keys import Key, Paste
from sightline.tty.input._sequences import Event, TerminalReply
from sightline.tty.terminal._capabilities import Capabilities
from sightline.tty.terminal._probes import DEADLINE_MS, Probes

if TYPE_CHECKING:
    import asyncio

_READ = 65536


class InputReader:
    """Reads `fd` from `start` to `stop`."""

    def __init__(
        self,
        loop: "asyncio.AbstractEventLoop",
        fd: int,
        *,
        send: Callable[[str], None],
        on_input: Callable[[Key | Paste], object],
        on_answers: Callable[[], object],
        on_hangup: Callable[[], object],
    ) -> None:
        self._loop = loop
        self._fd = fd
        self._send = send
        self._on_input = on_input
        self._on_answers = on_answers
        self._on_hangup = on_hangup
        self._decoder = Decoder()
        self.probes = Probes()
        self._sent_at = 0.0
        self._flush_timer: asyncio.TimerHandle | None = None
        self._deadline_timer: asyncio.TimerHandle | None = None

    def start(self, capabilities: Capabilities, *, silent: bool) -> None:
        """Listen, and ask everything, but a terminal that knows no sequences (`silent`) nothing."""
        self._loop.add_reader(self._fd, self._readable)
        if not silent:
            self._ask(self.probes.start(capabilities))

    def ask_background(self) -> None:
        """Ask again, unless an earlier question is still open."""
        if not self.probes.outstanding:
            self._ask(self.probes.ask("background"))

    def feed(self, data: bytes) -> None:
        self._dispatch(self._decoder.feed(data))
        waiting = self._decoder.waiting_ms
        if self._flush_timer is not None:
            self._flush_timer.cancel()
        self._flush_timer = None if waiting is None else self._loop.call_later(waiting / 1000, self._flush)

    def swallow(self) -> None:
        """Read answers that are still on their way, up to their deadline. Keys typed meanwhile are lost."""
        until = self._sent_at + DEADLINE_MS / 1000
        while self.probes.outstanding and (left := until - time.monotonic()) > 0:
            if select.select([self._fd], [], [], left)[0]:
                data = self._read()
                if not data:
                    return
                for event in self._decoder.feed(data):
                    if isinstance(event, TerminalReply):
                        self.probes.take(event)

    def stop(self) -> None:
        self._loop.remove_reader(self._fd)
        for timer in (self._flush_timer, self._deadline_timer):
            if timer is not None:
                timer.cancel()

    def _ask(self, queries: str) -> None:
        if not queries:
            return
        self._send(queries)
        self._decoder.expecting = True
        self._sent_at = time.monotonic()
        if self._deadline_timer is not None:
            self._deadline_timer.cancel()
        self._deadline_timer = self._loop.call_later(DEADLINE_MS / 1000, self._expired)

    def _expired(self) -> None:
        self._decoder.expecting = False
        self.probes.expire()
        self._on_answers()
        self._flush()

    def _flush(self) -> None:
        self._dispatch(self._decoder.flush())

    def _readable(self) -> None:
        data = self._read()
        if data is None:
            return
        if data:
            self.feed(data)
        else:
            self.stop()
            self._on_hangup()

    def _read(self) -> bytes | None:
        """What there is; None when there is nothing yet, empty when there is no terminal any more."""
        try:
            return os.read(self._fd, _READ)
        except (BlockingIOError, InterruptedError):
            return None
        except OSError:
            return b""

    def _dispatch(self, events: list[Event]) -> None:
        learned = False
        for event in events:
            if isinstance(event, TerminalReply):
                learned |= self.probes.take(event)
                self._decoder.expecting &= self.probes.outstanding > 0
            else:
                self._on_input(event)
        if learned:
            self._on_answers()
