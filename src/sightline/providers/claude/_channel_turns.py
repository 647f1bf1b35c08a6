"""Where the work on a prompt begins and ends in a stream that does not end with it.

Rules:

- Each round of Claude Code has an `init` and a `result`. A prompt can take several: text sent meanwhile that no call
  was left to carry, and the end of a subagent in the background, open another. They are one run, with one beginning and
  one end; tokens and costs are added up.
- The run is over when Claude Code reports that it is idle after a result, has read all it was sent, and no subagent is
  running. For a version that does not report its state it is over with the first result.
- The costs in a `result` are those of the whole process.
- A round that was interrupted ends as failed, with a line in the user's name. Of a run that is being stopped neither is
  shown.
- A command left in the background outlives the run. Its end makes Claude Code continue by itself: that is a run too.
"""

from collections.abc import Iterable

from msgspec.structs import replace

from sightline.events import Error, Event, RunEnded, RunStarted, User
from sightline.providers._source import add, add_usage
from sightline.providers.claude._command import COMMAND

_INTERRUPTED = "[Request interrupted by user"


class ClaudeTurns:
    """The events of the source, cut into runs."""

    def __init__(self) -> None:
        self.open = False  # from the prompt, or a round that began by itself, to the end of the run
        self.begun = False  # its first round has
        self.stopping = False
        self.wakings = 0  # how often it reported that it works
        self._state = ""  # empty: never reported
        self._wakes_up = False  # it has read a text, and will
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
        """A text that was sent after so many wakings has been read. Read while idle it begins a round, whatever ended
        before."""
        self._wakes_up = self._state == "idle" and self.wakings == wakings

    def of_run(self, events: Iterable[Event]) -> list[Event]:
        """The events of the source that are events of the run."""
        shown: list[Event] = []
        for event in events:
            if event.agent:
                shown.append(event)
            elif isinstance(event, RunStarted):
                shown += self._round_begun(event)
            elif isinstance(event, RunEnded):
                self._round_ended(event)
            elif isinstance(event, Error):
                shown += [] if self.stopping else [_with_hint(event)]
            elif not (isinstance(event, User) and self._is_redundant(event)):
                shown.append(event)
        return shown

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
        self._ended = replace(event, usage=add_usage(before.usage, event.usage), cost=add(before.cost, cost))

    def _is_redundant(self, event: User) -> bool:
        """Between runs the user sends nothing: it is the answer to one of our own commands."""
        return not self.open or (self.stopping and event.text.startswith(_INTERRUPTED))


def _with_hint(error: Error) -> Error:
    from sightline.providers.running import _explain

    return _explain.with_hint(error, COMMAND)
