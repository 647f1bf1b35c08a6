"""Stored conversations as text, for `history://`."""

from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.journal import SessionTree, Store, is_session_id, readable


class SessionHistory:
    """The conversations of a store; an empty id means one's own."""

    def __init__(self, store: Store, own: str) -> None:
        self._store = store
        self._own = own

    def file(self, session: str) -> Path | None:
        """The journal of another session; None for one's own."""
        other = session and session != self._own and is_session_id(session)
        return self._store.folder(session) / "journal.jsonl" if other else None

    def read(self, session: str) -> str | None:
        session = session or self._own
        if not is_session_id(session):
            return None
        try:
            self._store.read(session)
        except UserMistake:
            return None
        return readable(SessionTree.load(self._store.folder(session)))
