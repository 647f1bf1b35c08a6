"""A skill, and what its `SKILL.md` says.

Rules:

- The file is read as it is written for other tools: front matter with `name`, `description` and whatever else, the
  instructions below it. Of the fields only those two and `disable-model-invocation` count; `allowed-tools` and the like
  allow nothing here, since no file of a project may widen what the agent may do.
- The name is the field if it is one that can be written after `skill://`, else that of the folder. A missing
  description is the first line of the instructions.
- A file that cannot be one is refused with one line that names the reason. Its text is cleaned: nothing of it drives a
  terminal.
"""

import re
from pathlib import Path
from typing import Literal

import msgspec

from sightline.actors import encodable
from sightline.settings import NotFrontMatter, page_in
from sightline.text import clean_line, clean_text, cut_graphemes

SkillStanding = Literal["offered", "user", "unlisted", "disabled", "untrusted", "shadowed", "broken"]

LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1024
_ONLY_USER = "disable-model-invocation"
_TEXTS = ("argument-hint",)  # whatever they look like: `[file] [words]` is no YAML
_SHOWN = 60

is_skill_name = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}").fullmatch


class Skill(msgspec.Struct, frozen=True, kw_only=True):
    """`standing`: whether it is used, and if not, what keeps it from that; `why` has the details."""

    name: str
    description: str = ""  # one line: what the model decides by
    source: Literal["project", "user"]
    place: str  # the folder of skills it is in, such as `.claude/skills`
    file: Path
    standing: SkillStanding = "offered"
    why: str = ""
    text: str = ""  # the instructions

    @property
    def folder(self) -> Path:
        return self.file.parent

    @property
    def is_usable(self) -> bool:
        return self.standing in ("offered", "user", "unlisted")


class NotASkill(Exception):
    """Why a file is none, in one line."""


def read_skill(skill: Skill, data: bytes) -> Skill:
    """With what the file says."""
    try:
        page = page_in(data, words=_TEXTS)
    except NotFrontMatter as problem:
        raise NotASkill(clean_line(str(problem))) from None
    text = clean_text(encodable(page.body)).strip()
    if not text:
        raise NotASkill("it has no instructions: write them below the front matter")
    only_user = page.fields.get(_ONLY_USER)
    if only_user is not None and not isinstance(only_user, bool):
        raise NotASkill(f"{_ONLY_USER} must be true or false")
    description = _one_line(_text(page.fields.get("description"), "description")) or _first_line(text)
    return msgspec.structs.replace(
        skill,
        name=_name(_text(page.fields.get("name"), "name"), skill.name),
        description=cut_graphemes(description, LONGEST_DESCRIPTION),
        standing="user" if only_user else "offered",
        text=text,
    )


def standing_of(skill: Skill) -> str:
    """In the words of every list."""
    match skill.standing:
        case "user":
            return "for the user only"
        case "unlisted":
            return f"not offered: {skill.why}"
        case "shadowed":
            return f"shadowed by {skill.why}"
        case "broken":
            return f"broken: {skill.why}"
        case "untrusted":
            return f"untrusted: {skill.why}"
    return skill.standing


def _text(value: object, field: str) -> str:
    """A field as it is written; empty where it is missing."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = str(value)
    if value is not None and not isinstance(value, str):
        raise NotASkill(f"{field} must be text")
    return (value or "").strip()


def _one_line(text: str) -> str:
    return " ".join(clean_line(encodable(" ".join(text.split()))).split())


def _name(named: str, folder: str) -> str:
    for name in (named, folder):
        if is_skill_name(name):
            return name
    rule = f"letters, digits, _ and -, at most {LONGEST_NAME}, beginning with a letter or digit"
    shown = cut_graphemes(_one_line(named or folder), _SHOWN)
    raise NotASkill(f"its name is {shown!r}; a name has {rule}")


def _first_line(text: str) -> str:
    """Of the first paragraph that is no heading."""
    lines = (line.strip() for line in text.splitlines())
    return next((_one_line(line) for line in lines if line and not line.startswith("#")), "")
