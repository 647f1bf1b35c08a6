"""Stored conversations as text, for `history://`."""

from pathlib import Path

from sightline.conversation import AssistantMessage, Message, ToolMessage, text_of
from sightline.exceptions import UserMistake
from sightline.journal import SessionTree, Store, is_session_id

_RESULT = 2000  # characters of a call's result


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
        tree = SessionTree.load(self._store.folder(session))
        entries = tree.read(node for node in tree.path() if node.type in ("message", "custom_message"))
        return "\n\n".join([_section(entry.message) for entry in entries if entry.message is not None])


def _section(message: Message) -> str:
    if isinstance(message, ToolMessage):
        text = text_of(message)
        cut = f" [… {len(text) - _RESULT:,} more characters]" if len(text) > _RESULT else ""
        return f"## result of {message.name}{' (failed)' if message.is_error else ''}\n\n{text[:_RESULT]}{cut}"
    if isinstance(message, AssistantMessage):
        import msgspec

        calls = [f"→ {call.name} {msgspec.json.encode(call.args).decode()}" for call in message.calls]
        return "\n\n".join(["## assistant", *([message.text] if message.text else []), *calls])
    return f"## user\n\n{text_of(message)}"
