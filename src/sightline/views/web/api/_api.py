"""The endpoints of the HTTP API. Who may use them was decided before a request comes here."""

import asyncio
from itertools import islice
from pathlib import Path

from starlette.requests import Request
from starlette.responses import Response

from sightline.host import CancelCall, CancelJob
from sightline.journal import JobRecord, Store, artifact_file, is_job_id, is_session_id, session_of
from sightline.secrets import Secrets
from sightline.text import clean_line
from sightline.views.web._sse import EventStreamResponse
from sightline.views.web.api._agents import AgentApi
from sightline.views.web.api._bodies import CancelBody, CancelledBody, JobList, StartBody, Started
from sightline.views.web.api._feed import Feed
from sightline.views.web.api._output import OutputApi, no_job
from sightline.views.web.api._reading import RequestRefused, after, body, json_answer, number
from sightline.views.web.api._session_commands import SessionCommands
from sightline.views.web.api._start import spec_of, start_in, start_session, submit
from sightline.views.web.page._catalog import LISTED, Catalog
from sightline.views.web.page._mail import last_mail, whole_mail
from sightline.views.web.page._page import PageTab, list_only, recording_page
from sightline.views.web.page._recordings import Recording
from sightline.views.web.page._watch import Watches
from sightline.views.web.rows._row_cache import RowCache

_MOST_JOBS = 1000
_MOST_FOUND = 200
_LONGEST_SEARCH = 500
_LOOKS_FOR_A_JOB = 200
_SECONDS_BETWEEN_LOOKS = 0.01
_IMAGE_CAP = 20 * 1024 * 1024
# What a browser draws and cannot run: an SVG may hold a script.
_IMAGE_TYPES = frozenset(("image/png", "image/jpeg", "image/gif", "image/webp"))


