"""Commands to one session: to its agent while it runs, and to end, rename, archive and delete it.

Rules:

- The checks are those of `sightline stop` and `sightline sessions`: a title, archiving and deleting are for sessions
  with a conversation, and a session that runs is not deleted.
- A session is named by its whole id. Deleting is confirmed by the page, which names the title.
"""

import asyncio
from collections.abc import Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from sightline import host
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views.web.api import _bodies as bodies
from sightline.views.web.api._reading import RequestRefused, body, json_answer
from sightline.views.web.api._start import submit
from sightline.views.web.page._catalog import Catalog
from sightline.working_copies import ChangeChoices

_LONGEST_TITLE = 500


class SessionCommands:
    """`known` returns the id of a stored session, or refuses it."""

    def __init__(self, store: Store, catalog: Catalog, known: Callable[[str], str]) -> None:
        self._store = store
        self._catalog = catalog
        self._known = known

    async def prompt(self, request: Request) -> Response:
        given = await body(request, bodies.PromptBody)
        return await self._submitted(request, host.Prompt(_nonempty(given.text), given.how, agent=given.agent))

    async def send_mail(self, request: Request) -> Response:
        given = await body(request, bodies.SendMailBody)
        mail = host.SendMail(_nonempty(given.text), given.agent, given.to_all, given.reply_to)
        return await self._submitted(request, mail)

    async def ask_aside(self, request: Request) -> Response:
        given = await body(request, bodies.QuestionBody)
        return await self._submitted(request, host.AskAside(_nonempty(given.text)))

    async def review(self, request: Request) -> Response:
        given = await body(request, bodies.ReviewBody)
        session = self._known(request.path_params["id"])
        reply = await self._reply(session, host.Review(given.text))
        return json_answer(bodies.ReviewBegun(reply.id, str((reply.data or {}).get("agent", ""))), 202)

    async def review_choices(self, request: Request) -> Response:
        """What there is to review in the folder of the session."""
        reply = await self._reply(self._known(request.path_params["id"]), host.ReviewChoices())
        return json_answer(msgspec.convert(reply.data, ChangeChoices))

    async def dismiss_finding(self, request: Request) -> Response:
        given = await body(request, bodies.DismissBody)
        return await self._submitted(request, host.DismissFinding(given.review, given.finding, given.dismissed))

    async def shell(self, request: Request) -> Response:
        given = await body(request, bodies.ShellBody)
        return await self._submitted(request, host.Shell(_nonempty(given.text), given.private))

    async def abort(self, request: Request) -> Response:
        given = await body(request, bodies.AbortBody)
        return await self._submitted(request, host.Abort(agent=given.agent))

    async def unqueue(self, request: Request) -> Response:
        await body(request, bodies.EmptyBody)
        return await self._submitted(request, host.Unqueue())

    async def answer(self, request: Request) -> Response:
        given = await body(request, bodies.AnswerBody)
        return await self._submitted(request, host.AnswerRequest(request.path_params["request"], given.answer))

    async def details(self, request: Request) -> Response:
        """All the details of an open request. Its event has only the beginning of long ones."""
        session, id = self._known(request.path_params["id"]), request.path_params["request"]
        folder = self._store.folder(session)
        found = await asyncio.to_thread(host.all_details, folder, {"id": id, "details": {"stored": True}})
        if "ui" not in found:
            raise RequestRefused(404, f"no more is stored of request {clean_line(id)}", "it may have been answered")
        return json_answer(found)

    async def approval(self, request: Request) -> Response:
        given = await body(request, bodies.ApprovalBody)
        return await self._submitted(request, host.SetApproval(level=given.level))

    async def compact(self, request: Request) -> Response:
        given = await body(request, bodies.CompactBody)
        return await self._submitted(request, host.Compact(given.focus))

    async def model(self, request: Request) -> Response:
        given = await body(request, bodies.ModelBody)
        return await self._submitted(request, host.SetModel(given.model.strip(), given.thinking.strip()))

    async def _submitted(self, request: Request, command: host.Command) -> Response:
        reply = await self._reply(self._known(request.path_params["id"]), command)
        return json_answer(bodies.Accepted(reply.id, reply.data), 202)

    async def _reply(self, session: str, command: host.Command) -> host.CommandReply:
        return await submit(self._store, session, command, f"Resume with: sightline --resume {session}")

    async def stop(self, request: Request) -> Response:
        await body(request, bodies.EmptyBody)
        session = self._known(request.path_params["id"])
        try:
            await submit(self._store, session, host.Stop(), "it has ended already")
        except OutsideFailure:
            pass  # it ended before it could reply
        return json_answer(bodies.Accepted(session), 202)

    async def rename(self, request: Request) -> Response:
        title = clean_line((await body(request, bodies.RenameBody)).title).strip()
        if not title or len(title) > _LONGEST_TITLE:
            raise RequestRefused(400, "the title is too long" if title else "the title is empty", "give a short title")
        return await self._done(request, lambda session: self._store.rename(session, title))

    async def archive(self, request: Request) -> Response:
        archived = (await body(request, bodies.ArchiveBody)).archived
        return await self._done(request, lambda session: self._store.archive(session, archived))

    async def delete(self, request: Request) -> Response:
        await body(request, bodies.EmptyBody)
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
        return json_answer(bodies.Accepted(session), 202)


def _nonempty(text: str) -> str:
    if not text.strip():
        raise RequestRefused(400, "the text is empty", "give text")
    return text
