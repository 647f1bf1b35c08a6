"""`/help`: what can be entered and pressed, by topic, as one page in the transcript."""

from typing import TYPE_CHECKING

from sightline.text import clean_line
from sightline.views.console._actions import COMMANDS, OWN, TOPICS
from sightline.views.console.status import Facts
from sightline.views.console.transcript._page import HelpPage, Topic

if TYPE_CHECKING:
    from sightline.tty import Bindings
    from sightline.views.console._console import Console

_TYPING = (
    ("enter", "send; while the agent works: steer it"),
    ("newline", "new line"),
    ("@", "name a file"),
    ("!, !!", "run a shell command; with !! the agent does not see it"),
    ("$, $$", "run Python; with $$ the agent does not see it"),
    ("history_search", "search your earlier prompts"),
    ("external_editor", "write in your own editor"),
    ("escape", "stop the agent; twice on an empty prompt: the tree"),
    ("ctrl+c", "clear the prompt; twice: leave"),
    ("exit", "leave, when the prompt is empty"),
    ("suspend", "suspend; fg comes back"),
)
"""What is typed, or an action of the editor or the program, shown with its keys."""
_SOURCES = {"extension": "More", "project": "Commands of this project", "user": "Your commands"}
"""Of commands that are not the console's, with their topics."""


def open(console: "Console", args: str) -> None:
    theirs = Facts(console.state).commands
    bindings = console.bindings
    keys = [(pressed, action.about) for action in OWN.values() if (pressed := ", ".join(bindings.keys(action.name)))]
    topics: list[Topic] = [("Typing", _typing(bindings))]
    for topic in TOPICS:
        ours = (action for action in COMMANDS.values() if action.topic == topic)
        topics.append((topic, [(f"/{action.command} {action.args}".rstrip(), action.does) for action in ours]))
    for source, topic in _SOURCES.items():
        rows = [(f"/{each.name} {each.args}".rstrip(), each.about) for each in theirs if each.source == source]
        if rows:
            topics.append((topic, [(clean_line(command), clean_line(about)) for command, about in rows]))
    console.transcript.add_page(HelpPage([*topics, ("Keys (/keys changes them)", keys)], console.drawing))


def _typing(bindings: "Bindings") -> list[tuple[str, str]]:
    known = bindings.actions()
    rows = ((", ".join(bindings.keys(typed)) if typed in known else typed, does) for typed, does in _TYPING)
    return [(typed, does) for typed, does in rows if typed]
