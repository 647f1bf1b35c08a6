"""`sightline commands`: the slash commands of Markdown files, those that cannot be used among them."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sightline.agent import CommandFile, find_commands, own_names
from sightline.text import clean_line, clean_value
from sightline.views._names import from_home
from sightline.views.plain._output import pretty_json
from sightline.views.plain._palette import Palette
from sightline.views.plain._table import Column, draw_described

_COLUMNS = tuple(map(Column, ("COMMAND", "FROM", "STATE")))
_NOTHING = "no command files here: write one, such as .claude/commands/fix.md or .sightline/commands/fix.md\n"


class CommandsOutput(msgspec.Struct, frozen=True):
    """`notes` are for stderr."""

    text: str
    notes: str = ""


def show_commands(
    cwd: Path, environ: Mapping[str, str], palette: Palette, width: int | None, *, json: bool
) -> CommandsOutput:
    found = find_commands(cwd, environ, own_names())
    notes = "".join(f"note: {clean_line(each)}\n" for each in found.notices)
    if json:
        return CommandsOutput(pretty_json([_facts(command) for command in found.files]).decode(), notes)
    if not found.files:
        return CommandsOutput("", notes + _NOTHING)
    return CommandsOutput("".join(f"{row}\n" for row in _rows(found.files, palette, width)), notes)


def _rows(files: list[CommandFile], palette: Palette, width: int | None) -> list[str]:
    """For each a row of the table, and below it what it does, its file and what of it is ignored."""
    below = [
        (
            command.description,
            f"model: {command.model}" if command.model else "",
            f"ignored: {', '.join(command.ignored)}" if command.ignored else "",
            clean_line(from_home(command.file)),
        )
        for command in files
    ]
    return draw_described(_COLUMNS, [_cells(command) for command in files], below, palette, width)


def _cells(command: CommandFile) -> tuple[str, ...]:
    state = command.why if command.state == "shadowed" else ": ".join(filter(None, (command.state, command.why)))
    return f"/{command.name} {command.arguments}".rstrip(), command.source, clean_line(state)


def _facts(command: CommandFile) -> dict[str, object]:
    command = replace(command, file=clean_line(command.file))
    facts: dict[str, object] = clean_value(msgspec.json.decode(msgspec.json.encode(command)))
    return {name: value for name, value in facts.items() if name != "text"}
