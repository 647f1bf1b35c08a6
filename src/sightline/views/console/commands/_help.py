"""`/help`: what can be entered and pressed, by topic, as one page in the transcript."""

from typing import TYPE_CHECKING

from sightline.text import clean_line
from sightline.views.console._actions import ABOUT
from sightline.views.console.commands._registry import COMMANDS
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.views.console._console import Console
    from sightline.views.console._page import Topic

Row = tuple[str, str]

_TYPING = (
    ("enter", "send; while the agent works: steer it"),
    ("shift+enter, ctrl+j", "new line"),
    ("@", "name a file"),
    ("!, !!", "run a shell command; with !! the agent does not see it"),
    ("$, $$", "run Python; with $$ the agent does not see it"),
    ("ctrl+r", "search your earlier prompts"),
    ("ctrl+g", "write in your own editor"),
    ("escape", "stop the agent; twice on an empty prompt: the tree"),
    ("ctrl+c", "clear the prompt; twice: leave"),
    ("ctrl+d", "leave, when the prompt is empty"),
    ("ctrl+z", "suspend; fg comes back"),
)
_TOPICS = {
    "Conversation": "stop queue unqueue compact todo copy output unfold reasoning",
    "Model and permissions": "model thinking approvals",
    "Sessions": "new clear resume tree branch fork detach quit",
    "Work": "status jobs agents files",
    "Prompt": "attach paste history editor",
    "Console": "help settings keys theme redraw",
}
_OTHERS = "More"


async def open(console: "Console", args: str) -> None:
    theirs = [(str(row.get("name", "")), str(row.get("about", ""))) for row in Facts(console.state).commands]
    topics: list[Topic] = [("Typing", list(_TYPING)), *_commands(theirs)]
    bound = [(action, ", ".join(console.bindings.keys(action))) for action in console.bindings.actions("console")]
    keys = [(pressed, ABOUT[action]) for action, pressed in bound if pressed]
    topics.append(("Keys (/keys changes them)", keys))
    console.show_page(topics)


def _commands(theirs: list[Row]) -> list[tuple[str, list[Row]]]:
    """Each once, by topic; one that is in none, and those of extensions, at the end."""
    listed = {topic: names.split() for topic, names in _TOPICS.items()}
    known = {name for names in listed.values() for name in names}
    listed[_OTHERS] = [name for name in COMMANDS if name not in known]
    found = [(topic, [_command(name) for name in names if name in COMMANDS]) for topic, names in listed.items()]
    found[-1][1].extend((f"/{clean_line(name)}", clean_line(about)) for name, about in theirs)
    return [(topic, rows) for topic, rows in found if rows]


def _command(name: str) -> Row:
    command = COMMANDS[name]
    return f"/{name} {command.args}".rstrip(), command.about
