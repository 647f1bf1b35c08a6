"""What a call looks like, found in what it carries: its details, then its arguments, then whatever there is."""

from collections.abc import Callable

from sightline.events import ListingFact, ReadFact, ui_fact
from sightline.transcript import TranscriptCall
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._command import cell, command
from sightline.views.console.shapes._delegation import delegation, delegation_plan
from sightline.views.console.shapes._diff import diff, edited
from sightline.views.console.shapes._document import document, written
from sightline.views.console.shapes._fallback import fallback
from sightline.views.console.shapes._found import files, search
from sightline.views.console.shapes._jobs import jobs
from sightline.views.console.shapes._json import json_text, json_tree
from sightline.views.console.shapes._question import asked, is_unanswered, question
from sightline.views.console.shapes._shape import Shape, ShapeBody
from sightline.views.console.shapes._table import table
from sightline.views.console.shapes._todo import planned, todo
from sightline.views.console.shapes._told import without_refusal
from sightline.views.console.shapes._writing import writing

__all__ = ["Shape", "ShapeBody", "is_read", "is_unanswered", "shape_of"]

_Guard = Callable[[TranscriptCall, DrawingOptions], Shape | None]

# In the order they are asked. Those that look at `details.ui` come first, those that look at arguments after them.
_BY_DETAILS: tuple[_Guard, ...] = (delegation, diff, todo, jobs, search, files, table, document, json_tree, question)
_BY_ARGUMENTS: tuple[_Guard, ...] = (
    writing,
    delegation_plan,
    asked,
    command,
    cell,
    edited,
    written,
    planned,
    json_text,
)


def shape_of(call: TranscriptCall, drawing: DrawingOptions) -> Shape:
    """Never fails: what nobody recognises is shown as output or arguments."""
    call = without_refusal(call)
    for guard in (*_BY_DETAILS, *_BY_ARGUMENTS):
        shape = guard(call, drawing)
        if shape is not None:
            return shape
    return fallback(call, drawing)


def is_read(call: TranscriptCall) -> bool:
    """It ended well and only looked at something: such calls are shown together."""
    return call.content is not None and not call.is_error and isinstance(ui_fact(call.details), ReadFact | ListingFact)
