"""`/help`: what can be entered and pressed, as one page in the transcript."""

from typing import TYPE_CHECKING

from sightline.text import clean_line
from sightline.views.console._actions import ABOUT
from sightline.views.console.commands._registry import COMMANDS
from sightline.views.console.status import Facts

if TYPE_CHECKING:
    from sightline.views.console._console import Console

_BASIC = (
    ("enter", "send; while the agent works, it hears it with its next request"),
    ("shift+enter, ctrl+j", "a new line"),
    ("escape", "stop what is going on; twice on an empty editor: the tree"),
    ("ctrl+c", "clear the editor; twice: leave"),
    ("ctrl+d", "leave, when the editor is empty"),
    ("ctrl+z", "to the shell; `fg` comes back"),
    ("@", "a file"),
    ("!, !!", "a shell line; with two, the agent does not hear of it"),
    ("$, $$", "Python; with two, the agent does not hear of it"),
    ("ctrl+r", "search what was entered before"),
    ("ctrl+g", "write in your editor"),
)


async def open(console: "Console", args: str) -> None:
    theirs = [(str(row.get("name", "")), str(row.get("about", ""))) for row in Facts(console.state).commands]
    lines = ["**Commands**", ""]
    for command in COMMANDS.values():
        lines.append(f"- `/{command.name}{' ' + command.args if command.args else ''}` {command.about}")
    lines += [f"- `/{clean_line(name)}` {clean_line(about)}" for name, about in theirs]
    lines += ["", "**Keys** (`/keys` changes them)", ""]
    lines += [f"- `{key}` {about}" for key, about in _BASIC]
    for action in console.bindings.actions("console"):
        if keys := ", ".join(console.bindings.keys(action)):
            lines.append(f"- `{keys}` {ABOUT[action]}")
    console.show_page("\n".join(lines))
