"""Questions of a tool to the person, as requests."""

from collections.abc import Awaitable, Callable
from typing import Any

from sightline.agent.loop._requests import OpenRequests
from sightline.events import Event, Notice
from sightline.text import clean_line
from sightline.tools import Answer, Question


def asked(
    requests: OpenRequests, attended: Callable[[], bool], publish: Callable[[Event], None]
) -> Callable[[Question], Awaitable[Answer]]:
    """A way to ask. With nobody there the answer says so at once, and whoever reads along is told."""

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


def _read(said: Any) -> Answer:
    """A text is a choice or free text; a list, several choices; a mapping says which; nothing, that it was closed."""
    match said:
        case None:
            return Answer(dismissed=True)
        case str():
            return Answer(chosen=(said,))
        case list():
            return Answer(chosen=tuple(map(str, said)))
        case dict():
            chosen = said.get("chosen")
            return Answer(text=str(said.get("text", "")), chosen=tuple(map(str, chosen or ())))
        case _:
            return Answer(dismissed=True)
