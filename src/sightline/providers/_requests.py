"""What the requests of all channels share: which are open, the answers that are offered, and how an answer is read.

An answer is a choice by itself, or an object: with `choice` and `reason` to an approval, `chosen` and `text` to a
question.
"""

from collections.abc import Callable, Mapping, Sequence

import msgspec

from sightline.events import Request

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"


class OpenRequest(msgspec.Struct, frozen=True):
    event: Request
    reply: Callable[[object], None]  # sends the provider what an answer of the user means
    native_id: object = None  # their id of the request
    native_call: str = ""  # their id of the call it is about


class OpenRequests:
    """The requests of a channel that wait for the user, by our id."""

    def __init__(self) -> None:
        self._requests: dict[str, OpenRequest] = {}

    def answer(self, request: str, answer: object) -> bool:
        """Send the user's answer; false when the request is not open."""
        open_request = self._requests.pop(request, None)
        if open_request is None:
            return False
        open_request.reply(answer)
        return True


def question(
    id: str,
    text: str,
    options: Sequence[Mapping[str, object]],
    *,
    several: bool = False,
    free_text: bool = True,
    **more: object,
) -> Request:
    """`options`: as providers write them, each with its label and a description. `more`: other details."""
    choices = [{name: str(option.get(name) or "") for name in ("label", "description")} for option in options]
    details = {"ui": {"kind": "question"}, "choices": choices, "several": several, "free_text": free_text, **more}
    return Request(id, "question", text, [choice["label"] for choice in choices], details)


def choice_in(answer: object) -> tuple[str, str]:
    """The choice in the answer to an approval, and the reason of a no."""
    given = answer if isinstance(answer, dict) else {"choice": answer}
    return str(given.get("choice", "")), str(given.get("reason") or "")


def words_in(answer: object) -> list[str]:
    """All that was chosen or written in the answer to a question; empty where it was not answered."""
    if isinstance(answer, dict):
        chosen = answer.get("chosen")
        words = [str(one) for one in chosen] if isinstance(chosen, list) else []
        return [*words, str(answer["text"])] if answer.get("text") else words
    if isinstance(answer, list):
        return [str(one) for one in answer]
    return [] if answer is None or answer == "" else [str(answer)]
