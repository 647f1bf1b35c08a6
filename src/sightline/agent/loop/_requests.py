"""Questions to the person that something waits for: asked as an event, answered by a command, once."""

import asyncio
from typing import Any, Literal

from sightline.actors import Actor
from sightline.events import Request, RequestResolved


class OpenRequests:
    """Those that are open. One that is given up (its call was cancelled) is resolved as moot."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._open: dict[str, asyncio.Future[Any]] = {}

    async def ask(
        self,
        what: Literal["approval", "question", "dialog"],
        text: str,
        choices: list[str],
        details: dict[str, Any],
        *,
        id: str = "",
    ) -> Any:
        """The answer. `id`: from `new_id`, for who has to know it."""
        id = id or self.new_id()
        future = self._open[id] = asyncio.get_running_loop().create_future()
        self._actor.publish(Request(id, what, text, choices, details))
        answer = None
        try:
            answer = await future
            return answer
        finally:
            del self._open[id]
            self._actor.publish(RequestResolved(id, answer))

    def new_id(self) -> str:
        return self._actor.new_request()

    def answer(self, id: str, answer: Any) -> bool:
        """False when nobody waits for it any more."""
        future = self._open.get(id)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    def give_up(self) -> bool:
        """Nobody is going to answer; whether anything was asked."""
        answered = [self.answer(id, None) for id in list(self._open)]
        return any(answered)
