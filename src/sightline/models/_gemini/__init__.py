"""A model behind Gemini's generateContent, or a server that speaks it."""

from collections.abc import AsyncGenerator
from urllib.parse import quote

from sightline.models._api import ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models._gemini._answer import GeminiAnswer
from sightline.models._gemini._failure import classify
from sightline.models._gemini._request import API, encoded, model_name
from sightline.models.http._retry import retried
from sightline.models.http._served import ServedModel


class GeminiModel(ServedModel):
    api = API
    BASE_URL = "https://generativelanguage.googleapis.com"

    @staticmethod
    def headers(api_key: str) -> dict[str, str]:
        return {"x-goog-api-key": api_key} if api_key else {}

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        body = encoded(request, self.facts)
        return retried(lambda: self._attempt(body), self._transport.retry, sleep=self._sleep)

    def _attempt(self, body: bytes) -> AsyncGenerator[Piece, None]:
        assembly = Assembly(API, self.facts.id)
        events = self._transport.events(self._path(), body, classify=classify)
        return self._pieces(events, GeminiAnswer(assembly, self._price), assembly)

    def _path(self) -> str:
        version = "" if self._transport.base_url.endswith(("/v1", "/v1beta", "/v1alpha")) else "/v1beta"
        return f"{version}/models/{quote(model_name(self.facts))}:streamGenerateContent?alt=sse"
