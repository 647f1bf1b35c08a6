"""The output of a job, an agent's call or a recorded call: as rows, as text or byte for byte.

The output of a call that wrote none is what it returned.
"""

import re
from collections.abc import AsyncIterator, Mapping
from contextlib import closing

import msgspec
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from sightline.journal import Store, is_job_id, session_of
from sightline.transcript import TranscriptCall
from sightline.views.web._sse import rows_json
from sightline.views.web.api._bodies import DownloadBody, EmptyBody, FoundBody
from sightline.views.web.api._download import download
from sightline.views.web.api._reading import RequestRefused, body, json_answer, number
from sightline.views.web.api._tickets import Tickets
from sightline.views.web.page._catalog import Catalog
from sightline.views.web.page._recordings import Recording
from sightline.views.web.page._watch import Watches
from sightline.views.web.rows._row_cache import RowCache
from sightline.views.web.rows._rows import FixedRows, text_of

_MOST_ROWS = 500
_MOST_FOUND = 5000
_LONGEST_SEARCH = 1000
_TEXT = "text/plain; charset=utf-8"
_TEXT_CAP = 8 * 1024 * 1024

_recorded_call = re.compile(r"(r[1-9][0-9]*)-([0-9]{1,9})").fullmatch


class _Output(msgspec.Struct, frozen=True):
    """Where a call's output is: in its artifact, or (`fixed`) in the fold of its session."""

    id: str
    finished: bool = True
    fixed: FixedRows | None = None
    deleted: bool = False


class OutputApi:
    def __init__(
        self, store: Store, catalog: Catalog, watches: Watches, cache: RowCache, recordings: Mapping[str, Recording]
    ) -> None:
        self._store, self._catalog, self._watches, self._cache = store, catalog, watches, cache
        self._recordings = recordings
        self.tickets = Tickets()

    async def rows(self, request: Request) -> Response:
        first, count = number(request, "first", 0), number(request, "count", _MOST_ROWS, _MOST_ROWS)
        output = await self._output(request)
        if output.deleted:
            return _rows(0, first, [], deleted=True)
        if output.fixed is not None:
            return _rows(output.fixed.total, first, output.fixed.read(first, count))
        with self._cache.rows(output.id, finished=output.finished) as rows:
            await rows.catch_up()
            found = await rows.read(first, count)
            return _rows(rows.total, first, found)

    async def find(self, request: Request) -> Response:
        text = request.query_params.get("text", "")
        first, limit = number(request, "first", 0), number(request, "limit", _MOST_ROWS, _MOST_FOUND)
        if not text or not limit:
            raise RequestRefused(400, "no search text", "give text and a limit")
        if len(text) > _LONGEST_SEARCH:
            raise RequestRefused(400, "the search text is too long", f"give at most {_LONGEST_SEARCH} characters")
        output = await self._output(request)
        if output.deleted:
            return json_answer(FoundBody([], False, first))
        if output.fixed is not None:
            found = output.fixed.find(text, first, limit)
        else:
            with self._cache.rows(output.id, finished=output.finished) as rows:
                await rows.catch_up()
                found = await rows.find(text, first, limit)
        return json_answer(FoundBody(found.rows, found.more, found.next))

    async def text(self, request: Request) -> Response:
        output = await self._output(request)
        if output.deleted:
            return Response(b"", headers=_text_headers(0), media_type=_TEXT)
        if output.fixed is not None:
            return Response(output.fixed.text(), headers=_text_headers(0), media_type=_TEXT)
        with self._cache.rows(output.id, finished=output.finished) as rows:
            await rows.catch_up()
            first, cut = await rows.last_part(_TEXT_CAP)
        source = self._text_from(output, first)
        return StreamingResponse(source, headers=_text_headers(cut), media_type=_TEXT)

    async def artifact(self, request: Request) -> Response:
        id = await self._with_artifact(request)
        return download(request, self._store.artifact(id), id)

    async def ticket(self, request: Request) -> Response:
        """An address under which a browser can get the artifact by itself, once."""
        await body(request, EmptyBody)
        path = f"/api/jobs/{await self._with_artifact(request)}/artifact"
        return json_answer(DownloadBody(f"{path}?ticket={self.tickets.issue(path)}"), 201)

    async def _with_artifact(self, request: Request) -> str:
        id: str = request.path_params["id"]
        if _recorded_call(id) is not None or (await self._catalog.job(id) is None and await self._call(id) is None):
            raise no_job(id)
        with closing(self._store.artifact(id)) as reader:
            if reader.missing:
                raise RequestRefused(404, f"the output of {id} was deleted")
        return id

    async def _text_from(self, output: _Output, first: int) -> AsyncIterator[bytes]:
        with self._cache.rows(output.id, finished=output.finished) as rows:
            while found := await rows.read(first, _MOST_ROWS):
                first += len(found)
                yield "".join([text_of(row) + "\n" for row in found]).encode()

    async def _output(self, request: Request) -> _Output:
        id = request.path_params["id"]
        recorded = self._recorded(id)
        if recorded is not None:
            return _Output(id, fixed=recorded)
        job = await self._catalog.job(id)
        if job is not None:
            return self._stored(id, finished=job.state != "running")
        found = await self._call(id)
        if found is None:
            raise no_job(id)
        call, live = found
        if call.content is not None and self._cache.missing(id):
            return _Output(id, fixed=self._cache.result(call))
        return self._stored(id, finished=call.content is not None or not live)

    def _stored(self, id: str, *, finished: bool) -> _Output:
        if not finished or not self._cache.missing(id):
            return _Output(id, finished)
        self._cache.forget(id)
        return _Output(id, deleted=True)

    async def _call(self, id: str) -> tuple[TranscriptCall, bool] | None:
        """An agent's call that is no job, and whether its session is live."""
        session = session_of(id) if is_job_id(id) else ""
        if not session or not self._store.folder(session).is_dir():
            return None
        async with self._watches.known(session) as watch:
            call = watch.call(id)
            return None if call is None else (call, watch.live)

    def _recorded(self, id: str) -> FixedRows | None:
        match = _recorded_call(id)
        recording = self._recordings.get(match[1]) if match is not None else None
        if match is None or recording is None:
            return None
        rows = recording.rows(int(match[2]))
        if rows is None:
            raise RequestRefused(404, f"no call {id}", f"see /api/sessions/{recording.id}")
        return rows


def no_job(id: str) -> RequestRefused:
    return RequestRefused(404, f"no job {id}", "see /api/jobs")


def _rows(total: int, first: int, rows: list[bytes], *, deleted: bool = False) -> Response:
    mark = {"deleted": True} if deleted else {}
    return Response(rows_json(rows, total=total, first=first, **mark), media_type="application/json")


def _text_headers(cut: int) -> dict[str, str]:
    return {"x-sightline-cut": str(cut)}
