"""What the requests of all channels share: the answers that are offered, and how an answer of the user is read.

An answer is a choice by itself, or an object: with `choice` and `reason` to an approval, `chosen` and `text` to a
question.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from sightline.events import Request

ONCE, SESSION, ALWAYS, NO = "once", "this session", "always here", "no"


def question(
    id: str,
    text: str,
    options: Sequence[Mapping[str, Any]],
    *,
    several: bool = False,
    free_text: bool = True,
    **more: Any,
) -> Request:
    """`options`: as providers write them, each with its label and a description. `more`: other details."""
    choices = [{name: str(option.get(name) or "") for name in ("label", "description")} for option in options]
    details = {"ui": {"kind": "question"}, "choices": choices, "several": several, "free_text": free_text, **more}
    return Request(id, "question", text, [choice["label"] for choice in choices], details)


def choice_in(answer: Any) -> tuple[str, str]:
    """Of the answer to an approval: the choice, and why it is a no."""
    given = answer if isinstance(answer, dict) else {"choice": answer}
    return str(given.get("choice", "")), str(given.get("reason") or "")


def words_in(answer: Any) -> list[str]:
    """Of the answer to a question: all that was chosen or written; none where it was not answered."""
    if isinstance(answer, dict):
        chosen = answer.get("chosen")
        words = [str(one) for one in chosen] if isinstance(chosen, list) else []
        return [*words, str(answer["text"])] if answer.get("text") else words
    if isinstance(answer, list):
        return [str(one) for one in answer]
    return [] if answer is None or answer == "" else [str(answer)]
