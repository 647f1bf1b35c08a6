"""How the agent of a session that has ended did: its last run, or a review that came after it."""

from contextlib import suppress

from sightline.events import Event, ReviewFact, RunEnded, ToolResult, call_ending, ui_fact
from sightline.exceptions import SightlineError
from sightline.journal import Store
from sightline.views.web.page._entries import ENDED_STATES
from sightline.views.web.page._hosts import mark_of


class SessionEndings:
    """Read from the end of a journal, once as long as it does not change."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[str, tuple[object, str]] = {}

    def of(self, session: str) -> str:
        """Empty: it ended well, or is not known."""
        mark = mark_of(self._store.folder(session) / "journal.jsonl")
        known = self._known.get(session)
        if known is None or known[0] != mark:
            known = self._known[session] = (mark, self._read(session))
        return known[1]

    def _read(self, session: str) -> str:
        with suppress(OSError, SightlineError):
            for event in reversed(self._store.read(session).last("run_ended", "tool_result")):
                if (found := _ending(event)) is not None:
                    return found
        return ""


def _ending(event: Event) -> str | None:
    """None where this is no end of the agent's work."""
    match event:
        case RunEnded(agent=""):
            return ENDED_STATES.get(event.stop_reason, "failed" if event.is_error or event.exit_code else "")
        case ToolResult(agent="") if isinstance(ui_fact(event.details), ReviewFact):
            return ENDED_STATES.get(call_ending(event.details).ended, "failed") if event.is_error else ""
    return None
