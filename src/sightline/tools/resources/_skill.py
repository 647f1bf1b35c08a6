"""Behind skill://: the instructions of a skill, and the files beside them. Blocking.

Rules:

- Only what is offered to the model, and what the user had it use in this conversation.
- Nothing leads out of the skill's folder. A text is what it was when the folder was found to be trusted; a file is
  opened where it was judged to be.
- A rule that forbids reading a file holds here, too.
"""

import os
from pathlib import Path

from sightline.exceptions import UserMistake
from sightline.handles import NotRegular, judged, read_at_most
from sightline.tools._context import ToolContext
from sightline.tools._tool import ToolError
from sightline.tools.files._paths import reason_of
from sightline.tools.resources._folder import listing, path_inside
from sightline.tools.resources._resource import Resource
from sightline.tools.skills import USED, Skill, SkillCatalogue, readable_skill

_LARGEST = 8 * 1024 * 1024  # bytes


def resolve(rest: str, context: ToolContext) -> Resource:
    """`NAME`, `NAME/PATH`; a folder is listed."""
    skills = context.workplace.skills
    if skills is None:
        raise ToolError("There are no skills in this session, so skill:// has nothing to show.")
    name, slash, path = rest.partition("/")
    found = skills.find()
    if not name:
        rows = [f"{skill.name}: {skill.description}" for skill in found.offered]
        return Resource(url="skill://", text="\n".join(rows))
    skill = _readable(name, found, context)
    if not slash:
        return Resource(url=f"skill://{name}", text=readable_skill(skill), is_whole=True)
    return _file(skill, path, found, context)


def _readable(name: str, found: SkillCatalogue, context: ToolContext) -> Skill:
    try:
        skill = found.get(name)
    except UserMistake as problem:
        raise ToolError(f"{problem.message}; {problem.hint}") from None
    used = context.workplace.stored.get(USED)
    if skill.standing == "user" and not (isinstance(used, list) and name in used):
        raise ToolError(f"skill://{name} is for the user only, who has you use it with /skill {name}.")
    return skill


def _file(skill: Skill, path: str, found: SkillCatalogue, context: ToolContext) -> Resource:
    from sightline.tools.read._files import is_utf8, looks_binary

    url, real = f"skill://{skill.name}/{path}", path_inside(f"skill://{skill.name}/", path, skill.folder, "the skill's")
    if real.is_dir():
        return Resource(url=url, text=listing(real))
    is_denied = context.workplace.limits().is_denied
    if is_denied is not None and is_denied(str(real)):
        raise ToolError(f"{url} is not read: a rule forbids it.")
    data = _content(skill, real, found, url)
    if looks_binary(data) or not is_utf8(data):
        return Resource(url=url, source_path=real)
    return Resource(url=url, text=data.decode(), is_whole=True)


def _content(skill: Skill, real: Path, found: SkillCatalogue, url: str) -> bytes:
    if skill.source == "project":
        data = found.content.get(skill.folder / real.relative_to(os.path.realpath(skill.folder)))
        if data is None:
            raise ToolError(f"There is no {url}.{_beside(real)}")
        return data
    try:
        with judged(str(real)):
            data = read_at_most(real, _LARGEST + 1)
    except (FileNotFoundError, NotADirectoryError):
        raise ToolError(f"There is no {url}.{_beside(real)}") from None
    except NotRegular:
        raise ToolError(f"{url} is not a regular file.") from None
    except OSError as problem:
        raise ToolError(f"{url} cannot be read: {reason_of(problem)}.") from None
    if len(data) > _LARGEST:
        raise ToolError(f"{url} is larger than {_LARGEST // 1024**2} MB: look at {real} with bash.")
    return data


def _beside(real: Path) -> str:
    """What the folder has that it would be in."""
    try:
        names = sorted(os.listdir(real.parent))[:10]
    except OSError:
        return ""
    return f" There are: {', '.join(map(ascii, names))}." if names else ""
