"""A question to the person, and the answer.

As long as it is open its dialog shows it whole, with the choices: here it is one row.
"""

from typing import Any

from sightline.text import clean_line, clean_text
from sightline.transcript import Call
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import Body, Shape, details_of, kind_of, record, text_in, texts, wrapped

_NO_ANSWER = "not answered"
_FIELDS = frozenset(("question", "text", "choices", "several", "questions"))


class QuestionShape(Shape):
    folded, unfolded = 10, 40

    @property
    def title(self) -> str:
        return clean_line(text_in(details_of(self.call), "question") or _question_in(self.call.args))

    @property
    def source(self) -> str:
        return "\n".join([self.title, *_answers(self.call)])

    def body(self, width: int) -> Body:
        if self.call.content is None:
            return Body()
        theme, answers = self.drawing.theme, _answers(self.call)
        if not answers:
            return Body([theme.style("muted", _NO_ANSWER)])
        rows = [row for answer in answers for row in wrapped(f"→ {answer}", width)]
        return self.first_of([theme.style("strong", row) for row in rows], width)


class OpenQuestionShape(QuestionShape):
    """Nobody has answered yet."""

    title_rows = (1, 1)


def _answers(call: Call) -> list[str]:
    details = details_of(call)
    if isinstance(details.get("answers"), list):
        return [
            f"{clean_line(text_in(one, 'question'))}: {said}"
            for one in map(record, details["answers"])
            for said in _said(one)
        ]
    return _said(details)


def _said(details: dict[str, Any]) -> list[str]:
    return [*map(clean_line, texts(details.get("chosen"))), *filter(None, [clean_text(text_in(details, "text"))])]


def _question_in(args: Any) -> str:
    """The question in arguments that are one; empty where they are something else."""
    given = record(args)
    is_one = set(given) <= _FIELDS and ("question" in given or isinstance(given.get("choices"), list))
    return text_in(given, "question", "text") if is_one else ""


def is_unanswered(call: Call) -> bool:
    return _is_question(call) and call.content is not None and not _answers(call)


def _is_question(call: Call) -> bool:
    return kind_of(call) == "question" and not (call.is_error and call.content is not None)


def question(call: Call, drawing: Drawing) -> Shape | None:
    if not _is_question(call):
        return None
    return OpenQuestionShape(call, drawing) if call.content is None else QuestionShape(call, drawing)


def asked(call: Call, drawing: Drawing) -> Shape | None:
    """Arguments that are a question which is still open."""
    is_open = call.content is None and bool(_question_in(call.args))
    return OpenQuestionShape(call, drawing) if is_open else None
