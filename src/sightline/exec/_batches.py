"""When output is published and how much of it: the rule for a view that is live and not flooded. Has no clock.

- A piece goes out at once when 50 ms have passed since the last. Otherwise what there is waits for the mark, 100 ms
  after the last, or for 4 KB, whichever comes first.
- In each 100 ms at most 50 KB go out, what a reader could see. When they are used up, the rest waits for the end of the
  100 ms, and only the last 50 KB of it remain then. They begin after the end of a line if there is one near, else with
  a whole character.
- Pieces are in order of arrival. Each is of one stream and covers `size` bytes from `offset`; `dropped` bytes before it
  were passed over. Pieces and dropped bytes together are exactly what was added.
"""

from collections import deque
from collections.abc import Iterator
from itertools import groupby

import msgspec

AT_ONCE = 0.05
MARK = 0.1
ENOUGH = 4 * 1024
SEEN = 50 * 1024
# A newline further into the remaining part than this would cost more of it than a whole first line is worth.
_NEAR = 4 * 1024
# What a change of stream counts as: two that take turns byte by byte must not become thousands of pieces.
_TURN = 64


class OutputPiece(msgspec.Struct):
    """Bytes of one stream that lie together in the artifact."""

    stream: str
    offset: int
    data: bytes
    dropped: int = 0
    weight: int = 0


class Batches:
    """Takes what arrives, gives out what is due. `now` never goes back."""

    def __init__(self) -> None:
        self._waiting: deque[OutputPiece] = deque()  # as it arrived; joined when it goes out
        self._weight = 0
        self.accounted = 0  # bytes that were given out, or passed over before one that was
        self._last = self._window = float("-inf")
        self._spent = 0

    def add(self, stream: str, offset: int, data: bytes, now: float) -> list[OutputPiece]:
        """Some output, and what goes out because of it."""
        if len(data) > SEEN - _TURN:
            self.pass_over()
            cut = _clean_start(data, len(data) - SEEN + _TURN)
            data, offset = data[cut:], offset + cut
        turn = not self._waiting or self._waiting[-1].stream != stream
        weight = len(data) + _TURN * turn
        self._waiting.append(OutputPiece(stream, offset, data, 0, weight))
        self._weight += weight
        while self._weight > SEEN:
            self._forget(self._weight - SEEN)
        return self.take(now)

    def due(self) -> float | None:
        """When to `take`; None while nothing waits."""
        if not self._waiting:
            return None
        return (self._window if self._spent + self._weight > SEEN else self._last) + MARK

    def take(self, now: float) -> list[OutputPiece]:
        """What is due by now."""
        if not self._waiting or not (now - self._last >= AT_ONCE or self._weight >= ENOUGH):
            return []
        if now - self._window >= MARK:
            self._window, self._spent = now, 0
        if self._spent + self._weight > SEEN:
            return []
        self._last = now
        self._spent += self._weight
        return self._give_out()

    def finish(self) -> list[OutputPiece]:
        """All that may still be shown, whatever the time."""
        return self._give_out()

    def pass_over(self) -> None:
        """What waits will not be shown; it counts as dropped."""
        self._waiting.clear()
        self._weight = 0

    def _forget(self, surplus: int) -> None:
        first = self._waiting[0]
        cut = len(first.data) if surplus >= first.weight else _clean_start(first.data, surplus)
        if cut >= len(first.data):
            self._weight -= self._waiting.popleft().weight
            return
        first.data, first.offset = first.data[cut:], first.offset + cut
        first.weight -= cut
        self._weight -= cut

    def _give_out(self) -> list[OutputPiece]:
        pieces: list[OutputPiece] = []
        for piece in self._joined():
            piece.dropped = piece.offset - self.accounted
            self.accounted = piece.offset + len(piece.data)
            pieces.append(piece)
        self.pass_over()
        return pieces

    def _joined(self) -> Iterator[OutputPiece]:
        if len(self._waiting) == 1:
            yield self._waiting[0]
            return
        for stream, pieces in groupby(self._waiting, lambda piece: piece.stream):
            together = list(pieces)
            yield OutputPiece(stream, together[0].offset, b"".join(piece.data for piece in together))


def _clean_start(data: bytes, least: int) -> int:
    """Where the remaining part begins, when at least so much must go."""
    newline = data.find(b"\n", least - 1, least + _NEAR)
    if newline >= 0:
        return newline + 1
    start = least
    while start < len(data) and start < least + 3 and data[start] & 0xC0 == 0x80:
        start += 1
    return start
