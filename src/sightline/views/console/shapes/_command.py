"""A command: its line, the end of what it writes while it writes it, and how it ended."""

from sightline.events import CommandFact, call_ending
from sightline.text import clean_line, clean_text
from sightline.transcript import TranscriptCall
from sightline.tty import expand_tabs
from sightline.tty.components import Code
from sightline.views._network import network_words
from sightline.views._script import script_in, script_of_words
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._output import (
    OutputShape,
    below_header,
    ending_words,
    has_more_than_pieces,
    job_name,
    output_text,
    size_words,
)
from sightline.views.console.shapes._shape import COMMANDS, Shape, ShapeBody, record, styled, text_in, wrapped

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
        body = self._output(width)
        if call_ending(self.call.details).binary:
            body = ShapeBody([*body.rows, self._not_shown(width)], from_end=True)
        network = network_words(self.call)
        if not network:
            return body
        return body._replace(rows=[*body.rows, *styled(self.drawing.theme, "muted", wrapped(network, width))])

    def _output(self, width: int) -> ShapeBody:
        call = self.call
        if any(piece.text for piece in call.pieces) and not has_more_than_pieces(call):
            return self.tail_rows(width)
        if call.content is None or call_ending(call.details).ended == "job":
            return ShapeBody()
        return self.last_of(below_header(call), width)

    def _not_shown(self, width: int) -> str:
        """The row in place of binary output. Text before its first byte that is not text stands above."""
        size = call_ending(self.call.details).bytes
        words = "binary output" if size is None else f"binary output, {size_words(size)}"
        return self._hint(f"{words}, not shown", "view_output", width)


class CellShape(CommandShape):
    """Code in place of a command line, shown above its output."""

    @property
    def label(self) -> str:
        return ">>>"

    @property
    def title(self) -> str:
        code = clean_text(self._code).strip()
        return code if "\n" not in code else f"{code.count(chr(10)) + 1} lines"

    @property
    def source(self) -> str:
        return f"{self._code}\n{output_text(self.call)}"

    @property
    def _code(self) -> str:
        return text_in(record(self.call.args), "code")

    def body(self, width: int) -> ShapeBody:
        below = super().body(width)
        code = self._code.strip("\n")
        if "\n" not in code.strip():
            return below
        language = text_in(record(self.call.args), "language") or "python"
        above = self.laid_out(code, width, lambda text: Code(text, language, theme=self.drawing.theme))
        return ShapeBody([*above.rows, *below.rows])


def command_of(args: object) -> str:
    """The whole command line in a call's arguments, without the shell it is passed to; empty where there is none."""
    given = record(args)
    for name in COMMANDS:
        value = given.get(name)
        if isinstance(value, str) and value.strip():
            return expand_tabs(clean_text(script_in(value.strip())))
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            return expand_tabs(clean_text(script_of_words(value)))
    return ""


def _is_outside(call: TranscriptCall) -> bool:
    """Whether an agent's command ran without a sandbox."""
    return call_ending(call.details).sandboxed is False and not call.by_user


def _mark(call: TranscriptCall) -> str:
    """The sign before the command line. A command the user entered has the sign it was entered with."""
    return "!!" if call.is_private else "!" if call.by_user else "$"


def command(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    if CommandFact.of(call.details) is not None or command_of(call.args):
        if not command_of(call.args) and text_in(record(call.args), "code"):
            return CellShape(call, drawing)
        return CommandShape(call, drawing)
    return None


def cell(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    return CellShape(call, drawing) if text_in(record(call.args), "code") else None
