"""The list of conversations and the search through them, updated from the journals.

Rules:

- A journal is read from where the last reading ended, never again from the beginning, and only when its size or the
  time of its last change differs. Listing and searching do that, newest first, for a bounded time; `behind` is how many
  are left for the next one.
- A session's row, its words and how far it was read change in one transaction: two processes that catch up at once
  cannot count anything twice.
"""

import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TypeVar

from sightline.journal._ids import is_session_id
from sightline.journal._record import RECORD_CAP, JournalHeader, decode_entry, decode_header
from sightline.journal._scan import end_of_lines, entry_lines
from sightline.journal.catalogue._file import CatalogueFile
from sightline.journal.catalogue._session_record import SessionHit, SessionRecord, searched_text, with_entry
from sightline.text import clean_line

SECONDS_TO_CATCH_UP = 2.0
_SECONDS_TO_HOLD = 0.25  # the file, before another process may write
_WORDS_AROUND = 12
_MOST_FOUND = 200  # sessions: the words around each are searched for again

_FIELDS = tuple(field for field in SessionRecord.__struct_fields__ if field != "running")
_COLUMNS = ", ".join(_FIELDS)
_word = re.compile(r"\w+")

T = TypeVar("T")
Standing = tuple[int, int]  # of a journal: its size, and when it last changed


