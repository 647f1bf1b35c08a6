"""The shape of a call: found by its details, then by its arguments; any other call is shown as output."""

from collections.abc import Callable

from sightline import events
from sightline.transcript import TranscriptCall
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.shapes._command import cell, command
from sightline.views.console.shapes._delegation import delegation, delegation_plan
from sightline.views.console.shapes._diff import DiffShape, edited
from sightline.views.console.shapes._document import CodeShape, ImageShape, MarkdownShape, ReadShape, TextShape, written
from sightline.views.console.shapes._fallback import FallbackShape as FallbackShape
from sightline.views.console.shapes._found import FilesShape, SearchShape
from sightline.views.console.shapes._jobs import JobsShape
from sightline.views.console.shapes._json import json_text, json_tree
from sightline.views.console.shapes._output import without_refusal
from sightline.views.console.shapes._question import is_unanswered, open_question, question
from sightline.views.console.shapes._review import FindingShape, ReviewShape
from sightline.views.console.shapes._shape import Shape, ShapeBody, displayed
from sightline.views.console.shapes._table import table
from sightline.views.console.shapes._todo import TodoShape, phases_of, planned
from sightline.views.console.shapes._writing import writing

__all__ = ["Shape", "ShapeBody", "is_read", "is_unanswered", "shape_of"]

_Guard = Callable[[TranscriptCall, DrawingOptions], Shape | None]


def _by_details(call: TranscriptCall, drawing: DrawingOptions) -> Shape | None:
    match events.ui_fact(call.details):
        case events.DiffFact() as fact:
            return DiffShape(call, drawing, fact)
        case events.TodoFact() as fact:
            return TodoShape(call, drawing, phases_of(fact))
        case events.JobsFact() as fact:
            return JobsShape(call, drawing, fact)
        case events.SearchFact() as fact:
            return SearchShape(call, drawing, fact)
        case events.FilesFact() as fact:
            return FilesShape(call, drawing, fact)
        case events.TableFact() as fact:
            return table(call, drawing, fact)
        case events.ReadFact() | events.ListingFact() as fact:
            return ReadShape(call, drawing, fact)
        case events.CodeFact() as fact:
            return CodeShape(call, drawing, fact.code or displayed(fact, call))
        case events.MarkdownFact() as fact:
            return MarkdownShape(call, drawing, fact.markdown or displayed(fact, call))
        case events.ResourceFact() as fact:
            return TextShape(call, drawing, fact)
        case events.ImageFact() as fact:
            return ImageShape(call, drawing, fact)
        case events.JsonFact() as fact:
            return json_tree(call, drawing, fact)
        case events.QuestionFact():
            return question(call, drawing)
        case events.ReviewFact() as fact:
            return ReviewShape(call, drawing, fact)
        case events.FindingFact() as fact:
            return FindingShape(call, drawing, fact)
    return delegation(call, drawing)


# In this order: the first that returns a shape decides.
_GUARDS: tuple[_Guard, ...] = (
    _by_details,
    writing,
    delegation_plan,
    open_question,
    command,
    cell,
    edited,
    written,
    planned,
    json_text,
)


def shape_of(call: TranscriptCall, drawing: DrawingOptions) -> Shape:
    """The first shape that fits the call. Never fails: any call can be shown as its output or arguments."""
    call = without_refusal(call)
    shapes = (guard(call, drawing) for guard in _GUARDS)
    return next((shape for shape in shapes if shape is not None), None) or FallbackShape(call, drawing)


def is_read(call: TranscriptCall) -> bool:
    """Whether the call succeeded and only read something: such calls are shown together."""
    has_succeeded = call.content is not None and not call.is_error
    return has_succeeded and isinstance(events.ui_fact(call.details), events.ReadFact | events.ListingFact)
