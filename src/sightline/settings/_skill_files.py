"""Where skills are: folders with a `SKILL.md`, of the user and of a project.

Rules:

- A project's folders of skills are the three below, each in the nearest folder that has it, from the workspace up to
  the root of its repository; outside of one, in the workspace itself.
- A skill is a folder with a `SKILL.md` in such a folder, or up to two folders below it. Nothing below a skill is
  another one. Hidden names do not count; a folder may be a link, where it leads is judged by who uses it.
- What belongs to a skill are the files below its real folder. A link that leads out of that is none of them.
- There is an end to it: a folder with too much in it is a UserMistake, and nothing of it is used.
"""

import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.settings._agent_files import SKILL_FOLDERS, listed_entries, project_folders
from sightline.settings._places import user_file

SKILL_FILE = "SKILL.md"
_DEEPEST = 3
_MOST_SKILLS = 500
_MOST_NAMES = 5000


def user_skills_folder(environ: Mapping[str, str]) -> Path:
    """Beside the user's settings file."""
    return user_file(environ).parent / "skills"


def project_skill_folders(cwd: Path) -> list[tuple[Path, str]]:
    """The project and the name of each folder there is, in the order in which they count."""
    return project_folders(cwd, SKILL_FOLDERS)


def skill_files(folder: Path) -> list[Path]:
    """The `SKILL.md` of each skill in one such folder, by name; none where it is missing. UserMistake when there is too
    much, UnreadableFile when it cannot be listed."""
    found: list[Path] = []
    seen, waiting = 0, [(folder, 1)]
    while waiting:
        place, depth = waiting.pop()
        entries = listed_entries(place)
        seen += len(entries)
        if depth > 1 and any(entry.name == SKILL_FILE for entry in entries):
            found.append(place / SKILL_FILE)
        elif depth <= _DEEPEST:
            waiting += [
                (Path(entry.path), depth + 1)
                for entry in entries
                if not entry.name.startswith(".") and os.path.isdir(entry.path)
            ]
        if seen > _MOST_NAMES or len(found) > _MOST_SKILLS:
            hint = f"leave at most {_MOST_SKILLS} skills and {_MOST_NAMES} names in one folder"
            raise UserMistake(f"too many skills: {folder}", hint)
    return sorted(found)


def project_skill_files(project: Path) -> Iterator[Path]:
    """Every file of every skill of a project, for its digest. What leads out of the project is left out: it is never
    used. UserMistake when there are too many."""
    root = os.path.realpath(project)
    for name in SKILL_FOLDERS:
        for file in skill_files(project / name):
            if Path(os.path.realpath(file.parent)).is_relative_to(root):
                yield from _files_of(file.parent)


def _files_of(skill: Path) -> Iterator[Path]:
    real, seen = Path(os.path.realpath(skill)), 0
    for place, folders, names in os.walk(skill):
        seen += len(folders) + len(names)
        if seen > _MOST_NAMES:
            raise UserMistake(f"too many files in a skill: {skill}", f"leave at most {_MOST_NAMES} of them in it")
        paths = (Path(place, name) for name in names)
        yield from (path for path in paths if Path(os.path.realpath(path)).is_relative_to(real))
