"""Skills in the shape that other tools write them, in words of our own."""

import os
from pathlib import Path

from sightline.settings import Settings
from sightline.settings._tree import SkillSettings
from sightline.tools.skills import SkillCatalogue, find_skills

# As they are found in public repositories: folded descriptions, licences, tools that are allowed, nested metadata.
LETTERS = """\
---
name: letters
description: |
  Write formal letters: salutation, body, closing. Use when the user
  asks for a letter, a notice or a complaint.
license: Complete terms in LICENSE.txt
allowed-tools: Bash(python3:*), Read
metadata:
  author: someone
  version: "1.2"
---

# Letters

Read [the forms](references/forms.md) first, then run `python3 ${CLAUDE_SKILL_DIR}/scripts/date.py`.
"""
RELEASE = """\
---
name: release
description: Publish a release: tag, build, upload.
disable-model-invocation: true
argument-hint: [version] [notes]
allowed-tools: [Bash, Write]
---
Publish version $ARGUMENTS as the checklist says.
"""


def write_skill(folder: Path, text: str = "", *, name: str = "", description: str = "What it does") -> Path:
    """`folder` is that of the skill. Returns its SKILL.md."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "SKILL.md"
    head = f"---\nname: {name or folder.name}\ndescription: {description}\n---\n"
    file.write_text(text or f"{head}\nDo it well.\n")
    return file


def write_letters(folder: Path) -> Path:
    file = write_skill(folder, LETTERS)
    (folder / "references").mkdir()
    (folder / "references" / "forms.md").write_text("Dear reader\n" * 400)
    (folder / "scripts").mkdir()
    (folder / "scripts" / "date.py").write_text("print('a date')\n")
    return file


class SkillPlace:
    """A home, a repository, and a look at the skills there."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.work = folder / "work"
        self.own = Path(os.environ["SIGHTLINE_HOME"]) / "skills"
        self.environ = {"HOME": str(self.home), "SIGHTLINE_HOME": os.environ["SIGHTLINE_HOME"]}
        (self.work / ".git").mkdir(parents=True)
        self.home.mkdir(exist_ok=True)

    def find(self, below: str = "", *, disabled: tuple[str, ...] = (), enabled: bool = True) -> SkillCatalogue:
        settings = Settings(skills=SkillSettings(enabled=enabled, disabled=list(disabled)))
        return find_skills(self.work / below, self.environ, settings)

    def standings(self) -> dict[str, str]:
        return {skill.name: skill.standing for skill in self.find().skills}
