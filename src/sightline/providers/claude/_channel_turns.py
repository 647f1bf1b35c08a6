"""Where the work on a prompt begins and ends in a stream that does not end with it.

Rules:

- Each round of Claude Code's has an `init` and a `result`. A prompt can take several: words said meanwhile that no call
  was left to carry, and the end of a subagent in the background, open another. They are one run, with one beginning and
  one end; tokens and costs are added up.
- The run is over when Claude Code says it is idle after a result, has read all it was sent, and no subagent goes on. A
  version that does not tell its state is taken at its first result's word.
- What a `result` says about costs is of the whole process.
- A round that was interrupted ends as failed, and says so in the person's name. Of a run that is being stopped neither
  is news.
- A command left in the background outlives the run. Its end makes Claude Code go on by itself: that is a run too.
"""

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from sightline.events import Error, Event, RunEnded, RunStarted, Usage, User
from sightline.providers.claude._command import COMMAND

_INTERRUPTED = "[Request interrupted by user"


class ClaudeTurns:
    """What the source tells, cut into runs."""

    def __init__(self) -> None:
        self.open = False  # between the prompt, or the beginning of a round nobody asked for, and the end of the run
        self.begun = False  # its first round has
        self.stopping = False
        self.wakings = 0  # how often it said that it works
        self._state = ""  # empty: never told
        self._wakes_up = False  # it has read words, and will
        self._spent = 0.0
        self._ended: RunEnded | None = None  # what its rounds so far came to

    def prompted(self) -> None:
        self.stopping = False
        if not self.open:
            self._open()

    def given_up(self) -> list[Event]:
        """The end of a run of which no round began."""
        self.open = False
        return [RunEnded(stop_reason="cancelled")]

    def _open(self) -> None:
        self.open, self.begun, self.stopping, self._ended = True, False, False, None

    def is_in(self, state: str) -> None:
        self._state = state
        if state == "running":
            self.wakings += 1
            self._wakes_up = False

    def has_read(self, wakings: int) -> None:
        """Words that were sent after so many wakings. Read in its sleep they are the beginning of a round, whatever
        ended before."""
        self._wakes_up = self._state == "idle" and self.wakings == wakings

    def told(self, events: Iterable[Event]) -> list[Event]:
        kept: list[Event] = []
        for event in events:
            if event.agent:
                kept.append(event)
            elif isinstance(event, RunStarted):
                kept += self._round_begun(event)
            elif isinstance(event, RunEnded):
                self._round_ended(event)
            elif isinstance(event, Error):
                kept += [] if self.stopping else [_with_hint(event)]
            elif not (isinstance(event, User) and self._is_no_news(event)):
                kept.append(event)
        return kept

    def end(self, *, busy: bool) -> list[Event]:
        """The end of the run, if this is it."""
        if self._ended is None or busy or self._wakes_up or self._state not in ("", "idle"):
            return []
        ended, self._ended = self._ended, None
        self.open = False
        return [replace(ended, stop_reason="cancelled", is_error=False) if self.stopping else ended]

    def broke(self, *, busy: bool) -> list[Event]:
        """Nothing more comes. A result that was there counts, unless there was to be more."""
        self._state = ""
        return self.end(busy=busy and not self.stopping)

    def _round_begun(self, event: RunStarted) -> list[Event]:
        if not self.open:
            self._open()
        first, self.begun = not self.begun, True
        return [event] if first else []

    def _round_ended(self, event: RunEnded) -> None:
        cost = event.cost
        if cost is not None:
            cost, self._spent = max(cost - self._spent, 0.0), cost
        before = self._ended or RunEnded()
        self._ended = replace(event, usage=_added(before.usage, event.usage), cost=_sum(before.cost, cost))

    def _is_no_news(self, event: User) -> bool:
        """Between runs nobody says anything: it is the answer to one of our own commands."""
        return not self.open or (self.stopping and event.text.startswith(_INTERRUPTED))


def _with_hint(error: Error) -> Error:
    from sightline.providers.running import _explain

    return _explain.with_hint(error, COMMAND)


def _added(one: Usage | None, other: Usage | None) -> Usage | None:
    if one is None or other is None:
        return one or other
    return Usage(*[_sum(getattr(one, name), getattr(other, name)) for name in Usage.__struct_fields__])


def _sum(one: Any, other: Any) -> Any:
    """Of what is known."""
    return one + other if one is not None and other is not None else one if other is None else other
