"""Which skills there are in a folder.

Precedence; of one name the first counts, and the others are shadowed:

1. the project's: `.sightline/skills`, `.agents/skills`, `.claude/skills`, each in the nearest folder that has it, up to
   the root of the repository
2. the user's: `skills` beside the settings file, `~/.agents/skills`, `~/.claude/skills`

Rules:

- A project's count in a folder the user trusts, as they are when this is found out, every file of them: what is read of
  one later is read of `content`. Of others nothing but the name of the folder is looked at.
- A skill in a project must not be a link that leads out of the folder that is trusted, nor a file of it one that leads
  out of the skill. The user's own may be links to anywhere.
- A model is offered a bounded number of them, and descriptions of a bounded size; those that it is not offered are
  named, and can be used by the user.
- One that is not used hides no other one. Nothing here waits or raises, whatever a path turns out to be.
"""

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path

import msgspec

from sightline.actors import encodable
from sightline.exceptions import SightlineError, UserMistake
from sightline.handles import NotRegular, ours, read_at_most
from sightline.settings import (
    LARGEST_PAGE,
    Settings,
    Trust,
    home_of,
    named_user_folder,
    project_skill_folders,
    skill_files,
    trusted_skills,
    untrusted_notice,
    user_skills_folder,
)
from sightline.text import clean_line, cut_graphemes
from sightline.tools.skills._skill import NotASkill, Skill, SkillStanding, read_skill, standing_of

MOST_OFFERED = 100
MOST_CHARACTERS = 20_000  # of all names and descriptions
_LONGEST_NOTICE = 500
_MOST_NOTICES = 20
_NAMED = 20
_UNTRUSTED: dict[Trust, str] = {
    "untrusted": "its folder is not trusted",
    "changed": "a skill changed since you trusted the folder",
}


class SkillCatalogue(msgspec.Struct):
    """All that were found, in their order of precedence; the files of the project's, by their real folders; what is not
    used, and why."""

    skills: list[Skill] = []
    content: dict[Path, bytes] = {}
    notices: list[str] = []

    @property
    def offered(self) -> list[Skill]:
        return [skill for skill in self.skills if skill.standing == "offered"]

    @property
    def usable(self) -> dict[str, Skill]:
        return {skill.name: skill for skill in self.skills if skill.is_usable}

    def get(self, name: str) -> Skill:
        """One that can be used. UserMistake, with the reason, for another one."""
        usable = self.usable
        if name in usable:
            return usable[name]
        shown = cut_graphemes(clean_line(name), 60)
        for skill in self.skills:
            if skill.name == name:
                hint = f"it is in {clean_line(str(skill.file))}; `sightline skills` lists all"
                raise UserMistake(f"the skill {shown} is not used ({standing_of(skill)})", hint)
        names = [*usable][:_NAMED] + ["…"] * (len(usable) > _NAMED)
        raise UserMistake(f"no skill {shown}", f"skills here: {', '.join(names)}" if names else "there are none here")


def find_skills(
    cwd: Path,
    environ: Mapping[str, str],
    settings: Settings,
    is_denied: Callable[[str], bool] | None = None,
    only: Collection[str] | None = None,
) -> SkillCatalogue:
    """`is_denied`: whether a rule forbids reading a file. `only`: the names of those an agent may have; None: all."""
    search = _SkillSearch(cwd, environ, settings, is_denied)
    search.take_project()
    search.take_user()
    if only is not None:
        search.found.skills = [skill for skill in search.found.skills if skill.name in only]
    search.bound()
    return search.found


