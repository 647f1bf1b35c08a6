"""Events as lines for machines.

Events read from a provider's stream have no number and no time yet and get them here. Those of a session have both.
"""

import time

from sightline.events import Event, encode_event
from sightline.events.stamping import stamp


class EventLines:
    """NDJSON; what has no number yet is numbered from one."""

    def __init__(self) -> None:
        self._seq = 0

    def encode(self, batch: list[Event]) -> bytes:
        now, lines = time.time(), []
        for event in batch:
            if not event.seq:
                self._seq += 1
                event = stamp(event, self._seq, now)
            lines.append(encode_event(event) + b"\n")
        return b"".join(lines)
