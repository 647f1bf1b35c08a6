"""Where the person writes: the editor with its modes, completions and attachments, and what is kept of it.

Each name is imported when asked for: the first paint takes nothing but the look of the empty editor (`_empty`).
"""

from __future__ import annotations

from sightline._later import later

TYPE_CHECKING = False  # `typing` is not for the first paint
if TYPE_CHECKING:
    from sightline.views.console.input._drafts import Draft, Drafts
    from sightline.views.console.input._history import PromptHistory
    from sightline.views.console.input._history_search import HistorySearch
    from sightline.views.console.input._prompt_editor import PromptEditor, PromptHost
    from sightline.views.console.input._queue import Queue
    from sightline.views.console.input._submission import Attachment, Mode, Submission

__all__ = [
    "Attachment",
    "Draft",
    "Drafts",
    "HistorySearch",
    "Mode",
    "PromptEditor",
    "PromptHistory",
    "PromptHost",
    "Queue",
    "Submission",
]

_LATER = {
    "Attachment": "_submission",
    "Draft": "_drafts",
    "Drafts": "_drafts",
    "HistorySearch": "_history_search",
    "Mode": "_submission",
    "PromptEditor": "_prompt_editor",
    "PromptHistory": "_history",
    "PromptHost": "_prompt_editor",
    "Queue": "_queue",
    "Submission": "_submission",
}

__getattr__ = later(__name__, _LATER)


def __dir__() -> list[str]:
    """The public names, loaded or not: for completion and `help()`."""
    return __all__
