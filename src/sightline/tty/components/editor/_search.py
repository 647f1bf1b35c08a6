"""Finding an old text by typing some of it: newest first, shown in the rule above the editor.

While it is open it has the keys: letters narrow, its own key goes on to an older text, enter takes what is shown,
escape leaves everything as it was.
"""

from sightline.text import clean_line
from sightline.tty._bindings import Bindings
from sightline.tty._component import Input
from sightline.tty._keys import Paste
from sightline.tty.components.editor._clusters import before
from sightline.tty.components.editor._history import History


class HistorySearch:
    """What is looked for, and what was found."""

    def __init__(self, history: History, bindings: Bindings) -> None:
        self._history = history
        self._bindings = bindings
        self._query: str | None = None
        self._found: list[str] = []
        self._at = 0

    @property
    def is_open(self) -> bool:
        return self._query is not None

    @property
    def title(self) -> str:
        """The search in a line: what is typed, and what it found."""
        if not self._query:
            return "search: type a part of an earlier text"
        if not self._found:
            return f"search: {self._query} (nothing found)"
        return f"search: {self._query} ({self._at + 1}/{len(self._found)}) › {clean_line(self._found[self._at])}"

    def open(self) -> None:
        self._query, self._found, self._at = "", [], 0

    def close(self) -> None:
        self._query = None

    def take(self) -> str | None:
        """Close it. What it showed; None when that was nothing."""
        self.close()
        return self._found[self._at] if self._found else None

    def handle(self, event: Input) -> bool:
        """Narrow, widen, or go on. False for keys that mean nothing here."""
        query = self._query or ""
        if isinstance(event, Paste) or event.text:
            self._look_for(query + clean_line(event.text))
        elif self._bindings.matches(event, "history_search"):
            self._at = min(self._at + 1, max(0, len(self._found) - 1))
        elif self._bindings.matches(event, "delete_back"):
            self._look_for(query[: before(query, len(query))])
        else:
            return False
        return True

    def _look_for(self, query: str) -> None:
        self._query, self._at = query, 0
        self._found = self._history.containing(query) if query else []
