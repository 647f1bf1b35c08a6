"""The block of a tool call, from its first argument to its result.

Rules:

- It is drawn by its shape (`shapes`), or by an extension's renderer for the tool.
- While the call is open no row is final: the block stays on the screen, grows by a few rows a frame and never shrinks,
  but for arguments that make room for what the call is.
  The rows of an ended call depend on its result alone.
- Calls that only read something are shown together: once they have ended, the first block takes those that follow.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sightline.events import ReadFact, call_ending, ui_fact
from sightline.text import clean_line
from sightline.transcript import Entry, TranscriptCall
from sightline.tty import Component, Rows, Scrollback, measure, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._block import TranscriptBlock
from sightline.views.console.blocks._header import INDENT, beside, header_rows, sign_of
from sightline.views.console.extensions._renderers import Renderers, RenderOptions, Result
from sightline.views.console.shapes import FallbackShape, Shape, ShapeBody, is_read, is_unanswered, shape_of
from sightline.views.console.shapes._document import ImageShape
from sightline.views.console.shapes._shape import indented, seconds_words

_ROWS_A_FRAME = 4
_SHORTEST_SHOWN = 1.0  # seconds of a duration
_REFUSED = "refused"
_NOTHING_YET = "no output yet"
_BETWEEN = ", "
_FRAME = 0.08  # seconds of a spinner's frame


class _ReadSummary(NamedTuple):
    """What is shown of one call. It has ended, so this is found once."""

    label: str
    title: str
    suffix: str
    is_file: bool


class CallBlock(TranscriptBlock, Scrollback):
    """One call, or several that only read something."""

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self.calls = [call]
        self._drawing = drawing
        self._closed = False
        self._was_open = call.content is None
        self._shape: Shape | None = None
        self._shape_of: tuple[object, ...] = ()
        self._rendered = _RenderedCall(call, drawing)
        self._reads: list[_ReadSummary] = []
        self._floor = 0  # rows of the body that were shown
        self._pending = False
        self._made_of: tuple[object, ...] | None = None
        self._rows: Rows = ()

    @property
    def call(self) -> TranscriptCall:
        return self.calls[0]

    def take(self, entry: Entry) -> bool:
        if not self.open_ended or self._closed or not isinstance(entry, TranscriptCall) or not is_read(entry):
            return False
        if self._renders(entry):
            return False
        self.calls.append(entry)
        return True

    @property
    def open_ended(self) -> bool:  # type: ignore[override]
        return is_read(self.call) and not self._renders(self.call)

    @property
    def done(self) -> bool:
        if self._closed:
            return True
        if self.call.content is None or self.open_ended:
            return False
        return not self._waits_for_picture()

    def close(self) -> None:
        self._closed = True

    def _waits_for_picture(self) -> bool:
        """Whether the height of a picture depends on bytes that are still being read. A call that had ended before is
        not waited for: it would hold back everything after it."""
        shape = self._current_shape() if self._was_open else None
        return isinstance(shape, ImageShape) and shape.is_awaited()

    @property
    def ticks(self) -> bool:
        return not self.done and not self._drawing.linear and (self.call.content is None or self._pending)

    @property
    def catches_up(self) -> bool:
        return self._pending and self.ticks

    @property
    def source(self) -> str:
        return "\n".join([shape_of(call, self._drawing).source for call in self.calls])

    def live_from(self) -> int | None:
        return 0

    def contains(self, component: Component) -> bool:
        shape = self._shape
        return component is self or (isinstance(shape, ImageShape) and shape.picture is component)

    def invalidate(self) -> None:
        self._made_of, self._rows, self._reads = None, (), []
        if self.done:
            self._shape, self._shape_of = None, ()
            self._rendered.forget()

    def dispose(self) -> None:
        self._rendered.forget()

    # ---- rows

    def render(self, width: int) -> Rows:
        call, drawing = self.call, self._drawing
        made_of = (
            width,
            drawing.theme.name,
            drawing.theme.depth,
            drawing.unfolded,
            call.updates,
            call.content is None,
            call.args is None,
            len(call.written),
            len(self.calls),
            self._closed,
            self._elapsed(),
            self._rendered.frame(),
            isinstance(self._shape, ImageShape) and self._shape.picture,
        )
        if made_of != self._made_of or self._pending:
            rows = self._draw(max(width, 4))
            if made_of != self._made_of or rows != self._rows:
                self._rows = rows
            self._made_of = made_of
        return self._rows

    def _draw(self, width: int) -> Rows:
        shape = self._current_shape()
        if is_read(self.call) and not self._renders(self.call) and len(self.calls) > 1:
            self._pending = False
            self._reads += [_summary(call, self._drawing) for call in self.calls[len(self._reads) :]]
            return _group_rows(self._reads, self._drawing, width)
        header = self._header(shape, width)
        body = self._body(shape, width - len(INDENT))
        rows, filled = self._paced(body, shape)
        is_output = shape.gutter and self._rendered.result(width - len(INDENT)) is None
        shown = beside(rows, self._drawing) if is_output else indented(rows)
        return (*header, *shown, *[""] * filled, *self._status(width))

    def _body(self, shape: Shape, width: int) -> ShapeBody:
        body = self._rendered.result(width)
        if body is not None:
            return body
        has_result = self.call.content is not None or self.call.pieces or self.call.details is not None
        # A renderer that draws the arguments in the header does not need them below once more.
        return shape.body(width) if has_result or self._rendered.header(width) is None else ShapeBody()

    def _header(self, shape: Shape, width: int) -> Sequence[str]:
        rendered = self._rendered.header(width)
        if rendered is not None:
            return rendered
        drawing = self._drawing
        return header_rows(
            drawing.theme,
            width,
            state="stopped" if self._closed and self.call.content is None else state_of(self.call),
            label=shape.label,
            title=shape.title,
            suffix=self._suffix(shape),
            most=shape.title_rows[drawing.unfolded],
            spoken=drawing.linear,
        )

    def _suffix(self, shape: Shape) -> str:
        call = self.call
        refused = call_ending(call.details).ended == _REFUSED and _REFUSED not in shape.suffix
        parts = [_REFUSED if refused else "", shape.suffix]
        if call.content is not None and call.duration is not None and call.duration >= _SHORTEST_SHOWN:
            parts.append(seconds_words(call.duration))
        elif elapsed := self._elapsed():
            parts.append(seconds_words(elapsed))
        if not self._drawing.unfolded and is_read(call) and shape.source:
            parts.append(self._drawing.way_to("view_output"))
        return " · ".join([part for part in parts if part])

    def _status(self, width: int) -> list[str]:
        """The row about a call that writes nothing."""
        status = self._status_text() if self.call.status else ""
        return [INDENT + self._drawing.theme.style("dim", truncate(status, width - len(INDENT)))] if status else []

    def _status_text(self) -> str:
        """The status. How long there was no output is counted by our clock: a status that was sent is old."""
        call, drawing = self.call, self._drawing
        if drawing.linear or not call.silent:
            return clean_line(call.status)
        return f"no output for {seconds_words(drawing.clock() - call.heard)}" if call.heard else _NOTHING_YET

    def _paced(self, body: ShapeBody, shape: Shape) -> tuple[Sequence[str], int]:
        """The rows to show now, a few more than in the last frame, and how many empty ones keep the height."""
        rows = body.rows
        if self.call.content is not None or self._closed:
            self._pending = False
            return rows, 0
        most = self._floor + _ROWS_A_FRAME
        self._pending = len(rows) > most or shape.behind
        if len(rows) > most:
            rows = rows[-most:] if body.from_end else rows[:most]
        self._floor = max(self._floor, len(rows))
        return rows, self._floor - len(rows)

    def _current_shape(self) -> Shape:
        call = self.call
        shape_of_now = (call.details, call.args, call.content, bool(call.written), bool(call.pieces))
        same = len(self._shape_of) == len(shape_of_now) and all(
            old is new for old, new in zip(self._shape_of, shape_of_now, strict=True)
        )
        if self._shape is None or not same:
            before, self._shape, self._shape_of = self._shape, shape_of(call, self._drawing), shape_of_now
            if isinstance(before, FallbackShape) and not isinstance(self._shape, FallbackShape):
                self._floor = 0  # its arguments were shown for a moment, until it was known what it is
        return self._shape

    def _elapsed(self) -> int:
        """Whole seconds it has been running; 0 where the start is unknown, or nothing is to move."""
        call, drawing = self.call, self._drawing
        if call.content is not None or not call.began or drawing.linear or self._closed:
            return 0
        return int(call.elapsed(drawing.clock()))

    def _renders(self, call: TranscriptCall) -> bool:
        renderers = self._drawing.renderers
        return renderers is not None and _RenderedCall.is_for(call, renderers)


def state_of(call: TranscriptCall) -> str:
    if call.content is None:
        return "running"
    ended = call_ending(call.details).ended
    if ended == "job":
        return "background"
    if ended in ("cancelled", "unfinished") or is_unanswered(call):
        return "stopped"
    return "error" if call.is_error else "ok"


def _summary(call: TranscriptCall, drawing: DrawingOptions) -> _ReadSummary:
    shape = shape_of(call, drawing)
    return _ReadSummary(clean_line(call.name), shape.title, shape.suffix, isinstance(ui_fact(call.details), ReadFact))


def _group_rows(reads: Sequence[_ReadSummary], drawing: DrawingOptions, width: int) -> tuple[str, ...]:
    """The header, and the names side by side; unfolded, one a row with its size."""
    theme = drawing.theme
    labels = list(dict.fromkeys(read.label for read in reads))
    sign, role = sign_of("ok", spoken=drawing.linear)
    way = drawing.way_to("view_output")
    key = f" ({way})" if way else ""
    what = "files" if all(read.is_file for read in reads) else "files and folders"
    head = truncate(f"{'/'.join(labels)} {len(reads)} {what}", width - measure(sign) - 1 - len(key))
    first = f"{theme.style(role, sign)} {theme.style('strong', head)}{theme.style('muted', key)}"
    if drawing.unfolded:
        rows = [f"{read.title} {theme.style('muted', read.suffix)}" for read in reads]
    else:
        rows = _packed([read.title for read in reads], width - len(INDENT))
    return (first, *(INDENT + truncate(row, width - len(INDENT)) for row in rows))


def _packed(names: Sequence[str], width: int) -> list[str]:
    rows: list[str] = []
    for name in names:
        joined = f"{rows[-1]}{_BETWEEN}{name}" if rows else name
        if rows and measure(joined) <= width:
            rows[-1] = joined
        else:
            if rows:
                rows[-1] += _BETWEEN.rstrip()
            rows.append(name if measure(name) <= width else _end_of(name, width))
    return rows


def _end_of(name: str, width: int) -> str:
    """The end of a path that does not fit: it is what differs from other paths."""
    while measure(name) > max(width - 1, 1):
        name = name[1:]
    return "…" + name


class _RenderedCall:
    """The header and the result of a call as the renderers of an extension draw them.

    A component a renderer returned is used until the call changes. Where a renderer returns nothing, or fails (the
    console reports that once), the call is drawn by its shape.
    """

    def __init__(self, call: TranscriptCall, drawing: DrawingOptions) -> None:
        self._call = call
        self._drawing = drawing
        self._made_of: tuple[object, ...] | None = None
        self._parts: tuple[Component | None, Component | None] = (None, None)

    @staticmethod
    def is_for(call: TranscriptCall, renderers: Renderers) -> bool:
        return any(renderers.call_for(name) or renderers.result_for(name) for name in _names(call))

    def frame(self) -> int | None:
        """The number of a spinner's frame; None where no renderer draws, or nothing moves."""
        call, drawing = self._call, self._drawing
        if drawing.renderers is None or call.content is not None or drawing.linear:
            return None
        if not self.is_for(call, drawing.renderers):
            return None
        return int(max(drawing.clock() - call.began, 0) / _FRAME + 0.01)

    def header(self, width: int) -> Rows | None:
        self._make()
        return _rows(self._parts[0], width)

    def result(self, width: int) -> ShapeBody | None:
        self._make()
        rows = _rows(self._parts[1], width)
        return None if rows is None else ShapeBody(rows)

    def forget(self) -> None:
        for part in self._parts:
            if part is not None:
                part.dispose()
        self._made_of, self._parts = None, (None, None)

    def _make(self) -> None:
        call, drawing = self._call, self._drawing
        if drawing.renderers is None:
            return
        frame = self.frame()
        made_of = (call.updates, call.args is None, call.content is None, len(call.written), drawing.unfolded, frame)
        if made_of == self._made_of:
            return
        self.forget()
        self._made_of = made_of
        options = RenderOptions(drawing.unfolded, call.content is None, frame)
        self._parts = (self._call_part(drawing.renderers, options), self._result_part(drawing.renderers, options))

    def _call_part(self, renderers: Renderers, options: RenderOptions) -> Component | None:
        draw = next((found for name in _names(self._call) if (found := renderers.call_for(name))), None)
        return None if draw is None else draw(self._call.args, options, self._drawing.theme)

    def _result_part(self, renderers: Renderers, options: RenderOptions) -> Component | None:
        call = self._call
        draw = next((found for name in _names(call) if (found := renderers.result_for(name))), None)
        if draw is None or (call.content is None and call.details is None and not call.pieces):
            return None
        result = Result(call.content or "", call.details, call.is_error, call.exit_code, call.output)
        return draw(result, options, self._drawing.theme, call.args)


def _names(call: TranscriptCall) -> tuple[str, ...]:
    """The tool's name as the model knows it, and ours."""
    return (call.native_name, call.name) if call.native_name else (call.name,)


def _rows(component: Component | None, width: int) -> Rows | None:
    """The rows; None without a component, or where it failed just now."""
    if component is None:
        return None
    rows = component.render(width)
    return None if getattr(component, "failed", False) else rows
