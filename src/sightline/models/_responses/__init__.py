"""A model behind OpenAI Responses, or a server that speaks it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sightline.models._api import ModelError, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models._responses._answer import LAST_EVENTS, ResponsesAnswer
from sightline.models._responses._request import API, encoded
from sightline.models.http._openai_failure import classify
from sightline.models.http._retry import retried
from sightline.models.http._served import ServedModel

_PATH = "/responses"


def is_about_summaries(error: ModelError) -> bool:
    """OpenAI gives summaries of the thinking to verified organisations only, and refuses the whole request."""
    return error.status == 400 and "reasoning" in error.message and "summar" in error.message


class ResponsesModel(ServedModel):
    api = API
    BASE_URL = "https://api.openai.com/v1"

    _summaries = True  # until the server reports that this account has none

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        return retried(lambda: self._attempt(request), self._transport.retry, sleep=self._sleep)

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        try:
            async with aclosing(self._answer(encoded(request, self.facts, summaries=self._summaries))) as pieces:
                async for piece in pieces:
                    yield piece
            return
        except ModelError as error:
            if not (self._summaries and is_about_summaries(error)):
                raise
            self._summaries = False
        async with aclosing(self._answer(encoded(request, self.facts, summaries=False))) as pieces:
            async for piece in pieces:
                yield piece

    def _answer(self, body: bytes) -> AsyncGenerator[Piece, None]:
        assembly = Assembly(self.api, self.facts.id)
        events = self._transport.events(_PATH, body, classify=classify, last=LAST_EVENTS)
        return self._pieces(events, ResponsesAnswer(assembly, self._price), assembly)
