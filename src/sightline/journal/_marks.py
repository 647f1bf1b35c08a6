"""What the user decided about sessions in lists: another title, and which are archived. One small file of its own, as a
journal is written by its host alone."""

from pathlib import Path

import msgspec


class SessionMark(msgspec.Struct, frozen=True, omit_defaults=True):
    title: str = ""  # empty: the one it began with
    archived: bool = False


class SessionMarks:
    """By session. Read anew each time: other processes write it, too."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def all(self) -> dict[str, SessionMark]:
        """None where the file is missing or damaged: it decides about lists alone."""
        try:
            return msgspec.json.decode(self._file.read_bytes(), type=dict[str, SessionMark])
        except (OSError, msgspec.MsgspecError, UnicodeDecodeError):
            return {}

    def change(self, session: str, **changes: str | bool) -> None:
        from sightline.settings._files import held, replace

        with held(self._file):
            marks = self.all()
            marks[session] = msgspec.structs.replace(marks.get(session, SessionMark()), **changes)
            replace(self._file, _written(marks))

    def forget(self, session: str) -> None:
        from sightline.settings._files import held, replace

        if session in self.all():
            with held(self._file):
                replace(self._file, _written({each: mark for each, mark in self.all().items() if each != session}))


def _written(marks: dict[str, SessionMark]) -> bytes:
    set_marks = {session: mark for session, mark in marks.items() if mark != SessionMark()}
    return msgspec.json.format(msgspec.json.encode(set_marks)) + b"\n"
