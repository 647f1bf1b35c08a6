"""`ask`: put a question to the person: one of several choices, several of them, or free text."""

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from sightline.tools._context import ToolContext
from sightline.tools._tool import Answer, Choice, Outcome, Question, Tool, ToolError

NOBODY = "Nobody is there to answer. Decide yourself, say in your answer what you assumed, and go on."
DISMISSED = "The person closed the question without an answer. Go on as you think best, or stop and say what is open."


class AskParams(msgspec.Struct, frozen=True, kw_only=True):
    question: Annotated[str, Meta(min_length=1, description="The question, whole and understandable by itself.")]
    choices: Annotated[
        list[str | Choice], Meta(description="Answers to choose from: texts, or {label, description}. None: free text.")
    ] = []
    several: Annotated[bool, Meta(description="Whether more than one may be chosen.")] = False


class AskTool(Tool[AskParams]):
    name = "ask"
    description = (
        "Ask the person a question you cannot answer by looking, and wait for the answer. Only when it matters: a "
        "decision that is theirs, or that is costly to undo."
    )
    params = AskParams

    def preview(self, params: AskParams) -> str:
        return params.question

    async def execute(self, params: AskParams, context: ToolContext) -> Outcome:
        choices = [Choice(choice) if isinstance(choice, str) else choice for choice in params.choices]
        labels = [choice.label for choice in choices]
        if not all(label.strip() for label in labels):
            raise ToolError("a choice needs a label; give each some words")
        if len(set(labels)) < len(labels):
            raise ToolError("two choices have the same label; make them different")
        if params.several and not choices:
            raise ToolError("several needs choices; give some, or leave it out for free text")
        answer = Answer(nobody=True)
        if context.workplace.ask is not None:
            question = Question(text=params.question, choices=tuple(choices), several=params.several, call=context.call)
            answer = await context.workplace.ask(question)
        return _outcome(params, _understood(answer, labels, params.several))


def _understood(answer: Answer, labels: list[str], several: bool) -> Answer:
    """What is none of the choices, or one more than could be chosen, is something the person says."""
    chosen = [label for label in labels if label in answer.chosen]
    chosen = chosen if several else chosen[:1]
    said = [*[label for label in dict.fromkeys(answer.chosen) if label not in chosen], answer.text]
    text = "\n".join([part.strip() for part in said if part.strip()])
    dismissed = answer.dismissed or not (answer.nobody or chosen or text)
    return Answer(chosen=tuple(chosen), text=text, nobody=answer.nobody, dismissed=dismissed)


def _outcome(params: AskParams, answer: Answer) -> Outcome:
    details: dict[str, Any] = {
        "ui": {"kind": "question"},
        "question": params.question,
        "chosen": list(answer.chosen),
        "text": answer.text,
        "answered": not (answer.nobody or answer.dismissed),
    }
    return Outcome(text=_words(answer), details=details)


def _words(answer: Answer) -> str:
    if answer.nobody:
        return NOBODY
    if answer.dismissed:
        return DISMISSED
    parts = [f"The person chose: {', '.join(answer.chosen)}"] if answer.chosen else []
    return "\n".join(parts + ([f"The person says: {answer.text}"] if answer.text else []))
