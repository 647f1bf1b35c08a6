"""The list of stored sessions: search, end, rename, archive and delete them.

Rules:

- The checks are those of `sightline stop` and `sightline sessions`: a title, archiving and deleting are for sessions
  with a conversation, and a session that runs is not deleted.
- A session is named by its whole id. Deleting is confirmed by the page, which names the title.
"""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sightline.exceptions import OutsideFailure, UserMistake
from sightline.host import Stop
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views.web.api._bodies import Accepted, ArchiveBody, EmptyBody, RenameBody
from sightline.views.web.api._reading import RequestRefused, body, json_answer, number
from sightline.views.web.api._start import submit
from sightline.views.web.page._catalog import Catalog

_LONGEST_TITLE = 500
_LONGEST_SEARCH = 500
_MOST_FOUND = 200


class ListApi:
    """`known` returns the id of a stored session, or refuses it."""

    def __init__(self, store: Store, catalog: Catalog, known: Callable[[str], str]) -> None:
        self._store = store
        self._catalog = catalog
        self._known = known

    async def search(self, request: Request) -> Response:
        words, limit = request.query_params.get("text", ""), number(request, "limit", _MOST_FOUND, _MOST_FOUND)
        if len(words) > _LONGEST_SEARCH:
            raise RequestRefused(400, "the text is too long", f"give at most {_LONGEST_SEARCH} characters")
        await self._catalog.refresh()
        return json_answer(await asyncio.to_thread(self._catalog.search, words, limit))

    async def stop(self, request: Request) -> Response:
        await body(request, EmptyBody)
        session = self._known(request.path_params["id"])
        try:
            await submit(self._store, session, Stop(), "it has ended already")
        except OutsideFailure:
            pass  # it ended before it could reply
        return json_answer(Accepted(session), 202)

    async def rename(self, request: Request) -> Response:
        title = clean_line((await body(request, RenameBody)).title).strip()
        if not title or len(title) > _LONGEST_TITLE:
            raise RequestRefused(400, "the title is too long" if title else "the title is empty", "give a short title")
        return await self._done(request, lambda session: self._store.rename(session, title))

    async def archive(self, request: Request) -> Response:
        archived = (await body(request, ArchiveBody)).archived
        return await self._done(request, lambda session: self._store.archive(session, archived))

    async def delete(self, request: Request) -> Response:
        await body(request, EmptyBody)
        return await self._done(request, self._delete)

    def _delete(self, session: str) -> None:
        if self._store.is_running(session):
            raise RequestRefused(409, f"session {session} is running", "end it first")
        self._store.delete(session)

    async def _done(self, request: Request, act: Callable[[str], None]) -> Response:
        """Act on a session with a conversation; refused as on the command line otherwise."""
        session = self._known(request.path_params["id"])
        try:
            await asyncio.to_thread(self._store.find_conversation, session, "")
            await asyncio.to_thread(act, session)
        except UserMistake as mistake:
            raise RequestRefused(409, mistake.message, mistake.hint) from mistake
        self._catalog.invalidate()
        return json_answer(Accepted(session), 202)
