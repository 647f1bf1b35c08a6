"""What is asked over HTTP and what is answered. Who may ask has been decided before it comes here."""

import asyncio
import re
from collections.abc import AsyncIterator
from itertools import islice

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sightline.events import Event
from sightline.host import Cancel
from sightline.journal import JobRecord, Store, is_job_id, is_session_id, session_of
from sightline.views.web._asked import Refused, after, body, json_answer, number
from sightline.views.web._bodies import CancelBody, Cancelled, FoundBody, JobList, StartBody, Started
from sightline.views.web._catalog import LISTED, Catalog
from sightline.views.web._download import download
from sightline.views.web._feed import Feed
from sightline.views.web._page import Page, list_only, recording_page
from sightline.views.web._recordings import Recording
from sightline.views.web._rows import FixedRows, text_of
from sightline.views.web._shelf import Shelf
from sightline.views.web._sse import EventStreamResponse, rows_json
from sightline.views.web._start import spec_of, start_in, start_session, submit
from sightline.views.web._watch import Watches

_MOST_ROWS = 500
_MOST_FOUND = 5000
_LONGEST_SEARCH = 1000
_TEXT_CAP = 8 * 1024 * 1024
_MOST_JOBS = 1000
_LOOKS_FOR_A_JOB = 200
_SECONDS_BETWEEN_LOOKS = 0.01

_recorded_call = re.compile(r"(r[1-9][0-9]*)-([0-9]{1,9})").fullmatch


