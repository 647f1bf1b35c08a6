"""The console's own keys, beside those of the editor and the lists: named actions that settings can move.

They are heard before the editor hears anything, and mean nothing while a dialog has the keys.
"""

from collections.abc import Mapping, Sequence

from sightline.tty import Bindings
from sightline.tty._bindings import DEFAULT_ACTIONS, Action

ABOUT = {
    "view_output": "the whole output of a call, whatever was cut",
    "unfold": "show more of every block, or less again",
    "reasoning": "show what the model thinks, or not",
    "follow_up": "send when the agent is done, instead of now",
    "unqueue": "take back what waits to be sent",
    "paste_image": "attach the image on the clipboard",
    "copy_block": "copy the last answer, as it was written",
    "model": "choose a model",
    "thinking": "think more, up to the most; then less again",
    "tree": "the tree of the conversation",
    "resume": "another conversation",
    "jobs": "running jobs",
    "agents": "the agents of this session",
    "files": "files changed in this session",
    "todo": "show the todo list, or not",
}

# Alt+enter breaks a line elsewhere; here it sends later. Shift+enter, ctrl+j and a backslash still break lines.
ACTIONS: dict[str, Action] = {
    **DEFAULT_ACTIONS,
    "newline": Action("editor", ("shift+enter", "ctrl+enter", "ctrl+j")),
    "history_prev": Action("editor", ("ctrl+p", "ctrl+up")),
    "history_next": Action("editor", ("ctrl+n", "ctrl+down")),
    "view_output": Action("console", ("ctrl+o",)),
    "unfold": Action("console", ("alt+o",)),
    "reasoning": Action("console", ("alt+t",)),
    "follow_up": Action("console", ("alt+enter",)),
    "unqueue": Action("console", ("alt+up",)),
    "paste_image": Action("console", ("ctrl+v", "alt+v")),
    "copy_block": Action("console", ("alt+c",)),
    "model": Action("console", ("alt+m",)),
    "thinking": Action("console", ("shift+tab",)),
    "tree": Action("console", ()),
    "resume": Action("console", ()),
    "jobs": Action("console", ("alt+j",)),
    "agents": Action("console", ("alt+a",)),
    "files": Action("console", ("alt+g",)),
    "todo": Action("console", ("alt+l",)),
}


def bindings_from(overrides: Mapping[str, str | Sequence[str]]) -> Bindings:
    """The keys there are, with what a person's settings say."""
    return Bindings(overrides, ACTIONS)
