"""A question to the user, and the answer.

While it is open, its dialog shows it whole, with the choices: here it is one row.
"""

from sightline.events import QuestionFact, ui_fact
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._shape import Shape, ShapeBody, record, text_in, wrapped

_NO_ANSWER = "not answered"
_FIELDS = frozenset(("question", "text", "choices", "several", "questions"))


class QuestionShape(Shape):
    folded, unfolded = 10, 40

    @property
    def title(self) -> str:
        fact = QuestionFact.of(self.call.details)
        return clean_line((fact.question if fact else "") or _question_in(self.call.args))

    @property
    def source(self) -> str:
        return "\n".join([self.title, *_answers(self.call)])

    def body(self, width: int) -> ShapeBody:
        if self.call.content is None:
            return ShapeBody()
        theme, answers = self.drawing.theme, _answers(self.call)
        if not answers:
            return ShapeBody([theme.style("muted", _NO_ANSWER)])
        rows = [row for answer in answers for row in wrapped(f"→ {answer}", width)]
        return self.first_of([theme.style("strong", row) for row in rows], width, what="row")


class OpenQuestionShape(QuestionShape):
    """A question without an answer yet."""

    title_rows = (1, 1)


def _answers(call: TranscriptCall) -> list[str]:
    fact = QuestionFact.of(call.details)
    if fact is None:
        return []
    if fact.answers is not None:
        return [f"{clean_line(one.question)}: {clean_text(text)}" for one in fact.answers for text in one.replies]
    return [clean_text(text) for text in fact.replies]


def _question_in(args: object) -> str:
    """The question that arguments ask; empty where they are something else."""
    given = record(args)
    is_one = set(given) <= _FIELDS and ("question" in given or isinstance(given.get("choices"), list))
    return text_in(given, "question", "text") if is_one else ""


def is_unanswered(call: TranscriptCall) -> bool:
    return _is_question(call) and call.content is not None and not _answers(call)


def _is_question(call: TranscriptCall) -> bool:
    return isinstance(ui_fact(call.details), QuestionFact) and not (call.is_error and call.content is not None)


def question(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    if not _is_question(call):
        return None
    return OpenQuestionShape(call, drawing) if call.content is None else QuestionShape(call, drawing)


def open_question(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    """The shape of arguments that ask a question which is still open."""
    is_open = call.content is None and bool(_question_in(call.args))
    return OpenQuestionShape(call, drawing) if is_open else None
