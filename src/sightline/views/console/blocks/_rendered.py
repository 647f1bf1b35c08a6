"""A call drawn by the renderers of an extension.

A component a renderer returned is used until the call changes. Where a renderer returns nothing, or fails (the console
reports that once), the call is drawn by its shape.
"""

from sightline.transcript import TranscriptCall
from sightline.tty import Component, Rows
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.extensions._renderers import Renderers, RenderOptions, Result
from sightline.views.console.shapes import ShapeBody

_FRAME = 0.08  # seconds of a spinner's frame


class RenderedCall:
    """The header and the result of one call."""

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
