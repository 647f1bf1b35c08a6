"""The artifacts of a session, and those of other sessions for reading."""

from pathlib import Path

from sightline.journal import Store, artifact_file, is_private, is_session_id, store_file


class SessionShelf:
    """`artifact://SESSION/NAME` URLs and their files."""

    def __init__(self, store: Store, session: str) -> None:
        self._store = store
        self._session = session

    def store(self, name: str, data: bytes) -> str:
        store_file(self._store.folder(self._session), name, data)
        return f"artifact://{self._session}/{name}"

    def find(self, url: str) -> Path | None:
        session, _, name = url.removeprefix("artifact://").partition("/")
        if not is_session_id(session) or not name:
            return None
        folder = self._store.folder(session)
        found = artifact_file(folder, name)
        is_output = found is not None and found.suffix in (".out", ".idx")
        return None if is_output and is_private(folder, name) else found
