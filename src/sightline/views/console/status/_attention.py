"""The terminal's title, and desktop notifications when the session waits for the user."""

from collections.abc import Callable

from sightline.text import clean_line, cut_graphemes
from sightline.transcript import Snapshot, TranscriptMessage
from sightline.views.console._agent_names import waits
from sightline.views.console._state import ConsoleState

_LONG = 10.0  # seconds of work after which its end is worth a notification
_TITLE = 60
_LOOKED_AT = 500  # characters of a prompt: it may be a megabyte, and the title is made with every event


class Attention:
    """Updates the title, and notifies of new questions and of the end of long work."""

    def __init__(
        self,
        state: ConsoleState,
        *,
        clock: Callable[[], float],
        set_title: Callable[[str], object] | None,
        notify: Callable[[str], object] | None,
    ) -> None:
        self._state = state
        self._clock = clock
        self._set_title = set_title
        self._notify = notify
        self._title = ""
        self._known: set[str] = set()
        self._since: float | None = None

    def look(self) -> None:
        state = self._state.fold
        self._look_for_requests(state)
        self._look_for_ends(state)
        title = self._title_for(state)
        if title != self._title and self._set_title is not None:
            self._title = title
            self._set_title(title)

    def forget(self) -> None:
        """Another session is shown: its open requests are not news."""
        state = self._state.fold
        self._known = set(state.requests)
        self._since = self._clock() if state.running else None

    def _look_for_requests(self, state: Snapshot) -> None:
        new = set(state.requests) - self._known
        self._known = set(state.requests)
        if new and self._notify is not None:
            request = state.requests[min(new)]
            request = request if isinstance(request, dict) else {}
            text = cut_graphemes(clean_line(str(request.get("text", ""))), _TITLE)
            self._notify(f"{waits(request)}: {text}")

    def _look_for_ends(self, state: Snapshot) -> None:
        if state.running and self._since is None:
            self._since = self._clock()
        elif not state.running and self._since is not None:
            took, self._since = self._clock() - self._since, None
            if took >= _LONG and self._notify is not None:
                self._notify("the agent is done")

    def _title_for(self, state: Snapshot) -> str:
        sign = "◆ " if state.requests else "● " if state.running else ""
        about = self._state.extension_title or _about(state)
        return sign + (f"sightline: {about}" if about else "sightline")


def _about(state: Snapshot) -> str:
    first = next((entry for entry in state.entries if isinstance(entry, TranscriptMessage) and not entry.agent), None)
    return "" if first is None else cut_graphemes(clean_line(first.text[:_LOOKED_AT]), _TITLE)
