"""A command: its line, the end of what it writes while it writes it, and how it ended."""

from sightline.events import CommandFact, call_ending
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.tty.components import Code
from sightline.views._network import network_words
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._command_line import command_of
from sightline.views.console.shapes._output import OutputShape, ending_words, job_name, output_text, size_words
from sightline.views.console.shapes._shape import (
    Shape,
    ShapeBody,
    record,
    styled,
    text_in,
    wrapped,
)
from sightline.views.console.shapes._told import below_header, has_more_than_pieces

_OUTSIDE = "outside the sandbox"


class CommandShape(OutputShape):
    folded, unfolded = 10, 40

    @property
    def label(self) -> str:
        call = self.call
        if call.is_job:
            return f"job {job_name(call.id)} $"
        return _mark(call) if command_of(call.args) else super().label

    @property
    def title(self) -> str:
        return command_of(self.call.args) or clean_line(self.call.arg)

    @property
    def suffix(self) -> str:
        parts = (_OUTSIDE if _is_outside(self.call) else "", ending_words(self.call))
        return " · ".join([part for part in parts if part])

    @property
    def source(self) -> str:
        return f"$ {self.title}\n{output_text(self.call)}" if self.title else output_text(self.call)

    def body(self, width: int) -> ShapeBody:
        body = self._written(width)
        if call_ending(self.call.details).binary:
            body = ShapeBody([*body.rows, self._not_shown(width)], from_end=True)
        network = network_words(self.call)
        if not network:
            return body
        return body._replace(rows=[*body.rows, *styled(self.drawing.theme, "muted", wrapped(network, width))])

    def _written(self, width: int) -> ShapeBody:
        call = self.call
        if any(piece.text for piece in call.pieces) and not has_more_than_pieces(call):
            return self.tail_rows(width)
        if call.content is None or call_ending(call.details).ended == "job":
            return ShapeBody()
        return self.last_of(below_header(call), width)

    def _not_shown(self, width: int) -> str:
        """What came before the first byte that is no text is text, and stands above."""
        size = call_ending(self.call.details).bytes
        words = "binary output" if size is None else f"binary output, {size_words(size)}"
        return self._hint(f"{words}, not shown", "view_output", width)


class CellShape(CommandShape):
    """Code of a language in place of a command line: shown as code above its output."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        super().__init__(call, drawing)
        self._code: Code | None = None

    @property
    def label(self) -> str:
        return ">>>"

    @property
    def title(self) -> str:
        code = clean_text(text_in(record(self.call.args), "code"))
        return code.strip() if "\n" not in code.strip() else f"{code.strip().count(chr(10)) + 1} lines"

    @property
    def source(self) -> str:
        return f"{text_in(record(self.call.args), 'code')}\n{output_text(self.call)}"

    def body(self, width: int) -> ShapeBody:
        below = super().body(width)
        code = text_in(record(self.call.args), "code").strip("\n")
        if "\n" not in code.strip():
            return below
        above = self.beginning(code, width, lambda text: self._coloured(text).render(width))
        return ShapeBody([*above.rows, *below.rows])

    def _coloured(self, text: str) -> Code:
        if self._code is None or self._code.text != text:
            language = text_in(record(self.call.args), "language") or "python"
            self._code = Code(text, language, theme=self.drawing.theme)
            self._code.finish()
        return self._code


def _is_outside(call: TranscriptCall) -> bool:
    """An agent's command that no sandbox held; before it runs, whoever may allow it says so."""
    return call_ending(call.details).sandboxed is False and not call.by_user


def _mark(call: TranscriptCall) -> str:
    """Whose command it is: what a person typed has the sign it was typed with."""
    return "!!" if call.is_private else "!" if call.by_user else "$"


def command(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    if CommandFact.of(call.details) is not None or command_of(call.args):
        if not command_of(call.args) and text_in(record(call.args), "code"):
            return CellShape(call, drawing)
        return CommandShape(call, drawing)
    return None


def cell(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    return CellShape(call, drawing) if text_in(record(call.args), "code") else None
