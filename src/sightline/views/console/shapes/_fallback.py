"""A call that no other shape fits: its output, or, as long as there is none, its arguments."""

from sightline.events import call_ending
from sightline.views.console.shapes._json import formatted_json, tree_rows
from sightline.views.console.shapes._output import OutputShape, ending_words
from sightline.views.console.shapes._shape import ShapeBody, record


class FallbackShape(OutputShape):
    """The beginning of a result, the end of what is still being written."""

    folded, unfolded = 20, 200

    @property
    def gutter(self) -> bool:  # type: ignore[override]
        return bool(self.call.content or self.call.pieces)

    @property
    def suffix(self) -> str:
        return ending_words(self.call) if self.call.exit_code or call_ending(self.call.details).ended else ""

    @property
    def source(self) -> str:
        return self.call.content or self.call.output or (formatted_json(self.call.args) if self.call.args else "")

    def body(self, width: int) -> ShapeBody:
        call = self.call
        if call.content:
            if call.is_error:
                return self.last_of(call.content, width)
            return self.text_rows(call.content, width, "output")
        if call.pieces:
            return self.tail_rows(width)
        return self._arguments(width)

    def _arguments(self, width: int) -> ShapeBody:
        args = record(self.call.args)
        if not args or set(map(str, args.values())) <= {self.call.arg, self.title}:
            return ShapeBody()
        rows = tree_rows(args, self.drawing.theme, width)
        return self.first_of([row for row, _ in zip(rows, range(self.unfolded + 1), strict=False)], width)
