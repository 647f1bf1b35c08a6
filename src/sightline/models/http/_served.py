"""What all models behind a server share: the transport, the price of an answer, the error of one that failed."""

import asyncio
from collections.abc import AsyncGenerator, Callable

from sightline.events import Usage
from sightline.models._api import ModelError, ModelFacts, ModelRequest, Piece
from sightline.models._assembly import Assembly
from sightline.models.http._retry import Sleep
from sightline.models.http._transport import Transport


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