class SessionCatalogue:
    def __init__(self, path: Path, sessions: Path, clock: Callable[[], float] = time.monotonic) -> None:
        self.behind = 0  # sessions that changed and were not read for want of time
        self._file = CatalogueFile(path)
        self._sessions = sessions
        self._clock = clock

    def conversations(self, cwd: str | None, limit: int | None) -> list[SessionRecord]:
        """Those that changed last first."""
        where, here = ("", []) if cwd is None else (" AND cwd = ?", [cwd])
        query = f"SELECT {_COLUMNS} FROM sessions WHERE messages > 0{where} ORDER BY changed DESC, id LIMIT ?"
        values = [*here, -1 if limit is None else limit]
        return self._ask(lambda db: [_record(row) for row in db.execute(query, values)])

    def count(self, cwd: str | None) -> int:
        where, values = ("", []) if cwd is None else (" AND cwd = ?", [cwd])
        query = f"SELECT count(*) FROM sessions WHERE messages > 0{where}"
        found: int = self._ask(lambda db: db.execute(query, values).fetchone()[0])
        return found

    def search(self, words: str, cwd: str | None, limit: int | None) -> list[SessionHit]:
        """Conversations with a message, a command or a title that has all these words: the best, at most 200."""
        query = " ".join(f'"{word}"*' for word in _word.findall(words))
        return self._ask(lambda db: _found(db, query, cwd, limit)) if query else []

    def catch_up(self, seconds: float = SECONDS_TO_CATCH_UP) -> None:
        """Read what the journals have that is not known yet, for at most so long."""
        remade = self._file.remade
        self._catch_up(seconds)
        if self._file.remade > remade:
            self._catch_up(seconds)

    def _ask(self, ask: Callable[[sqlite3.Connection], T]) -> T:
        """The answer; of a file that turns out to be damaged, once it has been filled again."""
        remade = self._file.remade
        answer = self._file.use(ask)
        if self._file.remade > remade:
            self._catch_up(SECONDS_TO_CATCH_UP)
            answer = self._file.use(ask)
        return answer

    def _catch_up(self, seconds: float) -> None:
        standing = self._standing()

        def compare(db: sqlite3.Connection) -> tuple[list[str], list[str]]:
            known = {row[0]: (row[1], row[2]) for row in db.execute("SELECT id, size, mtime FROM sessions")}
            changed = [id for id, now in standing.items() if known.get(id) != now]
            return changed, [id for id in known if id not in standing]

        changed, gone = self._file.use(compare)
        if changed or gone:
            changed.sort(key=lambda id: standing[id][1], reverse=True)
            self._update({id: standing[id] for id in changed}, gone, seconds)
        else:
            self.behind = 0

    def note(self, session: str) -> None:
        """Read on one session, which has just changed."""
        standing = self._standing_of(session)
        if standing is not None:
            self._update({session: standing}, [], SECONDS_TO_CATCH_UP)

    def close(self) -> None:
        self._file.close()

    def _standing(self) -> dict[str, Standing]:
        try:
            names = os.listdir(self._sessions)
        except OSError:
            return {}
        folder, found, stat = f"{self._sessions}/", {}, os.stat
        for name in names:
            try:
                now = stat(f"{folder}{name}/journal.jsonl")
            except OSError:
                continue
            found[name] = (now.st_size, now.st_mtime_ns)
        return {id: now for id, now in found.items() if is_session_id(id)}

    def _standing_of(self, session: str) -> Standing | None:
        try:
            now = os.stat(self._sessions / session / "journal.jsonl")
        except OSError:
            return None
        return now.st_size, now.st_mtime_ns

    def _update(self, changed: dict[str, Standing], gone: Iterable[str], seconds: float) -> None:
        deadline = self._clock() + seconds
        waiting = list(reversed(changed.items()))

        def part(db: sqlite3.Connection) -> None:
            until = min(deadline, self._clock() + _SECONDS_TO_HOLD)
            db.execute("BEGIN IMMEDIATE")
            try:
                for session in gone:
                    _forget(db, session)
                while waiting:
                    self._read_on(db, *waiting.pop())
                    if self._clock() >= until:
                        break
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")

        try:
            while True:
                self._file.use(part)
                gone = ()
                if not waiting or self._clock() >= deadline:
                    break
        except sqlite3.OperationalError:  # another is writing, or there is no room: what is known has to do
            pass
        self.behind = len(waiting)

    def _read_on(self, db: sqlite3.Connection, session: str, standing: Standing) -> None:
        try:
            fd = os.open(self._sessions / session / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            self._read_file(db, session, standing, fd)
        except OSError:  # one that cannot be read does not cost the list of the others
            _forget(db, session)
        finally:
            os.close(fd)

    def _read_file(self, db: sqlite3.Connection, session: str, standing: Standing, fd: int) -> None:
        row = db.execute(f"SELECT {_COLUMNS}, read_to FROM sessions WHERE id = ?", (session,)).fetchone()
        end = end_of_lines(fd)
        if row is None or end < row[-1]:  # new, or not the file it was
            if row is not None:
                _forget(db, session)
            record, start = _begun(db, session, fd), 0
        else:
            record, start = _record(row[:-1]), row[-1]
        for _, line in entry_lines(fd, start, end):
            entry = decode_entry(line)
            if entry is not None:
                record = with_entry(record, entry)
                if text := searched_text(entry):
                    _add_words(db, session, entry.id, "", text)
        marks = ", ".join("?" * (len(_FIELDS) + 3))
        values = [getattr(record, field) for field in _FIELDS]
        db.execute(
            f"INSERT OR REPLACE INTO sessions ({_COLUMNS}, read_to, size, mtime) VALUES ({marks})",
            [*values, end, *standing],
        )


def _begun(db: sqlite3.Connection, session: str, fd: int) -> SessionRecord:
    header = decode_header(os.pread(fd, RECORD_CAP, 0).partition(b"\n")[0]) or JournalHeader(session)
    title = clean_line(header.title)
    if title:
        _add_words(db, session, "", title, "")
    return SessionRecord(
        id=session,
        cwd=clean_line(header.cwd),
        provider=clean_line(header.provider),
        title=title,
        created=header.created,
        changed=header.created,
        parent_session=clean_line(header.parent_session),
    )


def _record(row: tuple[object, ...]) -> SessionRecord:
    return SessionRecord(**dict(zip(_FIELDS, row, strict=True)))  # type: ignore[arg-type]


def _add_words(db: sqlite3.Connection, session: str, entry: str, title: str, text: str) -> None:
    place = db.execute("INSERT INTO places (session, entry) VALUES (?, ?)", (session, entry)).lastrowid
    db.execute("INSERT INTO words (rowid, title, text) VALUES (?, ?, ?)", (place, title, text))


def _forget(db: sqlite3.Connection, session: str) -> None:
    db.execute("DELETE FROM words WHERE rowid IN (SELECT rowid FROM places WHERE session = ?)", (session,))
    db.execute("DELETE FROM places WHERE session = ?", (session,))
    db.execute("DELETE FROM sessions WHERE id = ?", (session,))


def _found(db: sqlite3.Connection, query: str, cwd: str | None, limit: int | None) -> list[SessionHit]:
    here = "" if cwd is None else " AND sessions.cwd = ?"
    db.execute("BEGIN")  # what is found is still there when it is read
    try:
        best = db.execute(
            "SELECT words.rowid, places.session, places.entry FROM words JOIN places ON places.rowid = words.rowid "
            f"JOIN sessions ON sessions.id = places.session WHERE words MATCH ?{here} ORDER BY bm25(words, 5.0, 1.0)",
            [query, *([] if cwd is None else [cwd])],
        )
        most = _MOST_FOUND if limit is None else min(limit, _MOST_FOUND)
        chosen: dict[str, tuple[int, str]] = {}
        for place, session, entry in best:
            if len(chosen) == most:
                break
            chosen.setdefault(session, (place, entry))
        return [_hit(db, query, session, place, entry) for session, (place, entry) in chosen.items()]
    finally:
        db.rollback()


def _hit(db: sqlite3.Connection, query: str, session: str, place: int, entry: str) -> SessionHit:
    snippet = db.execute(
        f"SELECT snippet(words, -1, '\x02', '\x03', '…', {_WORDS_AROUND}) FROM words WHERE words MATCH ? AND rowid = ?",
        (query, place),
    ).fetchone()[0]
    row = db.execute(f"SELECT {_COLUMNS} FROM sessions WHERE id = ?", (session,)).fetchone()
    return SessionHit(_record(row), entry, snippet)
