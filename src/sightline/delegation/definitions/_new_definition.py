"""A new definition: a commented file to begin with, which replaces nothing."""

import os
from pathlib import Path

import msgspec

from sightline.delegation.definitions._fields import shown
from sightline.delegation.definitions._styles import LONGEST_NAME, is_name
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.paths import private_folder
from sightline.settings import trust_preserved, trusted_agents
from sightline.settings.editing import project_folder

_TEMPLATE = """\
---
name: {name}
description: When to use this agent, in one sentence. The agent that starts it reads this.

# All fields below are optional. Remove the # to use one.
# tools: read, search, find        # without this line: all tools of the agent that starts it
# without: write                   # tools it never has
# spawns: explore                  # agents it may start: names, * for any; without this line: none
# model: small                     # small, slow, or the name of a model; without this line: the same model
# thinking: low                    # off, minimal, low, medium, high, max
# approval: plan                   # at most this approval level: plan, edit, auto, full
# blocking: true                   # wait for it, even where agents run in the background
# provider: claude                 # another program: claude, codex, gemini, opencode, openai_compatible
# output: {{"type": "object"}}       # a JSON schema: its result is an object like this
---

You are …

Write here who the agent is, what its task is, how it works, and what it reports at the end.
"""


class ProjectDefinition(msgspec.Struct, frozen=True):
    """A definition that was written for a project."""

    path: Path
    project: Path
    trusted: bool  # else the agents of the project are not used


def new_project_definition(name: str, cwd: Path) -> ProjectDefinition:
    """Write `NAME.md` in the agents of the project that a folder is in. One that was trusted is trusted with it."""
    project = project_folder(cwd)
    with trust_preserved(project):
        path = new_definition(name, project / ".sightline" / "agents", private=False)
    return ProjectDefinition(path, project, trusted_agents(project)[0] == "trusted")


def new_definition(name: str, folder: Path, *, private: bool) -> Path:
    """Write `NAME.md` in a folder, which is made if need be. `private`: for its owner only.

    UserMistake where there is such a file, or the name is not one.
    """
    if not is_name(name):
        hint = f"use letters, digits, _ and -, at most {LONGEST_NAME}, beginning with a letter or digit"
        raise UserMistake(f"not the name of an agent: {shown(name)}", hint)
    path = folder / f"{name}.md"
    if os.path.lexists(path):
        raise UserMistake(f"already there: {path}", "edit that file, or choose another name")
    try:
        private_folder(folder) if private else folder.mkdir(parents=True, exist_ok=True)
        new = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
        with open(os.open(path, new, 0o600 if private else 0o644), "w", encoding="utf-8") as file:
            file.write(_TEMPLATE.format(name=name))
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutsideFailure(f"cannot write {path}: {reason}", "check that its folder is writable") from None
    return path
