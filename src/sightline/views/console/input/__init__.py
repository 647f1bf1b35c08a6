"""The prompt editor with its modes, completions and attachments, its drafts and its history.

Each name is imported on first use: the first paint needs nothing but the look of the empty editor (`_empty`).
"""

from __future__ import annotations as annotations

from sightline._later import later

TYPE_CHECKING = False
if TYPE_CHECKING:
    from sightline.views.console.input._drafts import Drafts as Drafts
    from sightline.views.console.input._drafts import PromptDraft as PromptDraft
    from sightline.views.console.input._history import PromptHistory as PromptHistory
    from sightline.views.console.input._history_search import PromptSearch as PromptSearch
    from sightline.views.console.input._prompt_editor import PromptEditor as PromptEditor
    from sightline.views.console.input._prompt_editor import PromptHost as PromptHost
    from sightline.views.console.input._queue import QueuePanel as QueuePanel
    from sightline.views.console.input._submission import Attachment as Attachment
    from sightline.views.console.input._submission import Mode as Mode
    from sightline.views.console.input._submission import Submission as Submission

if not TYPE_CHECKING:  # so that a wrong name is found by the type checker
    __getattr__, __dir__ = later(__name__, __file__)
