"""Dialogs: approvals, questions of agents and extensions, and questions about the session itself."""

from sightline.views.console._desk import Answerable
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.dialogs._approval import ApprovalDialog
from sightline.views.console.dialogs._dialog import DIALOGS, ExtensionDialog
from sightline.views.console.dialogs._dialog_frame import Dialog, Height, kind_of, usual_height
from sightline.views.console.dialogs._question import QuestionDialog
from sightline.views.console.dialogs._session import GoneDialog, LeavingDialog, RunningDialog, RunningSession
from sightline.views.console.dialogs._worktree import WorktreeDialog

__all__ = [
    "ApprovalDialog",
    "Dialog",
    "GoneDialog",
    "LeavingDialog",
    "QuestionDialog",
    "RunningDialog",
    "RunningSession",
    "WorktreeDialog",
    "dialog_for",
]


def dialog_for(request: dict[str, object], drawing: DrawingOptions, height: Height = usual_height) -> Answerable:
    """The dialog for an open request (`state.requests[id]`). Its answer is the request's; None: it was closed.

    `height`: rows available. A component of an extension's own comes from `ConsoleExtensions.dialog_for`.
    """
    match request.get("what"):
        case "approval":
            return ApprovalDialog(request, drawing, height)
        case "question":
            return QuestionDialog(request, drawing, height)
    return DIALOGS.get(kind_of(request), ExtensionDialog)(request, drawing, height)
