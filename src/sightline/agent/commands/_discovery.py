"""Which slash commands the Markdown files of a folder and of the user define.

Precedence; of one name the first counts, and the others are shadowed:

1. the console's own commands, and those of extensions
2. the project's: `.sightline/commands`, `.claude/commands`, each in the nearest folder that has it, up to the root of
   the repository
3. the user's: `commands` beside the settings file, `~/.claude/commands`

Which files are looked at, and in which folders they are trusted: `settings/_definition_search.py`.
"""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sightline.agent.commands._command_file import LARGEST, CommandFile, read_command, unread_command
from sightline.settings import (
    COMMAND_FOLDERS,
    LONGEST_NOTICE,
    SearchedFolders,
    search_definitions,
    trusted_commands,
    user_commands_folder,
)
from sightline.text import clean_line, cut_graphemes

MOST_COMMANDS = 200  # that can be used
_MOST_NOTICES = 5
_FOLDERS = SearchedFolders(
    word="command",
    project=COMMAND_FOLDERS,
    own=user_commands_folder,
    trusted=trusted_commands,
    claude=("commands",),
)


class CommandCatalogue(msgspec.Struct, frozen=True):
    """All files that were found, in their order of precedence."""

    files: list[CommandFile]
    notices: list[str]

    @property
    def usable(self) -> dict[str, CommandFile]:
        return {each.name: each for each in self.files if each.state == "usable"}

    def why_not(self, name: str) -> CommandFile | None:
        """The file of a name that cannot be used."""
        return next((each for each in self.files if each.name == name and each.state in ("untrusted", "broken")), None)


def find_commands(cwd: Path, environ: Mapping[str, str], taken: Mapping[str, str]) -> CommandCatalogue:
    """`taken`: names that no file replaces, each with whose it is."""
    searched = search_definitions(cwd, environ, _FOLDERS, most=LARGEST)
    files: list[CommandFile] = []
    owners = dict(taken)
    count = 0
    for command in map(read_command, searched.files):
        owner = owners.get(command.name)
        if command.state == "usable" and owner is not None:
            command = msgspec.structs.replace(command, state="shadowed", why=f"shadowed by {owner}")
        elif command.state == "usable" and count == MOST_COMMANDS:
            why = f"there are more than {MOST_COMMANDS} commands"
            command = msgspec.structs.replace(command, state="broken", why=why)
        elif command.state == "usable":
            owners[command.name] = command.file
            count += 1
        files.append(command)
    files += map(unread_command, searched.untrusted)
    return CommandCatalogue(files, [*searched.notices, *_about_broken(files)])


def _about_broken(files: list[CommandFile]) -> list[str]:
    broken = [f"{each.file} is not used: {each.why}" for each in files if each.state == "broken"]
    lines = [cut_graphemes(clean_line(line), LONGEST_NOTICE) for line in broken[:_MOST_NOTICES]]
    more = len(broken) - len(lines)
    return [*lines, *([f"and {more} more command files are not used; see `sightline commands`"] if more else [])]
