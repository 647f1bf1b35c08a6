"""The events of the last moments: what a view that lost its connection can be told one by one."""

from collections import deque

from sightline.events import Event, ToolOutput

_MOST_EVENTS = 4000
_MOST_CHARACTERS = 1024 * 1024


class Recent:
    """Bounded in number and size; the oldest go first."""

    def __init__(self) -> None:
        self._events: deque[Event] = deque()
        self._characters = 0

    def add(self, events: list[Event]) -> None:
        self._events.extend(events)
        for event in events:
            if isinstance(event, ToolOutput):
                self._characters += len(event.content)
        while len(self._events) > _MOST_EVENTS or self._characters > _MOST_CHARACTERS:
            old = self._events.popleft()
            if isinstance(old, ToolOutput):
                self._characters -= len(old.content)

    def after(self, seq: int, last: int) -> list[Event] | None:
        """Everything after `seq`, up to `last`, which was the last; None when some of that is no longer here."""
        oldest = self._events[0].seq if self._events else last + 1
        if not oldest - 1 <= seq <= last:
            return None
        return [event for event in self._events if event.seq > seq]
