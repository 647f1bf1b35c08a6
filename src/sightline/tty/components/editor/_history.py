"""What was submitted before: to go back to, while what is being written is kept, and to search.

A search is shown in the rule above the editor. While it is open it has the keys: letters narrow, its own key goes on to
an older text, enter takes what is shown, escape leaves everything as it was.
"""

from collections.abc import Iterable

from sightline.text import clean_line
from sightline.tty._component import Input
from sightline.tty.components.editor._clusters import before
from sightline.tty.input._bindings import Bindings
from sightline.tty.input._keys import Paste

_ENTRIES = 1000


class EditorHistory:
    """Submitted texts, oldest first. `entries` is what an application keeps between sessions."""

    def __init__(self, entries: Iterable[str] = ()) -> None:
        self.entries = list(entries)[-_ENTRIES:]
        self._folds: dict[str, list[str]] = {}
        self._at: int | None = None
        self._draft = ""

    def begin_with(self, entries: Iterable[str]) -> None:
        """These came before what is here; one that is here already counts as the newer."""
        known = set(self.entries)
        earlier = [entry for entry in entries if entry not in known]
        del earlier[: max(0, len(earlier) + len(known) - _ENTRIES)]
        self.entries[:0] = earlier
        if self._at is not None:
            self._at += len(earlier)

    @property
    def browsing(self) -> bool:
        return self._at is not None

    def add(self, text: str, folded: list[str]) -> None:
        """Keep a submitted text, and which parts of it were folded; blank ones and repetitions of the last are not."""
        self.leave()
        if text.strip() and self.entries[-1:] != [text]:
            self.entries.append(text)
            for gone in self.entries[:-_ENTRIES]:
                self._folds.pop(gone, None)
            del self.entries[:-_ENTRIES]
            if folded:
                self._folds[text] = folded

    def folded_in(self, entry: str) -> list[str]:
        """The parts of an entry that were folded when it was submitted."""
        return self._folds.get(entry, [])

    def containing(self, part: str) -> list[str]:
        """The entries with that in them, in capitals or not; the newest first, each once."""
        part = part.casefold()
        return [entry for entry in dict.fromkeys(reversed(self.entries)) if part in entry.casefold()]

    def previous(self, current: str) -> str | None:
        """The entry before; `current` is kept as the draft when this is the first step back."""
        at = len(self.entries) if self._at is None else self._at
        if at == 0:
            return None
        if self._at is None:
            self._draft = current
        self._at = at - 1
        return self.entries[at - 1]

    def next(self) -> str | None:
        """The entry after, and after the newest the draft."""
        if self._at is None:
            return None
        if self._at + 1 < len(self.entries):
            self._at += 1
            return self.entries[self._at]
        draft = self._draft
        self.leave()
        return draft

    def leave(self) -> None:
        """What is shown now is a text of its own."""
        self._at, self._draft = None, ""


class HistorySearch:
    """What is looked for, and what was found."""

    def __init__(self, history: EditorHistory, bindings: Bindings) -> None:
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