class Api:
    """The answers, and what they are made from."""

    def __init__(self, store: Store, recordings: list[Recording]) -> None:
        self._store = store
        self._recordings = {recording.id: recording for recording in recordings}
        self._catalog = Catalog(store, recordings)
        self._watches = Watches(store)
        self._shelf = Shelf(store)

    def close(self) -> None:
        self._catalog.close()
        self._watches.close()
        self._shelf.close()

    async def sessions(self, request: Request) -> Response:
        await self._catalog.refresh()
        limit = number(request, "limit", LISTED, _MOST_JOBS)
        return json_answer(await asyncio.to_thread(self._catalog.listed, limit))

    async def session(self, request: Request) -> Response:
        id = request.path_params["id"]
        if id in self._recordings:
            return json_answer(self._recordings[id].snapshot)
        listener = _Nobody()
        watch = self._watches.join(self._known_session(id), listener)
        try:
            await watch.known.wait()
            return json_answer(watch.now)
        finally:
            self._watches.leave(watch, listener)

    async def events(self, request: Request) -> Response:
        id = request.path_params["id"]
        if id in self._recordings:
            raise Refused(409, "a recording has no events any more", f"see /api/sessions/{id}")
        return EventStreamResponse(Feed(self._watches, self._known_session(id), after(request)).events())

    async def page(self, request: Request) -> Response:
        id = request.query_params.get("session", "")
        if id in self._recordings:
            return EventStreamResponse(recording_page(self._catalog, self._recordings[id]))
        if not id:
            return EventStreamResponse(list_only(self._catalog))
        if not is_session_id(id):
            raise Refused(404, f"no session {id}", "see /api/sessions")
        return EventStreamResponse(Page(self._catalog, self._watches, self._shelf, id, after(request)).events())

    async def start(self, request: Request) -> Response:
        spec = spec_of(await body(request, StartBody))
        return await self._started(await start_session(spec))

    async def start_in(self, request: Request) -> Response:
        session = self._known_session(request.path_params["id"])
        spec = spec_of(await body(request, StartBody))
        return await self._started(await start_in(session, spec))

    async def jobs(self, request: Request) -> Response:
        """The newest, or those before one."""
        await self._catalog.refresh()
        limit, before = number(request, "limit", LISTED, _MOST_JOBS), request.query_params.get("before")
        jobs = iter(self._catalog.jobs.values())
        if before is not None:
            if before not in self._catalog.jobs:
                raise Refused(404, f"no job {before}", "see /api/jobs")
            next(job for job in jobs if job.id == before)
        found = [self._catalog.body(job) for job in islice(jobs, limit)]
        return json_answer(JobList(found, next(jobs, None) is not None))

    async def job(self, request: Request) -> Response:
        return json_answer(self._catalog.body(await self._known_job(request.path_params["id"])))

    async def cancel(self, request: Request) -> Response:
        job = await self._known_job(request.path_params["id"])
        force = (await body(request, CancelBody)).force
        if job.state != "running":
            raise Refused(409, f"job {job.id} has already ended")
        await submit(job.session, Cancel(job.id, force))
        return json_answer(Cancelled(job.id), 202)

    async def artifact(self, request: Request) -> Response:
        job = await self._known_job(request.path_params["id"])
        reader = self._store.artifact(job.id)
        if reader.missing:
            raise Refused(404, f"the output of {job.id} was deleted")
        return download(request, reader, job.id)

    async def rows(self, request: Request) -> Response:
        id = request.path_params["id"]
        first, count = number(request, "first", 0), number(request, "count", _MOST_ROWS, _MOST_ROWS)
        recorded = self._recorded(id)
        if recorded is not None:
            return _rows(recorded.total, first, recorded.read(first, count))
        job = await self._known_job(id)
        if self._deleted(job):
            return _rows(0, first, [], deleted=True)
        with self._shelf.rows(id, finished=job.state != "running") as rows:
            await rows.catch_up()
            found = await rows.read(first, count)
            return _rows(rows.total, first, found)

    async def find(self, request: Request) -> Response:
        id, text = request.path_params["id"], request.query_params.get("text", "")
        first, limit = number(request, "first", 0), number(request, "limit", _MOST_ROWS, _MOST_FOUND)
        if not text or not limit:
            raise Refused(400, "there is nothing to look for", "give text and a limit")
        if len(text) > _LONGEST_SEARCH:
            raise Refused(400, "that is too long to look for", f"give at most {_LONGEST_SEARCH} characters")
        recorded = self._recorded(id)
        if recorded is not None:
            found = recorded.find(text, first, limit)
            return json_answer(FoundBody(found.rows, found.more, found.next))
        job = await self._known_job(id)
        if self._deleted(job):
            return json_answer(FoundBody([], False, first))
        with self._shelf.rows(id, finished=job.state != "running") as rows:
            await rows.catch_up()
            found = await rows.find(text, first, limit)
        return json_answer(FoundBody(found.rows, found.more, found.next))

    async def text(self, request: Request) -> Response:
        id = request.path_params["id"]
        recorded = self._recorded(id)
        if recorded is not None:
            return _text(recorded.text().encode(), 0)
        job = await self._known_job(id)
        if self._deleted(job):
            return _text(b"", 0)
        finished = job.state != "running"
        with self._shelf.rows(id, finished=finished) as rows:
            await rows.catch_up()
            first, cut = await rows.last_part(_TEXT_CAP)
        source = self._text_from(id, first, finished=finished)
        return StreamingResponse(source, headers=_text_headers(cut), media_type="text/plain; charset=utf-8")

    async def _started(self, started: Started) -> Response:
        """Answer when the job can be asked about: a host accepts a command a moment before it lists it."""
        for _ in range(_LOOKS_FOR_A_JOB):
            if await self._catalog.job(started.job) is not None:
                break
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        return json_answer(started, 201)

    async def _text_from(self, job: str, first: int, *, finished: bool) -> AsyncIterator[bytes]:
        with self._shelf.rows(job, finished=finished) as rows:
            while found := await rows.read(first, _MOST_ROWS):
                first += len(found)
                yield "".join([text_of(row) + "\n" for row in found]).encode()

    def _known_session(self, id: str) -> str:
        if not is_session_id(id) or not self._store.folder(id).is_dir():
            raise Refused(404, f"no session {id}", "see /api/sessions")
        return id

    async def _known_job(self, id: str) -> JobRecord:
        job = await self._catalog.job(id) if is_job_id(id) and session_of(id) else None
        if job is None:
            raise Refused(404, f"no job {id}", "see /api/jobs")
        return job

    def _recorded(self, id: str) -> FixedRows | None:
        match = _recorded_call(id)
        recording = self._recordings.get(match[1]) if match is not None else None
        if match is None or recording is None:
            return None
        rows = recording.rows(int(match[2]))
        if rows is None:
            raise Refused(404, f"no call {id}", f"see /api/sessions/{recording.id}")
        return rows

    def _deleted(self, job: JobRecord) -> bool:
        if job.state == "running" or not self._shelf.missing(job.id):
            return False
        self._shelf.forget(job.id)
        return True


class _Nobody:
    """Joins a watch to see its state once."""

    def happened(self, events: list[Event]) -> None: ...
    def replaced(self) -> None: ...
    def over(self) -> None: ...


def _rows(total: int, first: int, rows: list[bytes], *, deleted: bool = False) -> Response:
    said = {"deleted": True} if deleted else {}
    return Response(rows_json(rows, total=total, first=first, **said), media_type="application/json")


def _text(data: bytes, cut: int) -> Response:
    return Response(data, headers=_text_headers(cut), media_type="text/plain; charset=utf-8")


def _text_headers(cut: int) -> dict[str, str]:
    return {"x-sightline-cut": str(cut)}