class _SkillSearch:
    def __init__(
        self, cwd: Path, environ: Mapping[str, str], settings: Settings, is_denied: Callable[[str], bool] | None
    ) -> None:
        self.found = SkillCatalogue()
        self._cwd = Path(os.path.abspath(cwd))
        self._environ = environ
        self._settings = settings.skills
        self._is_denied = is_denied or (lambda path: False)
        self._own = self._user_folders()

    def _user_folders(self) -> list[tuple[Path, str]]:
        """Each with the name that lists show."""
        home = home_of(self._environ)
        claude, is_theirs = named_user_folder(self._cwd, self._environ, "CLAUDE_CONFIG_DIR", home / ".claude")
        if not is_theirs:
            self._note(
                "CLAUDE_CONFIG_DIR names a folder in this project: skills in it are the project's, and not yours"
            )
        folders = [user_skills_folder(self._environ), home / ".agents" / "skills", claude / "skills"]
        return [(folder, _from_home(folder, home)) for folder in folders]

    def take_project(self) -> None:
        own = {os.path.realpath(folder) for folder, _ in self._own}
        folders = [
            (project, name)
            for project, name in project_skill_folders(self._cwd)
            if os.path.realpath(project / name) not in own
        ]
        looked_at = {project: trusted_skills(project) for project, _ in folders}
        left_out: dict[Path, tuple[Trust, int]] = {}
        for project, name in folders:
            trust, content = looked_at[project]
            real = Path(os.path.realpath(project))
            self.found.content.update(content)
            files = list(self._files(real / name))
            for file in files:
                skill = Skill(name=_folder_name(file), source="project", place=name, file=file)
                if trust != "trusted":
                    self._add(skill, "untrusted", _UNTRUSTED[trust])
                elif not Path(os.path.realpath(file.parent)).is_relative_to(real):
                    self._refuse(skill, "it is a link that leads outside the project")
                elif file not in content:
                    self._refuse(skill, "its SKILL.md is not a file of this folder")
                else:
                    self._take(skill, content[file])
            if trust != "trusted" and files:
                left_out[project] = trust, len(files) + left_out.get(project, (trust, 0))[1]
        if left_out and self._settings.enabled:
            self._note(untrusted_notice("skill", left_out))

    def take_user(self) -> None:
        for folder, place in self._own:
            for file in self._files(folder):
                skill = Skill(name=_folder_name(file), source="user", place=place, file=file)
                try:
                    with ours(file):
                        data = read_at_most(file, LARGEST_PAGE + 1)
                except NotRegular:
                    self._refuse(skill, "its SKILL.md is not a file")
                except (OSError, ValueError) as error:
                    self._refuse(skill, getattr(error, "strerror", None) or "it cannot be read")
                else:
                    self._take(skill, data)

    def _files(self, folder: Path) -> Iterator[Path]:
        try:
            yield from skill_files(folder)
        except SightlineError as error:
            self._note(f"{error.message}; {error.hint}")

    def _take(self, skill: Skill, data: bytes) -> None:
        if self._is_denied(str(skill.file)) or self._is_denied(os.path.realpath(skill.file)):
            self._refuse(skill, "a rule forbids reading it")
            return
        try:
            skill = read_skill(skill, data)
        except NotASkill as problem:
            self._refuse(skill, str(problem))
            return
        first = self.found.usable.get(skill.name)
        if not self._settings.enabled or skill.name in self._settings.disabled:
            self._add(skill, "disabled")
        elif first is None:
            self._add(skill, skill.standing)
        else:
            self._add(skill, "shadowed", clean_line(str(first.file)))
            if os.path.realpath(first.file) != os.path.realpath(skill.file):  # else it is the same one, linked
                self._note(f"{skill.file} is not used: {first.file} has the same name")

    def _add(self, skill: Skill, standing: SkillStanding, why: str = "") -> None:
        self.found.skills.append(msgspec.structs.replace(skill, standing=standing, why=why))

    def _refuse(self, skill: Skill, why: str) -> None:
        self._add(skill, "broken", why)
        if self._settings.enabled:
            self._note(f"{skill.file} is not used: {why}")

    def _note(self, notice: str) -> None:
        self.found.notices.append(cut_graphemes(clean_line(encodable(notice)), _LONGEST_NOTICE))

    def bound(self) -> None:
        """Offer as many as fit, the first ones first."""
        count = size = 0
        left_out: list[str] = []
        for at, skill in enumerate(self.found.skills):
            if skill.standing != "offered":
                continue
            size += len(skill.name) + len(skill.description)
            count += 1
            if count > MOST_OFFERED or size > MOST_CHARACTERS:
                why = f"there are more than {MOST_OFFERED} skills, or {MOST_CHARACTERS:,} characters about them"
                self.found.skills[at] = msgspec.structs.replace(skill, standing="unlisted", why=why)
                left_out.append(skill.name)
        if left_out:
            names = ", ".join(left_out[:_NAMED]) + ", …" * (len(left_out) > _NAMED)
            self._note(
                f"{len(left_out)} skills are not offered to the model, which reads of {MOST_OFFERED} skills and "
                f"{MOST_CHARACTERS:,} characters about them at most; /skill NAME uses one: {names}"
            )
        more = len(self.found.notices) - _MOST_NOTICES
        if more > 0:
            self.found.notices[_MOST_NOTICES:] = [f"and {more} more notices about skills: `sightline skills` lists all"]


def _folder_name(file: Path) -> str:
    return cut_graphemes(clean_line(encodable(os.fsencode(file.parent.name).decode("utf-8", "replace"))), 100)


def _from_home(folder: Path, home: Path) -> str:
    shown = f"~/{folder.relative_to(home)}" if folder.is_relative_to(home) else str(folder)
    return clean_line(encodable(shown))
