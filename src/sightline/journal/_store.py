"""Everything that is kept, in one folder: a folder per session, and the index of jobs."""

import fcntl
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal._artifact import ArtifactReader
from sightline.journal._ids import is_session_id, new_session_id, session_of
from sightline.journal._index import JobIndex, JobRecord
from sightline.journal._jobs import jobs_of
from sightline.journal._reader import KeptSession
from sightline.journal._record import Header
from sightline.journal._writer import Busy, JournalWriter, artifact_path
from sightline.text import clean_line


class Store:
    """The kept sessions below one folder."""

    def __init__(self, folder: Path, clock: Callable[[], float] = time.time) -> None:
        self._sessions = folder / "sessions"
        self._clock = clock
        self.index = JobIndex(folder / "jobs.jsonl")

    def create(self, *, cwd: str = "", title: str = "") -> JournalWriter:
        """A new session and its writer."""
        while True:
            folder = self.folder(new_session_id())
            try:
                folder.mkdir(mode=0o700, parents=True)
                break
            except FileExistsError:
                continue
            except OSError as error:
                raise self._no_room(error) from error
        try:
            # A folder's name need not be text; what is told of it must be.
            return JournalWriter(folder, Header(folder.name, clean_line(cwd), title, self._clock()))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise self._no_room(error) from error

    def folder(self, session: str) -> Path:
        return self._sessions / session

    def writer(self, session: str) -> JournalWriter:
        """Go on with a kept session. Busy when its host is running."""
        return JournalWriter(self.folder(session))

    def is_running(self, session: str) -> bool:
        """Whether somebody is writing it. Asked of the lock, which cannot outlive its holder."""
        try:
            fd = os.open(self.folder(session) / "journal.jsonl", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return False
        try:
            fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except OSError:
            return True
        finally:
            os.close(fd)
        return False

    def read(self, session: str) -> KeptSession:
        if not (self.folder(session) / "journal.jsonl").exists():
            raise UserMistake(f"no session {session}", "see `sightline ps` and `sightline jobs`")
        return KeptSession(self.folder(session))

    def artifact(self, job: str) -> ArtifactReader:
        return ArtifactReader(artifact_path(self.folder(session_of(job)), job))

    def sessions(self) -> list[str]:
        """The ids of all sessions, those that began last first."""
        try:
            entries = [entry for entry in os.scandir(self._sessions) if is_session_id(entry.name)]
        except OSError:
            return []
        return [entry.name for entry in sorted(entries, key=_changed, reverse=True)]

    def jobs(self) -> list[JobRecord]:
        """Every job that is kept, the newest first, as the index has it."""
        if not self.index.exists:
            self.rebuild_index()
        return sorted(self.index.jobs().values(), key=lambda record: record.started, reverse=True)

    def rebuild_index(self) -> None:
        """Read it back out of the journals."""
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
        shutil.rmtree(self.folder(session), ignore_errors=True)
        if writer is not None:
            writer.close()
        return True

    def _no_room(self, error: OSError) -> OutsideFailure:
        hint = "make room there, or choose another folder with SIGHTLINE_HOME"
        return OutsideFailure(f"cannot keep a session in {self._sessions}: {error.strerror}", hint)


def _changed(entry: "os.DirEntry[str]") -> float:
    try:
        return entry.stat().st_ctime
    except OSError:
        return 0.0
