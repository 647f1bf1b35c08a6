"""What a person is asked: may this be done, which of these, stop or go on."""

from typing import Any

from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._approval import ApprovalDialog
from sightline.views.console.dialogs._dialog import (
    ConfirmDialog,
    EditorDialog,
    InputDialog,
    SelectDialog,
    UnknownDialog,
)
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, usual_height
from sightline.views.console.dialogs._question import QuestionDialog
from sightline.views.console.dialogs._session import GoneDialog, LeavingDialog, RunningDialog, RunningSession

__all__ = [
    "ApprovalDialog",
    "Dialog",
    "GoneDialog",
    "LeavingDialog",
    "QuestionDialog",
    "RunningDialog",
    "RunningSession",
    "dialog_for",
]

_DIALOGS: dict[str, type[SelectDialog | ConfirmDialog | InputDialog | EditorDialog]] = {
    "select": SelectDialog,
    "confirm": ConfirmDialog,
    "input": InputDialog,
    "editor": EditorDialog,
}


def dialog_for(request: dict[str, Any], drawing: DrawingOptions, height: Height = usual_height) -> Answerable:
    """What to show for an open request (`state.requests[id]`): its answer is the request's; None: it was closed.

    `height`: rows there are for it. A component of an extension's own comes from `Extensions.dialog_for`.
    """
    match request.get("what"):
        case "approval":
            return ApprovalDialog(request, drawing, height)
        case "question":
            return QuestionDialog(request, drawing, height)
    details = request.get("details")
    shape = details.get("ui") if isinstance(details, dict) else None
    kind = shape.get("kind") if isinstance(shape, dict) else None
    return _DIALOGS.get(str(kind), UnknownDialog)(request, drawing, height)
