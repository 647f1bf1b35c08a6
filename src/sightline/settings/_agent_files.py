"""Where the definitions of agents and of commands are: Markdown files of the user and of a project.

Rules:

- A project's folders are those below, each in the nearest folder that has it, from the workspace up to the root of
  its repository; outside of one, in the workspace itself.
- A definition is a file `NAME.md` in such a folder or up to two folders below it. Hidden names, `README.md` and links
  to folders are left out.
- There is an end to it: a folder with too much in it is a UserMistake, and nothing of it is used.
"""

import os
from collections.abc import Iterable, Mapping
from itertools import islice
from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.settings._files import UnreadableFile
from sightline.settings._places import PROJECT_FOLDER, is_there, up_to_the_repository, user_file

AGENTS, COMMANDS = "agents", "commands"
AGENT_FOLDERS: tuple[str, ...] = (f"{PROJECT_FOLDER}/{AGENTS}", ".claude/agents", ".opencode/agent", ".opencode/agents")
COMMAND_FOLDERS: tuple[str, ...] = (f"{PROJECT_FOLDER}/{COMMANDS}", ".claude/commands")
SKILL_FOLDERS: tuple[str, ...] = (f"{PROJECT_FOLDER}/skills", ".agents/skills", ".claude/skills")
PROJECT_FOLDERS = (PROJECT_FOLDER, *AGENT_FOLDERS[1:], *COMMAND_FOLDERS[1:], *SKILL_FOLDERS[1:])
"""With a project's settings, extensions and all that is defined in it."""
_DEEPEST = 3
_MOST_FILES = 500
_MOST_NAMES = 5000


def user_agents_folder(environ: Mapping[str, str]) -> Path:
    """Beside the user's settings file."""
    return user_file(environ).parent / AGENTS


def user_commands_folder(environ: Mapping[str, str]) -> Path:
    return user_file(environ).parent / COMMANDS


def project_folders(cwd: Path, names: Iterable[str]) -> list[tuple[Path, str]]:
    """The project and the name of each folder there is, in the order in which they count."""
    above = up_to_the_repository(cwd)
    found = ((next((each for each in above if is_there(each / name)), None), name) for name in names)
    return [(project, name) for project, name in found if project is not None]


def markdown_files(folder: Path) -> list[Path]:
    """The files of one such folder, by name; none where it is missing. UserMistake when there are too many,
    UnreadableFile when it cannot be listed."""
    found: list[Path] = []
    seen, waiting = 0, [(folder, 1)]
    while waiting:
        place, depth = waiting.pop()
        for entry in listed_entries(place):
            seen += 1
            if entry.name.startswith("."):
                continue
            if _is_folder(entry):
                waiting += [(Path(entry.path), depth + 1)] * (depth < _DEEPEST)
            elif entry.name.endswith(".md") and entry.name.lower() != "readme.md":
                found.append(Path(entry.path))
        if seen > _MOST_NAMES or len(found) > _MOST_FILES:
            hint = f"leave at most {_MOST_FILES} files and {_MOST_NAMES} names in one folder"
            raise UserMistake(f"too many files: {folder}", hint)
    return sorted(found)


def listed_entries(folder: Path) -> "list[os.DirEntry[str]]":
    """None where it is missing; one more than there may be at most. UnreadableFile when it cannot be listed."""
    try:
        with os.scandir(folder) as entries:
            return list(islice(entries, _MOST_NAMES + 1))
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError as error:
        raise UnreadableFile(folder, error.strerror or str(error)) from None


def _is_folder(entry: "os.DirEntry[str]") -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False
