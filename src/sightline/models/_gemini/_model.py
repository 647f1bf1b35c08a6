"""A model behind Gemini's generateContent, or a server that speaks it."""

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from urllib.parse import quote

from sightline.events import Usage
from sightline.models._api import ModelError, ModelFacts, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models._gemini._answer import Answer
from sightline.models._gemini._failure import classify
from sightline.models._gemini._request import API, encoded, model_name
from sightline.models._retry import Sleep, retried
from sightline.models._transport import Transport


class GeminiModel:
    """`price` says what a usage costs in US dollars; without it the price table does."""

    api = API
    BASE_URL = "https://generativelanguage.googleapis.com"

    def __init__(
        self,
        facts: ModelFacts,
        transport: Transport,
        *,
        price: Callable[[Usage], float | None] | None = None,
        sleep: Sleep = asyncio.sleep,
    ) -> None:
        self.facts = facts
        self._transport = transport
        self._price = price or self._listed_price
        self._sleep = sleep
        version = "" if transport.base_url.endswith(("/v1", "/v1beta", "/v1alpha")) else "/v1beta"
        self._path = f"{version}/models/{quote(model_name(facts))}:streamGenerateContent?alt=sse"

    @staticmethod
    def headers(api_key: str) -> dict[str, str]:
        """What a transport sends for this API."""
        return {"x-goog-api-key": api_key} if api_key else {}

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        body = encoded(request, self.facts)
        return retried(lambda: self._attempt(body), self._transport.retry, sleep=self._sleep)

    async def close(self) -> None:
        await self._transport.close()

    async def _attempt(self, body: bytes) -> AsyncGenerator[Piece, None]:
        assembly = Assembly(API, self.facts.id)
        answer = Answer(assembly, self._price)
        events = self._transport.events(self._path, body, classify=classify)
        try:
            async with aclosing(events):
                async for event in events:
                    for piece in answer.read(event.data):
                        yield piece
            yield answer.done()
        except ModelError as error:
            self._transport.masked_error(error)
            error.partial = assembly.message("error", error.message) if assembly.begun else None
            raise

    def _listed_price(self, usage: Usage) -> float | None:
        from sightline.models._prices import cost

        return cost(self.facts.id, self.facts.provider, usage)
