"""A model behind Chat Completions, at OpenAI or at any server that speaks it."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

from sightline.models._api import ModelError, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models._chat._answer import ChatAnswer
from sightline.models._chat._request import API, encoded
from sightline.models.http._openai_failure import classify
from sightline.models.http._retry import retried
from sightline.models.http._served import ServedModel

_PATH = "/chat/completions"


class ChatModel(ServedModel):
    api = API
    BASE_URL = "https://api.openai.com/v1"

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        body = encoded(request, self.facts)
        # OpenAI's own models make calls as calls; what they write is meant as words.
        written = () if self.facts.provider == "openai" else tuple(tool.name for tool in request.tools)
        return retried(lambda: self._attempt(body, written), self._transport.retry, sleep=self._sleep)

    async def _attempt(self, body: bytes, written: tuple[str, ...]) -> AsyncGenerator[Piece, None]:
        assembly = Assembly(self.api, self.facts.id)
        answer = ChatAnswer(assembly, self._price, written)
        try:
            async with aclosing(self._until_cut(body, answer)) as pieces:
                async for piece in pieces:
                    yield piece
            for piece in answer.end():
                yield piece
        except ModelError as error:
            raise self._failed(error, assembly) from None

    async def _until_cut(self, body: bytes, answer: ChatAnswer) -> AsyncGenerator[Piece, None]:
        try:
            async with aclosing(self._transport.events(_PATH, body, classify=classify)) as events:
                async for event in events:
                    for piece in answer.read(event.data):
                        yield piece
        except ModelError as error:
            if error.kind == "cut" and answer.is_whole:
                return  # only its usage is missing, and perhaps not even that
            for piece in answer.released():
                yield piece
            raise
