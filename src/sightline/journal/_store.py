"""The store, one folder: a folder per session, the index of jobs, the list of conversations."""

import errno
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from sightline import locks
from sightline.events import Event, Notice
from sightline.events.stamping import stamp
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal._artifact import ArtifactReader
from sightline.journal._ids import is_session_id, new_session_id, session_of
from sightline.journal._index import JobIndex, JobRecord
from sightline.journal._jobs import jobs_of, stored_calls
from sightline.journal._reader import SessionReader
from sightline.journal._record import JournalHeader
from sightline.journal._repair import agent_states, any_running, events_of_last_run, repair
from sightline.journal._scan import has_entries
from sightline.journal._writer import Busy, JournalWriter, artifact_path
from sightline.journal.catalogue._session_record import SessionHit, SessionRecord
from sightline.journal.tree._tree import SessionTree
from sightline.paths import NotOurs, private_folder
from sightline.text import clean_line

if TYPE_CHECKING:
    from sightline.journal.catalogue._catalogue import SessionCatalogue


class SessionMark(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the user decided about a session in lists."""

    title: str = ""  # empty: the one it began with
    archived: bool = False


class SessionMarks:
    """The marks of all sessions, in a small file: a journal is written by its host alone. Read anew each time, as other
    processes write it, too."""

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


class Store:
    """The stored sessions below one folder."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._folder = folder
        self._sessions = folder / "sessions"
        self._clock = clock
        self._catalogue: SessionCatalogue | None = None
        self.index = JobIndex(folder / "jobs.jsonl")
        self._marks = SessionMarks(folder / "titles.json")

    @property
    def catalogue(self) -> "SessionCatalogue":
        """The list of conversations. Made when first needed: most commands do without."""
        if self._catalogue is None:
            from sightline.journal.catalogue._catalogue import SessionCatalogue

            self._catalogue = SessionCatalogue(self._folder / "conversations.sqlite", self._sessions)
        return self._catalogue

    def create(self, *, cwd: str = "", title: str = "", parent_session: str = "", provider: str = "") -> JournalWriter:
        while True:
            folder = self.folder(new_session_id())
            try:
                private_folder(self._sessions, self._folder)
                folder.mkdir(mode=0o700)
                break
            except FileExistsError:
                continue
            except NotOurs as error:
                raise _not_ours(error) from error
            except OSError as error:
                raise self.no_room(error) from error
        # A folder's name need not be text; what is stored of it must be.
        header = JournalHeader(folder.name, clean_line(cwd), title, self._clock(), 1, parent_session, provider)
        try:
            return JournalWriter(folder, header)
        except Busy as error:  # only a program that looks for new files to lock them can be that quick
            raise OutsideFailure(f"another process locked {folder} while it was being created", "try again") from error
        except OSError as error:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)
            raise self.no_room(error) from error

    def folder(self, session: str) -> Path:
        return self._sessions / session

    def writer(self, session: str) -> JournalWriter:
        """The writer of a stored session. Busy when its host is running."""
        try:
            private_folder(self._sessions, self._folder)
        except NotOurs as error:
            raise _not_ours(error) from error
        return JournalWriter(self.folder(session))

    def is_running(self, session: str) -> bool:
        """Whether a process is writing it: whether the lock is held, which cannot outlive its holder."""
        try:
            fd = os.open(f"{self._sessions}/{session}/journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            return locks.is_held(fd)
        except OSError:
            return True
        finally:
            os.close(fd)

    def read(self, session: str) -> SessionReader:
        if not (self.folder(session) / "journal.jsonl").exists():
            raise UserMistake(f"no session {session}", "see `sightline ps` and `sightline jobs`")
        return SessionReader(self.folder(session))

    def artifact(self, job: str) -> ArtifactReader:
        return ArtifactReader(self.artifact_path(job))

    def artifact_path(self, job: str) -> Path:
        return artifact_path(self.folder(session_of(job)), job)

    def sessions(self) -> list[str]:
        """The ids of all sessions, those that began last first."""
        try:
            entries = [entry for entry in os.scandir(self._sessions) if is_session_id(entry.name)]
        except OSError:
            return []
        return [entry.name for entry in sorted(entries, key=_changed, reverse=True)]

    def conversations(
        self, cwd: str | None = None, limit: int | None = None, *, archived: bool = False
    ) -> list[SessionRecord]:
        """Sessions with a conversation, of one folder or of all, those that changed last first. Those that are archived
        are left out; `archived`: those alone."""
        self.catalogue.catch_up()
        marks, here = self._marks.all(), None if cwd is None else clean_line(cwd)
        some_left_out = archived or any(mark.archived for mark in marks.values())
        found = self.catalogue.conversations(here, None if some_left_out else limit)
        listed = [record for record in found if marks.get(record.id, SessionMark()).archived == archived]
        return [self._as_it_is(record, marks) for record in listed[:limit]]

    def count(self, cwd: str | None = None, *, archived: bool = False) -> int:
        """How many `conversations` has without a limit."""
        marks, here = self._marks.all(), None if cwd is None else clean_line(cwd)
        if not archived and not any(mark.archived for mark in marks.values()):
            return self.catalogue.count(here)
        found = self.catalogue.conversations(here, None)
        return sum(marks.get(record.id, SessionMark()).archived == archived for record in found)

    def search(
        self, words: str, cwd: str | None = None, limit: int | None = None, *, archived: bool = False
    ) -> list[SessionHit]:
        """Conversations with these words in a message, a command or the title, the best first."""
        self.catalogue.catch_up()
        marks, here = self._marks.all(), None if cwd is None else clean_line(cwd)
        found = self.catalogue.search(words, here, limit)
        hits = [*self._renamed(words, here, marks), *found]
        once = {hit.session.id: hit for hit in reversed(hits)}
        shown = [
            hit
            for hit in dict.fromkeys(hit.session.id for hit in hits)
            if marks.get(hit, SessionMark()).archived == archived
        ]
        return [
            SessionHit(self._as_it_is(once[id].session, marks), once[id].entry, once[id].snippet)
            for id in shown[:limit]
        ]

    def _renamed(self, words: str, cwd: str | None, marks: dict[str, SessionMark]) -> list[SessionHit]:
        """Those whose new title has the words: the catalogue knows only what is in journals."""
        query = words.casefold().split()
        titles = {id: mark.title for id, mark in marks.items() if all(word in mark.title.casefold() for word in query)}
        if not any(titles.values()):
            return []
        records = self.catalogue.conversations(cwd, None)
        return [SessionHit(record, "", titles[record.id]) for record in records if titles.get(record.id)]

    def title_of(self, session: str) -> str:
        """The title it was given, or began with; empty: none."""
        return self._marks.all().get(session, SessionMark()).title or self.read(session).header.title

    def rename(self, session: str, title: str) -> None:
        """Another title in lists. UserMistake when it is empty or too long."""
        title = clean_line(title).strip()
        if not title:
            raise UserMistake("the title is empty", "give a short title")
        if len(title) > LONGEST_TITLE:
            raise UserMistake(
                f"the title has {len(title):,} characters, and may have {LONGEST_TITLE}", "give a short title"
            )
        self._marks.change(session, title=title)

    def archive(self, session: str, archived: bool = True) -> None:
        """Leave it out of lists, or no longer."""
        self._marks.change(session, archived=archived)

    def delete(self, session: str) -> None:
        """For good, with its jobs and their output. UserMistake when it is running."""
        if not self.remove(session):
            raise still_running(session)
        self._marks.forget(session)
        self.index.rewrite(lambda jobs: [job for job in jobs.values() if job.session != session])

    def find_conversation(self, text: str, cwd: str) -> str:
        """The session the user means: its id, a beginning that fits only one, or `-` for the last in this folder."""
        if not text:  # the beginning of every id: with one session it would be that one
            raise UserMistake("the id of the session is empty", _WHERE)
        if text == "-":
            last = self.last_in(cwd)
            if last is None:
                raise UserMistake("there is no session in this folder", _WHERE)
            return last
        fitting = [text] if is_session_id(text) else sorted(id for id in self.sessions() if id.startswith(text))
        if len(fitting) > 1:
            raise UserMistake(f"{text} could be any of: {', '.join(fitting[:5])}", "give more of the id")
        if not fitting or not self.folder(fitting[0]).is_dir():
            raise UserMistake(f"no session {text}", _WHERE)
        if not has_entries(self.folder(fitting[0])):
            hint = f"see the output of its commands with `sightline attach {fitting[0]}`; {_WHERE}"
            raise UserMistake(f"session {fitting[0]} has no conversation", hint)
        return fitting[0]

    def reopen(self, session: str, *, whole: bool = False) -> tuple[JournalWriter, SessionTree]:
        """Resume a stored session: its writer and its tree. Busy when its host is running.

        A torn end is cut off, with a notice in the journal. What a killed host left open gets its end: of the last run,
        or with `whole`, and where a job is listed as running or a subagent was, of everything.
        """
        writer = self.writer(session)
        try:
            tree = SessionTree.load(writer.folder)
            if tree.torn_at is not None:
                writer.cut_to(tree.torn_at)
                what = Notice("the last record was cut off when the session ended; it is left out", "warning")
                if writer.append([stamp(what, tree.last_seq + 1, self._clock())]):
                    tree.last_seq, tree.torn_at = tree.last_seq + 1, None
            jobs = self.index.jobs().values()
            agents = agent_states(writer.folder)
            whole = whole or any_running(agents)
            whole = whole or any(job.session == session and job.state == "running" for job in jobs)
            events: Iterable[Event] = self.read(session).events()
            if not whole:
                events = [*agents, *events_of_last_run(writer.folder, tree)]
            if repair(writer, tree, events, stored_calls(writer.folder, self.index)):
                self.index.add(*self.jobs_in(session))
        except BaseException:
            writer.close()
            raise
        return writer, tree

    def last_in(self, cwd: str) -> str | None:
        """The conversation in this folder that changed last."""
        return next((record.id for record in self.conversations(cwd, 1)), None)

    def has_conversation(self, session: str) -> bool:
        return has_entries(self.folder(session))

    def fork(self, session: str, leaf: str = "") -> str:
        """The id of a new session that has everything of this one, or only the path to an entry of it."""
        from sightline.journal.tree._fork import fork

        return fork(self, session, leaf)

    def jobs(self) -> list[JobRecord]:
        """Every stored job, the newest first, as the index has it."""
        if not self.index.exists:
            self.rebuild_index()
        return sorted(self.index.jobs().values(), key=lambda record: record.started, reverse=True)

    def rebuild_index(self) -> None:
        records = [record for session in self.sessions() for record in self.jobs_in(session)]
        if records:
            records.sort(key=lambda record: record.started)
            self.index.rewrite(lambda _: records)

    def jobs_in(self, session: str) -> list[JobRecord]:
        try:
            return list(jobs_of(self.read(session).events()).values())
        except (OSError, UserMistake):
            return []

    def remove(self, session: str) -> bool:
        """Delete a session that is over; false when it is not."""
        try:
            writer = self.writer(session)
        except Busy:
            return False
        except OSError:  # no journal: the remains of one
            writer = None
        import shutil

        shutil.rmtree(self.folder(session), ignore_errors=True)
        if writer is not None:
            writer.close()
        return True

    def _as_it_is(self, record: SessionRecord, marks: dict[str, SessionMark]) -> SessionRecord:
        title = marks.get(record.id, SessionMark()).title or record.title
        return msgspec.structs.replace(record, running=self.is_running(record.id), title=title)

    def no_room(self, error: OSError) -> OutsideFailure:
        room = "free some disk space, or " if error.errno in (errno.ENOSPC, errno.EDQUOT) else ""
        hint = f"{room}choose another folder with SIGHTLINE_HOME"
        return OutsideFailure(f"cannot store a session in {self._sessions}: {error.strerror}", hint)


LONGEST_TITLE = 500
_WHERE = "list all with `sightline sessions`"


def still_running(session: str) -> UserMistake:
    return UserMistake(f"session {session} is running", f"stop it first: sightline stop {session}")


def _not_ours(error: NotOurs) -> OutsideFailure:
    hint = "set SIGHTLINE_HOME to a folder of your own, or remove this one"
    return OutsideFailure(f"the folder for sessions belongs to another user: {error.filename}", hint)


def _changed(entry: "os.DirEntry[str]") -> float:
    try:
        return entry.stat().st_ctime
    except OSError:
        return 0.0
