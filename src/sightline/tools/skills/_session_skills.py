"""The skills of an agent in a session: what its model is offered, reads, and is given when the user asks for one.

They are looked for anew each time, so what is used is what is trusted now. What the model was offered was put together
once, when its session began: it is part of what every request begins with.
"""

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec

from sightline.settings import Settings
from sightline.text import clean_line
from sightline.tools.skills._discovery import SkillCatalogue, find_skills
from sightline.tools.skills._skill import Skill

USED = "skills_used"
"""The value of a conversation that has the names of those the user had its agent use."""

_OFFER = """\
<skills>
Instructions for certain kinds of work. When a task fits one of these descriptions, read `skill://NAME` before you \
begin and follow it; `skill://NAME/PATH` is a file it names. Its scripts are run with `bash`, like any command.
{rows}
</skills>"""
_USE = """\
The user asks you to use the skill {name} now, with `/skill {name}`. This text is the skill's, not the user's. {where}

<skill name="{name}">
{text}
</skill>"""


class SkillUse(msgspec.Struct, frozen=True):
    """A skill that goes with a prompt of the user: `text` is for the model alone."""

    name: str
    file: str
    text: str


class SessionSkills:
    """`only`: the names of those the agent may have; None: all. `is_denied`: as of now."""

    def __init__(
        self,
        cwd: Path,
        environ: Mapping[str, str],
        settings: Callable[[], Settings],
        is_denied: Callable[[], Callable[[str], bool] | None] = lambda: None,
        only: Collection[str] | None = None,
    ) -> None:
        self._cwd = cwd
        self._environ = environ
        self._settings = settings
        self._is_denied = is_denied
        self._only = only

    def find(self) -> SkillCatalogue:
        return find_skills(self._cwd, self._environ, self._settings(), self._is_denied(), self._only)

    def offer(self) -> str:
        """What every request begins with; empty where there are none."""
        rows = "\n".join(f"- {skill.name}: {skill.description}" for skill in self.find().offered)
        return _OFFER.format(rows=rows) if rows else ""

    def use(self, name: str, words: str) -> SkillUse:
        """UserMistake where it is not there, or not used."""
        skill = self.find().get(name)
        text = skill_text(skill).replace("$ARGUMENTS", words)
        text = _USE.format(name=skill.name, where=_where(skill), text=text)
        return SkillUse(skill.name, clean_line(str(skill.file)), text)


def readable_skill(skill: Skill) -> str:
    """As the model reads it by its address."""
    return f"[{_where(skill)}]\n\n{skill_text(skill)}"


def skill_text(skill: Skill) -> str:
    """The instructions, with the folder where other tools put it."""
    return skill.text.replace("${CLAUDE_SKILL_DIR}", _folder(skill))


def _folder(skill: Skill) -> str:
    return clean_line(os.path.realpath(skill.folder))


def _where(skill: Skill) -> str:
    return f"Its folder is {_folder(skill)}; paths in it are relative to that, and skill://{skill.name}/PATH reads one."
