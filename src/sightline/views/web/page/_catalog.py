"""The list of sessions and jobs, and noticing that it changed.

While there is a listener, five times a second these are compared with the last time: size and time of the job index and
of the folder of sessions, which sessions run, and the size of conversations without a title. Only when one of these, or
the state of an agent as its host reports it, has changed is anything read.
"""

import asyncio
import re
import time
from collections.abc import Callable
from contextlib import closing

import msgspec

from sightline.exceptions import SightlineError
from sightline.host import is_lost, stored_jobs
from sightline.journal import JobRecord, JournalHeader, SessionHit, SessionRecord, Store, is_job_id, session_of
from sightline.text import clean_line
from sightline.views._names import folder_name, session_folder, title_of
from sightline.views.web.api._bodies import HitBody, JobBody, SessionBody, SessionHits, SessionList
from sightline.views.web.page._endings import SessionEndings
from sightline.views.web.page._hosts import Hosts, HostStanding, mark_of
from sightline.views.web.page._recordings import Recording

LISTED = 200
_MAY_BE_EMPTY = 50  # newest sessions: one without any message yet is among them
_SECONDS_BETWEEN_LOOKS = 0.2
_IDLE_SHARE = 10  # a look that took long is followed by a rest this many times as long


_UNSEEN = object()


class _Shown(msgspec.Struct):
    """What a listener shows: a session, whether as ended, and the mark of its journal at the last look."""

    session: str
    is_over: Callable[[], bool]
    mark: object = _UNSEEN


