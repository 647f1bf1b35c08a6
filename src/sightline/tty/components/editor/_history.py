"""What was submitted before, to go back to; what is being written is kept while one looks."""

from collections.abc import Iterable

_ENTRIES = 1000


class History:
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