class Api:
    def __init__(self, store: Store, recordings: list[Recording], secrets: Secrets) -> None:
        """`secrets`: values that are masked in every output."""
        self._store = store
        self._recordings = {recording.id: recording for recording in recordings}
        self._catalog = Catalog(store, recordings)
        self._watches = Watches(store)
        self._cache = RowCache(store, secrets)
        self.outputs = OutputApi(store, self._catalog, self._watches, self._cache, self._recordings)
        self.agents = AgentApi(store, self._catalog, self._known_session)
        self.commands = SessionCommands(store, self._catalog, self._known_session)

    def close(self) -> None:
        self._catalog.close()
        self._watches.close()
        self._cache.close()

    async def sessions(self, request: Request) -> Response:
        await self._catalog.refresh()
        await self._catalog.query_hosts()
        limit = number(request, "limit", LISTED, _MOST_JOBS)
        return json_answer(await asyncio.to_thread(self._catalog.listed, limit))

    async def search(self, request: Request) -> Response:
        words, limit = request.query_params.get("text", ""), number(request, "limit", _MOST_FOUND, _MOST_FOUND)
        if len(words) > _LONGEST_SEARCH:
            raise RequestRefused(400, "the text is too long", f"give at most {_LONGEST_SEARCH} characters")
        await self._catalog.refresh()
        return json_answer(await asyncio.to_thread(self._catalog.search, words, limit))

    async def session(self, request: Request) -> Response:
        id = request.path_params["id"]
        if id in self._recordings:
            return json_answer(self._recordings[id].snapshot)
        async with self._watches.known(self._known_session(id)) as watch:
            return json_answer(watch.now)

    async def mail(self, request: Request) -> Response:
        """The last messages between its agents, or those before one."""
        given = request.query_params.get("before")
        before = None if given is None else number(request, "before", 0)
        async with self._watches.known(self._known_session(request.path_params["id"])) as watch:
            return json_answer(last_mail(watch.now, before))

    async def one_mail(self, request: Request) -> Response:
        session, id = self._known_session(request.path_params["id"]), request.path_params["mail"]
        async with self._watches.known(session) as watch:
            found = whole_mail(watch.now, id)
        if found is None:
            raise RequestRefused(404, f"no message {clean_line(id)} in session {session}")
        return json_answer(found)

    async def events(self, request: Request) -> Response:
        id = request.path_params["id"]
        if id in self._recordings:
            raise RequestRefused(409, "a recording has no stream of events", f"see /api/sessions/{id}")
        return EventStreamResponse(Feed(self._watches, self._known_session(id), after(request)).events())

    async def page(self, request: Request) -> Response:
        id = request.query_params.get("session", "")
        if id in self._recordings:
            return EventStreamResponse(recording_page(self._catalog, self._recordings[id]))
        if not id:
            return EventStreamResponse(list_only(self._catalog))
        if not is_session_id(id):
            raise _no_session(id)
        return EventStreamResponse(PageTab(self._catalog, self._watches, self._cache, id, after(request)).events())

    async def start(self, request: Request) -> Response:
        spec = spec_of(await body(request, StartBody))
        return await self._started(await start_session(spec))

    async def start_in(self, request: Request) -> Response:
        session = self._known_session(request.path_params["id"])
        spec = spec_of(await body(request, StartBody))
        return await self._started(await start_in(self._store, session, spec))

    async def jobs(self, request: Request) -> Response:
        """The newest, or those before one."""
        await self._catalog.refresh()
        limit, before = number(request, "limit", LISTED, _MOST_JOBS), request.query_params.get("before")
        jobs = iter(self._catalog.jobs.values())
        if before is not None:
            if before not in self._catalog.jobs:
                raise no_job(before)
            next(job for job in jobs if job.id == before)
        found = [self._catalog.body(job) for job in islice(jobs, limit)]
        return json_answer(JobList(found, next(jobs, None) is not None))

    async def job(self, request: Request) -> Response:
        return json_answer(self._catalog.body(await self._known_job(request.path_params["id"])))

    async def cancel(self, request: Request) -> Response:
        """Cancel a job, or a running call of an agent."""
        id = request.path_params["id"]
        force = (await body(request, CancelBody)).force
        if is_job_id(id) and await self._catalog.job(id) is None and self._store.is_running(session_of(id)):
            await submit(self._store, session_of(id), CancelCall(id))
            return json_answer(CancelledBody(id), 202)
        job = await self._known_job(id)
        if job.state != "running":
            raise RequestRefused(409, f"job {job.id} has already ended")
        await submit(self._store, job.session, CancelJob(job.id, force))
        return json_answer(CancelledBody(job.id), 202)

    async def picture(self, request: Request) -> Response:
        """An image stored with a session, recognised by its bytes, never by its name."""
        session, name = self._known_session(request.path_params["id"]), request.path_params["name"]
        path = artifact_file(self._store.folder(session), name)
        data = await asyncio.to_thread(_read_image, path) if path is not None else b""
        kind = _media_type(data)
        if not kind:
            raise RequestRefused(404, f"no image {name} in session {session}")
        return Response(data, media_type=kind)

    async def _started(self, started: Started) -> Response:
        """Respond when the job is listed: a host accepts a command a moment before that."""
        for _ in range(_LOOKS_FOR_A_JOB):
            if await self._catalog.job(started.job) is not None:
                break
            await asyncio.sleep(_SECONDS_BETWEEN_LOOKS)
        return json_answer(started, 201)

    def _known_session(self, id: str) -> str:
        if not is_session_id(id) or not self._store.folder(id).is_dir():
            raise _no_session(id)
        return id

    async def _known_job(self, id: str) -> JobRecord:
        job = await self._catalog.job(id)
        if job is None:
            raise no_job(id)
        return job


def _no_session(id: str) -> RequestRefused:
    return RequestRefused(404, f"no session {id}", "see /api/sessions")


def _read_image(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            data = file.read(_IMAGE_CAP + 1)
    except OSError:
        return b""
    return data if len(data) <= _IMAGE_CAP else b""


def _media_type(data: bytes) -> str:
    from sightline.tools.images import sniff

    facts = sniff(data)
    return facts.media_type if facts is not None and facts.media_type in _IMAGE_TYPES else ""
