"""What all models behind a server share: the transport, the price of an answer, the error of one that failed."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from contextlib import aclosing
from typing import Protocol

from sightline.events import Usage
from sightline.models._api import Done, ModelError, ModelFacts, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models.http._retry import Sleep
from sightline.models.http._sse import ServerEvent
from sightline.models.http._transport import Transport


class StreamedAnswer(Protocol):
    """What reads the events of one answer."""

    @property
    def is_over(self) -> bool: ...

    def read(self, data: bytes) -> Iterable[Piece]: ...

    def done(self) -> Done:
        """The stream has ended; ModelError when the answer had not."""


class ServedModel:
    """`price`: what a usage costs in US dollars; without it the server does where it can, or the price table."""

    api = ""
    BASE_URL = ""

    @staticmethod
    def headers(api_key: str) -> dict[str, str]:
        """What a transport sends for this API."""
        return {"authorization": f"Bearer {api_key}"} if api_key else {}

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

    def stream(self, request: ModelRequest) -> AsyncGenerator[Piece, None]:
        raise NotImplementedError

    async def _pieces(
        self, events: AsyncGenerator[ServerEvent, None], answer: StreamedAnswer, assembly: Assembly
    ) -> AsyncGenerator[Piece, None]:
        """The pieces of one answer, read from its events."""
        try:
            async with aclosing(events):
                async for event in events:
                    for piece in answer.read(event.data):
                        yield piece
                    if answer.is_over and not event.event:
                        break  # of a server that does not name its events the transport cannot know the last
            yield answer.done()
        except ModelError as error:
            raise self._failed(error, assembly) from None

    async def close(self) -> None:
        await self._transport.close()

    def _failed(self, error: ModelError, assembly: Assembly) -> ModelError:
        """The error of an answer as it is reported: without the key, and with what had come."""
        self._transport.masked_error(error)
        error.partial = assembly.message("error", error.message) if assembly.begun else None
        return error

    def _listed_price(self, usage: Usage) -> float | None:
        from sightline.models._prices import cost

        return cost(self.facts.id, self.facts.provider, usage)
