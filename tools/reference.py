"""Writes the tables of keys, commands, tools and settings of the reference, from the code: `make reference`."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from sightline.delegation.tools._irc import IrcTool
from sightline.delegation.tools._task import WHAT, BatchParams
from sightline.delegation.tools._yield import ReportFindingTool, YieldTool
from sightline.tools import builtin_tools, schema_of
from sightline.views.console._actions import ACTIONS, COMMANDS
from tools.settings_reference import settings_page

PAGES = Path(__file__).parent.parent / "docs" / "reference"
KEYS = {
    "Anywhere but in a dialog": ("console",),
    "Stopping and leaving": ("app",),
    "The editor": ("editor",),
    "Lists and dialogs": ("select", "tree", "tabs", "list"),
    "The tree of the conversation": ("entries",),
    "The viewer of outputs": ("viewer",),
    "Approvals": ("approval",),
}
"""The headings of the page of keys, and the scopes below each."""


def keys_page(page: str) -> str:
    for heading, scopes in KEYS.items():
        page = _with_table(page, heading, ("action", "keys", "does"), _keys(scopes))
    return page


def console_page(page: str) -> str:
    rows = ((f"`/{action.command} {action.args}".rstrip() + "`", action.does) for action in COMMANDS.values())
    return _with_table(page, "Commands", ("command", "does"), rows)


def tools_page(page: str) -> str:
    rows = (
        (f"`{name}`", ", ".join(_arguments(params)), _sentence(description)) for name, params, description in _tools()
    )
    return _with_table(page, "All of them", ("tool", "arguments", "does"), rows)


def _tools() -> Iterator[tuple[str, type[msgspec.Struct], str]]:
    """The name, arguments and description of each; those of agents last, `task` in the form most models are shown."""
    for tool in builtin_tools():
        yield tool.name, tool.params, tool.description
    yield "task", BatchParams, WHAT
    for each in (IrcTool, YieldTool, ReportFindingTool):
        yield each.name, each.params, each.description


def _sentence(description: str) -> str:
    """The first one."""
    return re.split(r"(?<=\.)\s", description, maxsplit=1)[0]


def _arguments(params: type[msgspec.Struct]) -> Iterator[str]:
    """Each argument; one that need not be given with its default, when that is not empty."""
    schema = schema_of(params)
    for name, kind in schema["properties"].items():
        default = kind.get("default")
        shown = "" if default in (None, "", []) else f" = {json.dumps(default)}"
        yield f"`{name}{shown}`" if name in schema.get("required", ()) or shown else f"`{name}`?"


def _keys(scopes: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    for scope in scopes:
        for name, action in ACTIONS.items():
            if action.scope == scope:
                yield f"`{name}`", " ".join(f"`{key}`" for key in action.keys) or "none", action.about


def _with_table(page: str, heading: str, head: tuple[str, ...], rows: Iterator[tuple[str, ...]]) -> str:
    """The page with the first table below a heading made anew."""
    before, title, after = page.partition(f"\n## {heading}\n")
    assert title, heading
    lines = [_row(head), _row(["---"] * len(head)), *(_row(cell.replace("|", "\\|") for cell in row) for row in rows)]
    table = "\n".join(lines)
    return before + title + re.sub(r"^\|.*(?:\n\|.*)*", lambda _: table, after, count=1, flags=re.MULTILINE)


def _row(cells: "Iterator[str] | tuple[str, ...] | list[str]") -> str:
    return f"| {' | '.join(cells)} |"


WRITERS = {"keys.md": keys_page, "console.md": console_page, "tools.md": tools_page, "settings.md": settings_page}

if __name__ == "__main__":
    for name, write in WRITERS.items():
        (PAGES / name).write_text(write((PAGES / name).read_text()))
