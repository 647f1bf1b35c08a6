"""The session's state around its transcript: the status line, the current activity, todo, jobs, the title."""

from sightline.views.console.status._attention import Attention
from sightline.views.console.status._facts import Facts
from sightline.views.console.status._jobs import JobsPanel
from sightline.views.console.status._line import StatusLine
from sightline.views.console.status._pulse import Pulse
from sightline.views.console.status._todo import TodoPanel
from sightline.views.console.status._working import AGENT, WorkingRow

__all__ = ["AGENT", "Attention", "Facts", "JobsPanel", "Pulse", "StatusLine", "TodoPanel", "WorkingRow"]
