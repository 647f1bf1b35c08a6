"""Talking with the agent of a session that runs: prompts, answers, and stopping it."""

import asyncio
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sightline.host import (
    Abort,
    AnswerRequest,
    Command,
    Compact,
    Prompt,
    SetApproval,
    SetModel,
    Shell,
    Unqueue,
    all_details,
)
from sightline.journal import Store
from sightline.text import clean_line
from sightline.views.web.api._bodies import (
    Accepted,
    AnswerBody,
    ApprovalBody,
    CompactBody,
    EmptyBody,
    ModelBody,
    PromptBody,
    ShellBody,
)
from sightline.views.web.api._reading import RequestRefused, body, json_answer
from sightline.views.web.api._start import submit


class TalkApi:
    """`known` returns the id of a stored session, or refuses it."""

    def __init__(self, store: Store, known: Callable[[str], str]) -> None:
        self._store = store
        self._known = known

    async def prompt(self, request: Request) -> Response:
        given = await body(request, PromptBody)
        return await self._submitted(request, Prompt(_nonempty(given.text), given.how))

    async def shell(self, request: Request) -> Response:
        given = await body(request, ShellBody)
        return await self._submitted(request, Shell(_nonempty(given.text), given.private))

    async def abort(self, request: Request) -> Response:
        await body(request, EmptyBody)
        return await self._submitted(request, Abort())

    async def unqueue(self, request: Request) -> Response:
        await body(request, EmptyBody)
        return await self._submitted(request, Unqueue())

    async def answer(self, request: Request) -> Response:
        given = await body(request, AnswerBody)
        return await self._submitted(request, AnswerRequest(request.path_params["request"], given.answer))

    async def details(self, request: Request) -> Response:
        """All the details of an open request. Its event has only the beginning of long ones."""
        session, id = self._known(request.path_params["id"]), request.path_params["request"]
        folder = self._store.folder(session)
        found = await asyncio.to_thread(all_details, folder, {"id": id, "details": {"stored": True}})
        if "ui" not in found:
            raise RequestRefused(404, f"no more is stored of request {clean_line(id)}", "it may have been answered")
        return json_answer(found)

    async def approval(self, request: Request) -> Response:
        given = await body(request, ApprovalBody)
        return await self._submitted(request, SetApproval(level=given.level))

    async def compact(self, request: Request) -> Response:
        given = await body(request, CompactBody)
        return await self._submitted(request, Compact(given.focus))

    async def model(self, request: Request) -> Response:
        given = await body(request, ModelBody)
        return await self._submitted(request, SetModel(given.model.strip(), given.thinking.strip()))

    async def _submitted(self, request: Request, command: Command) -> Response:
        session = self._known(request.path_params["id"])
        reply = await submit(self._store, session, command, f"Resume with: sightline --resume {session}")
        return json_answer(Accepted(reply.id, reply.data), 202)


def _nonempty(text: str) -> str:
    if not text.strip():
        raise RequestRefused(400, "the text is empty", "give text")
    return text
