"""`sightline skills`: the skills that are found here, and whether each is used."""

from collections.abc import Mapping
from pathlib import Path

import msgspec

from sightline.settings import load
from sightline.text import clean_line
from sightline.tools.skills import Skill, find_skills, standing_of
from sightline.views._names import from_home
from sightline.views.plain._output import pretty_json
from sightline.views.plain._palette import Palette
from sightline.views.plain._table import Column, draw_described

_COLUMNS = tuple(map(Column, ("SKILL", "FROM", "STATE")))


class SkillsOutput(msgspec.Struct, frozen=True):
    """`notes` are for stderr."""

    text: str
    notes: str = ""


def show_skills(
    cwd: Path, environ: Mapping[str, str], palette: Palette, width: int | None, *, json: bool
) -> SkillsOutput:
    found = find_skills(cwd, environ, load(cwd).settings)
    notes = "".join(f"note: {clean_line(each)}\n" for each in found.notices)
    if json:
        return SkillsOutput(pretty_json([_facts(skill) for skill in found.skills]).decode(), notes)
    if not found.skills:
        return SkillsOutput("", notes or "note: no skills here\n")
    below = [(skill.description, from_home(clean_line(str(skill.file)))) for skill in found.skills]
    rows = draw_described(_COLUMNS, [_cells(skill) for skill in found.skills], below, palette, width)
    return SkillsOutput("".join(f"{row}\n" for row in rows), notes)


def _cells(skill: Skill) -> tuple[str, ...]:
    return skill.name, f"{skill.source} ({skill.place})", standing_of(skill)


def _facts(skill: Skill) -> dict[str, object]:
    return {
        "name": skill.name,
        "description": skill.description,
        "source": skill.source,
        "place": skill.place,
        "file": clean_line(str(skill.file)),
        "state": skill.standing,
        "why": skill.why,
    }