class Catalog:
    def __init__(self, store: Store, recordings: list[Recording]) -> None:
        self._store = store
        self._sessions = store.folder("")
        self._path = self._sessions.parent / "jobs.jsonl"
        self._titles = self._sessions.parent / "titles.json"  # and which sessions are archived
        self._recordings = recordings
        self._headers: dict[str, JournalHeader] = {}
        self._seen: object = None
        self._hosts = Hosts(store)
        self._endings = SessionEndings(store)
        self._running: set[str] = set()
        self._agents: set[str] = set()  # of those that run: with an agent
        self._untitled: set[str] = set()  # conversations without any message yet
        self._conversations: dict[str, SessionRecord] = {}
        self._archived: set[str] = set()
        self._listeners: dict[Callable[[], None], _Shown] = {}
        self._polling: asyncio.Task[None] | None = None
        self._lock = asyncio.Lock()
        self.jobs: dict[str, JobRecord] = {}  # the newest first
        self.encoded = b""

    def listen(
        self, listener: Callable[[], None], session: str = "", is_over: Callable[[], bool] = lambda: False
    ) -> None:
        """`session`: the one that is shown; `is_over`: whether it is shown as ended. When it is resumed, however
        briefly, its listener is called."""
        self._listeners[listener] = _Shown(session, is_over)
        if self._polling is None:
            self._polling = asyncio.ensure_future(self._poll())

    def leave(self, listener: Callable[[], None]) -> None:
        self._listeners.pop(listener, None)
        if not self._listeners:
            self.close()

    def close(self) -> None:
        if self._polling is not None:
            self._polling.cancel()
            self._polling = None
        self._hosts.close()

    async def refresh(self) -> None:
        """Read the index again if it changed."""
        async with self._lock:
            seen = self._signature()
            if seen == self._seen and self.encoded:
                return
            listed = await asyncio.to_thread(self._read)
            self._seen = seen
            encoded = msgspec.json.encode(listed)
            if encoded != self.encoded:
                self.encoded = encoded
                for listener in list(self._listeners):
                    listener()

    def invalidate(self) -> None:
        """Something was started that no file shows yet: read everything at the next refresh."""
        self._seen = None

    async def query_hosts(self) -> None:
        """Have the current state of the hosts, unless they were queried a moment ago."""
        self._hosts.look(self._agents)
        await self._hosts.answers()

    async def job(self, id: str) -> JobRecord | None:
        """A job by its id; None for anything else."""
        if not (is_job_id(id) and session_of(id)):
            return None
        await self.refresh()
        return self.jobs.get(id)

    def listed(self, limit: int) -> SessionList:
        """Those with the newest jobs, and conversations, in order. Recordings were named by the user and come first."""
        jobs = list(self.jobs.values())
        by_session: dict[str, list[JobRecord]] = {}
        for job in jobs[:limit]:
            by_session.setdefault(job.session, []).append(job)
        for id in self._conversations:
            by_session.setdefault(id, [])
        sessions = [self._session(id, found, self._conversations.get(id)) for id, found in by_session.items()]
        sessions.sort(key=_place)
        return SessionList(
            [*(recording.listed for recording in self._recordings), *sessions], max(len(jobs) - limit, 0)
        )

    def search(self, words: str, limit: int) -> SessionHits:
        """As the console and `sightline sessions` search; what is archived comes last."""
        found = [
            self._hit(hit, archived=archived)
            for archived in (False, True)
            for hit in self._store.search(words, limit=limit, archived=archived)
        ]
        return SessionHits(found[:limit])

    def _hit(self, hit: SessionHit, *, archived: bool) -> HitBody:
        jobs = [job for job in self.jobs.values() if job.session == hit.session.id]
        session = msgspec.structs.replace(self._session(hit.session.id, jobs, hit.session), archived=archived)
        return HitBody(session, [clean_line(part) for part in re.split("[\x02\x03]", hit.snippet)])

    def body(self, job: JobRecord) -> JobBody:
        running = job.state == "running"
        return JobBody(
            id=job.id,
            session=job.session,
            command=job.command,
            cwd=job.cwd,
            state=job.state,
            exit_code=job.exit_code,
            started=job.started,
            elapsed=max(time.time() - job.started, 0.0) if running else job.duration or 0.0,
            bytes=self._size(job.id) if running else job.bytes,
            pty=job.pty,
        )

    async def _poll(self) -> None:
        while True:
            began = time.monotonic()
            await self.refresh()
            self._notice_resumed()
            self._hosts.look(self._agents)
            await asyncio.sleep(max(_SECONDS_BETWEEN_LOOKS, _IDLE_SHARE * (time.monotonic() - began)))

    def _notice_resumed(self) -> None:
        """What has ended does not grow unless it is resumed. One that ended and was resumed between two looks has run
        all the time as far as the list knows."""
        for listener, shown in list(self._listeners.items()):
            if shown.session in self._running:
                if shown.is_over():
                    listener()
            elif shown.session:
                mark, before = mark_of(self._sessions / shown.session / "journal.jsonl"), shown.mark
                shown.mark = mark
                if before not in (_UNSEEN, mark):
                    listener()

    def _signature(self) -> object:
        shown = [each.session for each in self._listeners.values()]
        looked_at = {session for session in (*self._running, *shown) if session}
        grown = [mark_of(self._sessions / session / "journal.jsonl") for session in sorted(self._untitled)]
        running = [self._store.is_running(session) for session in sorted(looked_at)]
        files = [mark_of(path) for path in (self._path, self._sessions, self._titles)]
        return files, grown, running, self._hosts.standings

    def _read(self) -> SessionList:
        self.jobs = {job.id: job for job in stored_jobs(self._store)}
        # Without a file of titles nothing is archived; asking would read every conversation there is.
        archived = self._store.conversations(limit=LISTED, archived=True) if self._titles.exists() else []
        self._archived = {record.id for record in archived}
        listed = [*self._store.conversations(limit=LISTED), *archived]
        self._conversations = {record.id: record for record in listed}
        known = {*self._conversations, *(job.session for job in self.jobs.values())}
        newest = [id for id in self._store.sessions()[:_MAY_BE_EMPTY] if id not in known]
        self._untitled = {id for id in newest if self._store.is_running(id)}
        self._conversations.update({id: self._begun(id) for id in self._untitled})
        sessions = self.listed(LISTED)
        running = [session for session in sessions.sessions if session.state == "running"]
        self._running = {session.id for session in running}
        self._agents = {session.id for session in running if session.agent}
        return sessions

    def _begun(self, id: str) -> SessionRecord:
        header = self._header(id)
        return SessionRecord(id=id, cwd=header.cwd, provider=clean_line(header.provider), running=True)

    def _session(self, id: str, jobs: list[JobRecord], talk: SessionRecord | None) -> SessionBody:
        header = self._header(id)
        jobs = sorted(jobs, key=lambda job: job.started)
        title = title_of(talk) if talk is not None else ""
        running = self._store.is_running(id)
        standing = self._hosts.of(id) if running else HostStanding()
        cwd = header.cwd or (jobs[0].cwd if jobs else "")
        return SessionBody(
            id=id,
            kind="session",
            title=title or header.title or (jobs[0].command if jobs else ""),
            cwd=cwd,
            state="running" if running else "lost" if is_lost(self._store, id) else "ended",
            started=header.created or (jobs[0].started if jobs else 0.0),
            jobs=[self.body(job) for job in jobs],
            agent=talk is not None,
            busy=standing.busy,
            waiting=standing.waiting,
            archived=id in self._archived,
            changed=max([header.created, talk.changed if talk is not None else 0.0, *map(_changed, jobs)]),
            fork_of=clean_line(header.parent_session),
            folder=folder_name(cwd) if talk is None else session_folder(self._store, talk),
            provider=talk.provider if talk is not None else "",
            ending="" if talk is None or running else self._endings.of(id),
        )

    def _header(self, session: str) -> JournalHeader:
        if session not in self._headers:
            try:
                self._headers[session] = self._store.read(session).header
            except (OSError, SightlineError):
                return JournalHeader(session)
        return self._headers[session]

    def _size(self, job: str) -> int:
        with closing(self._store.artifact(job)) as reader:
            return reader.size


def _changed(job: JobRecord) -> float:
    return job.started + (job.duration or 0.0)


def _place(session: SessionBody) -> tuple[int, float]:
    """What waits for the user comes first, then what works, then what changed last."""
    works = session.busy or any(job.state == "running" for job in session.jobs)
    return (0 if session.waiting else 1 if works else 2), -session.changed
