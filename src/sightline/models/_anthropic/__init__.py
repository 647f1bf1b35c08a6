"""A model behind the Anthropic Messages API, or a server that speaks it."""

from collections.abc import AsyncGenerator

from sightline.models._anthropic._answer import AnthropicAnswer
from sightline.models._anthropic._failure import classify
from sightline.models._anthropic._request import API, encoded
from sightline.models._api import ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models.http._retry import retried
from sightline.models.http._served import ServedModel

_VERSION = {"anthropic-version": "2023-06-01"}
_LAST_EVENTS = frozenset({"message_stop", "error"})


class AnthropicModel(ServedModel):
    api = API
    BASE_URL = "https://api.anthropic.com"

    @staticmethod
    def headers(api_key: str) -> dict[str, str]:
        return {"x-api-key": api_key} if api_key else {}

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        body = encoded(request, self.facts)
        return retried(lambda: self._attempt(body), self._transport.retry, sleep=self._sleep)

    def _attempt(self, body: bytes) -> AsyncGenerator[Piece, None]:
        assembly = Assembly(API, self.facts.id)
        path = "/messages" if self._transport.base_url.endswith("/v1") else "/v1/messages"
        events = self._transport.events(path, body, classify=classify, headers=_VERSION, last=_LAST_EVENTS)
        return self._pieces(events, AnthropicAnswer(assembly, self._price), assembly)
