"""`ask`: ask the user one question or several: one of several choices, several of them, or free text.

Several questions are asked one after the other. Closing one ends the call; the answers given by then are its result.
"""

from itertools import zip_longest
from typing import Annotated

import msgspec
from msgspec import Meta
from msgspec.structs import asdict

from sightline.events import GivenAnswer, QuestionFact
from sightline.tools._context import ToolContext
from sightline.tools._tool import Answer, Choice, Outcome, Question, Tool, ToolError

MOST_QUESTIONS = 10
NO_USER = "No user is there to answer. Decide yourself, say in your answer what you assumed, and continue."
DISMISSED = "The user closed the question without an answer. Continue as you think best, or stop and say what is open."

_Choices = Annotated[
    list[str | Choice], Meta(description="Answers to choose from: texts, or {label, description}. None: free text.")
]
_Several = Annotated[bool, Meta(description="Whether more than one may be chosen.")]
_Text = Annotated[str, Meta(min_length=1, description="The question, whole and understandable by itself.")]


class OneOfSeveral(msgspec.Struct, frozen=True, kw_only=True):
    question: _Text
    choices: _Choices = []
    several: _Several = False


class AskParams(msgspec.Struct, frozen=True, kw_only=True):
    question: Annotated[str, Meta(description="The question, whole and understandable by itself.")] = ""
    choices: _Choices = []
    several: _Several = False
    questions: Annotated[
        list[OneOfSeveral],
        Meta(max_length=MOST_QUESTIONS, description="Several questions instead of one, asked one after the other."),
    ] = []


class AskTool(Tool[AskParams]):
    name = "ask"
    description = (
        "Ask the user a question you cannot answer by looking, and wait for the answer. Only when it matters: a "
        "decision that is theirs, or that is costly to undo. Ask several that belong together in one call (questions)."
    )
    params = AskParams

    def preview(self, params: AskParams) -> str:
        return " · ".join(one.question for one in params.questions) or params.question

    async def execute(self, params: AskParams, context: ToolContext) -> Outcome:
        questions = [_checked(one, context.call) for one in _questions(params)]
        answers: list[Answer] = []
        for question in questions:
            answer = Answer(nobody=True)
            if context.workplace.ask is not None:
                answer = await context.workplace.ask(question)
            answers.append(_understood(answer, question))
            if answers[-1].nobody or answers[-1].dismissed:
                break
        if not params.questions:
            fact = QuestionFact(**asdict(_given(questions[0], answers[0])))
            return Outcome(text=_words(answers[0]), details=fact.as_details())
        return _several_outcome(questions, answers)


def _questions(params: AskParams) -> list[OneOfSeveral]:
    if not params.questions:
        if not params.question.strip():
            raise ToolError("question is empty; write what you want to know, or pass questions")
        return [OneOfSeveral(question=params.question, choices=params.choices, several=params.several)]
    if params.question or params.choices or params.several:
        raise ToolError("pass question (with choices and several), or questions, not both")
    return params.questions


def _checked(one: OneOfSeveral, call: str) -> Question:
    choices = [Choice(choice) if isinstance(choice, str) else choice for choice in one.choices]
    labels = [choice.label for choice in choices]
    if not all(label.strip() for label in labels):
        raise ToolError("a choice needs a label; give each some words")
    if len(set(labels)) < len(labels):
        raise ToolError("two choices have the same label; make them different")
    if one.several and not choices:
        raise ToolError("several needs choices; give some, or leave it out for free text")
    return Question(text=one.question, choices=tuple(choices), several=one.several, call=call)


def _understood(answer: Answer, question: Question) -> Answer:
    """What is none of the choices, or one more than could be chosen, is free text."""
    labels = [choice.label for choice in question.choices]
    chosen = [label for label in labels if label in answer.chosen]
    chosen = chosen if question.several else chosen[:1]
    texts = [*[label for label in dict.fromkeys(answer.chosen) if label not in chosen], answer.text]
    text = "\n".join([part.strip() for part in texts if part.strip()])
    dismissed = answer.dismissed or not (answer.nobody or chosen or text)
    return Answer(chosen=tuple(chosen), text=text, nobody=answer.nobody, dismissed=dismissed)


def _given(question: Question, answer: Answer | None) -> GivenAnswer:
    """`answer` None: the question was not asked, because one before it was closed."""
    if answer is None:
        return GivenAnswer(question.text)
    return GivenAnswer(question.text, list(answer.chosen), answer.text, not (answer.nobody or answer.dismissed))


def _several_outcome(questions: list[Question], answers: list[Answer]) -> Outcome:
    answered = enumerate(zip(questions, answers, strict=False), 1)
    rows = [f"{number}. {question.text}\n{_words(answer)}" for number, (question, answer) in answered]
    rows += [f"{len(answers) + 1}. and later: not asked"] if len(answers) < len(questions) else []
    text = NO_USER if answers[0].nobody else "\n\n".join(rows)
    given = [_given(question, answer) for question, answer in zip_longest(questions, answers)]
    names = " · ".join(question.text for question in questions)
    fact = QuestionFact(question=names, answers=given, answered=all(one.answered for one in given))
    return Outcome(text=text, details=fact.as_details())


def _words(answer: Answer) -> str:
    if answer.nobody:
        return NO_USER
    if answer.dismissed:
        return DISMISSED
    parts = [f"The user chose: {', '.join(answer.chosen)}"] if answer.chosen else []
    return "\n".join(parts + ([f"The user wrote: {answer.text}"] if answer.text else []))
