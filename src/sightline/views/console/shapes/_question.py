"""A question to the person, and the answer."""

from sightline.text import clean_line, clean_text
from sightline.transcript import Call
from sightline.views.console._drawing import Drawing
from sightline.views.console.shapes._shape import Body, Shape, details_of, kind_of, record, text_in, texts, wrapped

_NO_ANSWER = "not answered"


class QuestionShape(Shape):
    folded, unfolded = 10, 40

    @property
    def title(self) -> str:
        return clean_line(text_in(details_of(self.call), "question") or text_in(record(self.call.args), "question"))

    @property
    def source(self) -> str:
        return "\n".join([self.title, *self._answers()])

    def body(self, width: int) -> Body:
        if self.call.content is None:
            return Body()
        theme, answers = self.drawing.theme, self._answers()
        if not answers:
            return Body([theme.style("muted", _NO_ANSWER)])
        rows = [row for answer in answers for row in wrapped(f"→ {answer}", width)]
        return self.first_of([theme.style("accent", row) for row in rows], width)

    def _answers(self) -> list[str]:
        details = details_of(self.call)
        return [*map(clean_line, texts(details.get("chosen"))), *filter(None, [clean_text(text_in(details, "text"))])]


def question(call: Call, drawing: Drawing) -> Shape | None:
    is_one = kind_of(call) == "question" and not (call.is_error and call.content is not None)
    return QuestionShape(call, drawing) if is_one else None
