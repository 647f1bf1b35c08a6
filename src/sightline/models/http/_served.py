"""What all models behind a server have in common: the way to it, what an answer costs, how one that failed ends."""

import asyncio
from collections.abc import Callable

from sightline.events import Usage
from sightline.models._api import ModelError, ModelFacts
from sightline.models._assembly import Assembly
from sightline.models.http._retry import Sleep
from sightline.models.http._transport import Transport


class ServedModel:
    """`price` says what a usage costs in US dollars; without it the server does where it can, or the price table."""

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

    async def close(self) -> None:
        await self._transport.close()

    def _failed(self, error: ModelError, assembly: Assembly) -> ModelError:
        """The error of an answer as it is told: without the key, and with what had come."""
        self._transport.masked_error(error)
        error.partial = assembly.message("error", error.message) if assembly.begun else None
        return error

    def _listed_price(self, usage: Usage) -> float | None:
        from sightline.models._prices import cost

        return cost(self.facts.id, self.facts.provider, usage)
