"""Questions to the person that something waits for: asked as an event, answered by a command, once."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

from sightline.events import Event, Request, RequestResolved


class Requests:
    """Those that are open. One that is given up (its call was cancelled) is resolved as moot."""

    def __init__(self, publish: Callable[[Event], None], first: int = 0) -> None:
        """`first`: no request of an earlier life of the session has a higher number."""
        self._publish = publish
        self._open: dict[str, asyncio.Future[Any]] = {}
        self._count = first

    async def ask(
        self,
        what: Literal["approval", "question", "dialog"],
        text: str,
        choices: list[str],
        details: dict[str, Any],
        *,
        agent: str = "",
        id: str = "",
    ) -> Any:
        """The answer. `id`: from `new_id`, for who has to know it."""
        id = id or self.new_id()
        future = self._open[id] = asyncio.get_running_loop().create_future()
        self._publish(Request(id, what, text, choices, details, agent=agent, source="agent"))
        answer = None
        try:
            answer = await future
            return answer
        finally:
            del self._open[id]
            self._publish(RequestResolved(id, answer, agent=agent, source="agent"))

    def new_id(self) -> str:
        self._count += 1
        return f"request-{self._count}"

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
