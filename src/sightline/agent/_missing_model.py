"""What stands in for a model where there is none to ask: whoever asks it hears why, and what to do."""

from collections.abc import AsyncIterator

from sightline.exceptions import SightlineError
from sightline.models import ModelError, ModelFacts, ModelRequest, Piece


class MissingModel:
    """Until another is chosen, every request fails as the first look for a model did."""

    api = ""

    def __init__(self, why: SightlineError) -> None:
        self.why = why
        self.facts = ModelFacts(id="")

    def stream(self, request: ModelRequest) -> AsyncIterator[Piece]:
        raise ModelError("not_found", self.why.message, self.why.hint)

    async def close(self) -> None:
        pass
