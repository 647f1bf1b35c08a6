"""Output of a call on its way to viewers: without secrets, wherever the pieces of it are cut.

Rules:

- What may be the beginning of a secret waits for what follows it: it is published with the next piece, at the latest
  when the output ends. That is never more than one character less than the secret has.
- A few characters wait for a moment only: no line lacks its last letter because some secret begins with it. If it
  was the secret after all, the rest of it is masked. A few that may begin a secret in another encoding do not wait at
  all: in base64 or hexadecimal digits some secret begins with nearly every letter.
- A piece stays what the artifact has from its `offset` on, and pieces stay in order. So nothing waits any longer when
  the other stream writes or when some of the output was passed over, and nothing begins to wait where it is not known
  which bytes are the characters that are shown.
"""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec.structs import replace

from sightline.events import ToolOutput
from sightline.journal import ArtifactReader
from sightline.secrets._secrets import HARMLESS, HARMLESS_CODED
from sightline.text import clean_output

if TYPE_CHECKING:
    from sightline.secrets._secrets import MaskedStream, Secrets

_PLACES_TRIED = 100
_A_MOMENT = 0.3  # seconds: longer than any two pieces of a command that writes without a pause are apart


class MaskedOutput:
    """The output of one call. Used in the session's event loop only."""

    def __init__(
        self, secrets: "Secrets", artifact: Callable[[], ArtifactReader], publish: Callable[[ToolOutput], None]
    ) -> None:
        """`artifact`: where the bytes of every piece are by the time it is published."""
        self._secrets = secrets
        self._artifact = artifact
        self._publish = publish
        self._streams: dict[str, MaskedStream] = {}
        self._waiting: ToolOutput | None = None  # the place of what waits; its text is the stream's
        self._timer: asyncio.TimerHandle | None = None

    def publish(self, event: ToolOutput) -> None:
        if self._secrets.is_empty:
            self._publish(event)
        elif event.stream == "status":
            self._publish(replace(event, content=self._secrets.masked(event.content)))
        else:
            self._publish_masked(event)

    def end(self) -> None:
        """Publish what waits: nothing follows."""
        self.flush()
        self._streams.clear()

    def _publish_masked(self, event: ToolOutput) -> None:
        if self._waiting is not None and (event.dropped or event.stream != self._waiting.stream):
            self.flush()
        if event.dropped:
            self._streams.clear()  # no value continues after that
        stream = self._streams.setdefault(event.stream, self._secrets.stream(at_once=HARMLESS_CODED))
        text = stream.feed(event.content)
        if (first := self._waiting) is not None:
            event = replace(event, offset=first.offset, dropped=first.dropped, size=first.size + event.size)
        waits = self._size_of(stream.waiting, event)
        if stream.waiting and not waits:
            text += stream.flush()
        size = event.size - waits
        if size or text:
            self._publish(replace(event, content=text, size=size, masked=stream.take_masked()))
            event = replace(event, dropped=0)
        self._wait_with(replace(event, content="", offset=event.offset + size, size=waits) if waits else None)

    def _size_of(self, waiting: str, event: ToolOutput) -> int:
        """How many of the last bytes of the artifact up to there are what waits, with what is not shown of them; 0
        where that is not known."""
        if not waiting:
            return 0
        data = waiting.encode()
        most = min(event.size, self._secrets.longest)
        reader = self._artifact()
        try:
            written = reader.read(event.offset + event.size - most, most)
        finally:
            reader.close()
        if written.endswith(data):
            return len(data)
        # Something was removed from within, such as a control character: each place where it may begin is tried.
        at = len(written)
        for _ in range(_PLACES_TRIED):
            at = written.rfind(waiting[0].encode(), 0, at)
            if at < 0:
                break
            if clean_output(written[at:].decode("utf-8", "replace")) == waiting:
                return len(written) - at
        return 0

    def _wait_with(self, event: ToolOutput | None) -> None:
        self._waiting = event
        if self._timer is not None:
            self._timer.cancel()
        loop = asyncio.get_running_loop()
        self._timer = None if event is None else loop.call_later(_A_MOMENT, self.flush, HARMLESS)

    def flush(self, at_most: int | None = None) -> None:
        """Publish what waits, now, with `at_most` only if that shows so few characters; more may follow."""
        event = self._waiting
        if event is None:
            return
        stream = self._streams[event.stream]
        if text := stream.flush(at_most):
            self._wait_with(None)
            self._publish(replace(event, content=text, masked=stream.take_masked()))
