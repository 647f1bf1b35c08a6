"""Events as lines for machines. Whoever writes them owns the stream, so this is where they are numbered and timed."""

import time

from sightline.events import Event, encode_event, stamp


class EventLines:
    """NDJSON, numbered from one."""

    def __init__(self) -> None:
        self._seq = 0

    def encode(self, batch: list[Event]) -> bytes:
        now, lines = time.time(), []
        for event in batch:
            self._seq += 1
            lines.append(encode_event(stamp(event, self._seq, now)) + b"\n")
        return b"".join(lines)
