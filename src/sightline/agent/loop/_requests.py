"""Requests to the user that something waits for: published as an event, answered by a command, once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

from sightline.actors import Actor
from sightline.events import Event, Notice, Request, RequestResolved
from sightline.text import clean_line
from sightline.tools import Answer, Question


class UserRequests:
    """Those that are open. One that is given up (its call was cancelled) is resolved as moot."""

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._open: dict[str, asyncio.Future[object]] = {}

    async def ask(
        self,
        what: Literal["approval", "question", "dialog"],
        text: str,
        choices: list[str],
        details: dict[str, object],
        *,
        id: str = "",
    ) -> object:
        """The answer. `id`: from `new_id`, for a caller that needs it before."""
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

    def answer(self, id: str, answer: object) -> bool:
        """False when it is no longer open."""
        future = self._open.get(id)
        if future is None or future.done():
            return False
        future.set_result(answer)
        return True

    def give_up(self) -> bool:
        """No user is going to answer: close what is open; whether there was any."""
        answered = [self.answer(id, None) for id in list(self._open)]
        return any(answered)

    async def close(self) -> None:
        """The agent has ended: close what is open, and see that published."""
        self.give_up()
        if self._open:
            await asyncio.sleep(0)  # each is published by the one who waited for it, in the next turn of the loop


def question_asker(
    requests: UserRequests, attended: Callable[[], bool], publish: Callable[[Event], None]
) -> Callable[[Question], Awaitable[Answer]]:
    """How a tool asks the user. With no user there it is answered at once, and a notice is published."""

    async def ask(question: Question) -> Answer:
        if not attended():
            text = f"the agent asked, and no user is there to answer: {clean_line(question.text)}"
            publish(Notice(text, "warning", "give the answer in the prompt"))
            return Answer(nobody=True)
        details = {
            "ui": {"kind": "question"},
            "choices": [{"label": choice.label, "description": choice.description} for choice in question.choices],
            "several": question.several,
            "free_text": question.free_text,
            **({"call": question.call} if question.call else {}),
        }
        labels = [choice.label for choice in question.choices]
        return _read(await requests.ask("question", question.text, labels, details))

    return ask


def _read(answer: object) -> Answer:
    """A text is a choice or free text; a list, several choices; a mapping names both; None: it was dismissed."""
    match answer:
        case None:
            return Answer(dismissed=True)
        case str():
            return Answer(chosen=(answer,))
        case list():
            return Answer(chosen=tuple(map(str, answer)))
        case dict():
            chosen = answer.get("chosen")
            return Answer(text=str(answer.get("text", "")), chosen=tuple(map(str, chosen or ())))
        case _:
            return Answer(dismissed=True)
