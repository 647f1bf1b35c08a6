"""Talking with the agent of a session that runs: prompts, answers, and stopping it."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response

from sightline.host import Abort, AnswerRequest, Command, Prompt, Shell, Unqueue
from sightline.views.web._asked import Refused, body, json_answer
from sightline.views.web._bodies import Accepted, AnswerBody, EmptyBody, PromptBody, ShellBody
from sightline.views.web._start import submit


class TalkApi:
    """`known` gives the id of a session back, or refuses it."""

    def __init__(self, known: Callable[[str], str]) -> None:
        self._known = known

    async def prompt(self, request: Request) -> Response:
        asked = await body(request, PromptBody)
        return await self._submitted(request, Prompt(_said(asked.text), asked.how))

    async def shell(self, request: Request) -> Response:
        asked = await body(request, ShellBody)
        return await self._submitted(request, Shell(_said(asked.text), asked.private))

    async def abort(self, request: Request) -> Response:
        await body(request, EmptyBody)
        return await self._submitted(request, Abort())

    async def unqueue(self, request: Request) -> Response:
        await body(request, EmptyBody)
        return await self._submitted(request, Unqueue())

    async def answer(self, request: Request) -> Response:
        asked = await body(request, AnswerBody)
        return await self._submitted(request, AnswerRequest(request.path_params["request"], asked.answer))

    async def _submitted(self, request: Request, command: Command) -> Response:
        session = self._known(request.path_params["id"])
        reply = await submit(session, command, f"go on with it: sightline --resume {session}")
        return json_answer(Accepted(reply.id, reply.data), 202)


def _said(text: str) -> str:
    if not text.strip():
        raise Refused(400, "there is nothing to say", "give text")
    return text
