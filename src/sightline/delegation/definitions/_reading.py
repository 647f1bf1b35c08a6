"""From the bytes of a file to a definition.

Rules:

- A file that cannot be one is refused with one line that names the reason; what of it is left out, such as an unknown
  tool, is a notice. Nothing is raised but NotADefinition, whatever the bytes are.
- Its text is cleaned: nothing of it drives a terminal. A description is one line of 1,000 characters at most.
- The name is the field `name`, else the name of the file; OpenCode's are always named by their files.
"""

import re
from collections.abc import Collection
from pathlib import Path

import msgspec

from sightline.actors import encodable
from sightline.delegation.definitions._definition import AgentDefinition, DefinitionSource, DefinitionStyle
from sightline.delegation.definitions._fields import DefinitionFields, NotADefinition, shown
from sightline.delegation.definitions._styles import LONGEST_NAME, STYLES, is_name
from sightline.settings import LARGEST_PAGE, NotFrontMatter, page_in
from sightline.text import clean_line, clean_text, cut_graphemes

_LONGEST_DESCRIPTION = 1000

_spaces = re.compile(r"(?:\s|\\n)+")  # other agents write line breaks into one line like this


class DefinitionFile(msgspec.Struct, frozen=True):
    """A file, and where it was found."""

    path: Path
    source: DefinitionSource
    style: DefinitionStyle


def read_definition(
    file: DefinitionFile, data: bytes, tools: Collection[str] = ()
) -> tuple[AgentDefinition, list[str]]:
    """The definition and what of it is left out. `tools`: names of tools that extensions and servers add."""
    try:
        page = page_in(data)
    except NotFrontMatter as problem:
        raise NotADefinition(clean_line(str(problem))) from None
    fields = DefinitionFields(page.fields)
    name = ("" if file.style == "opencode" else fields.text("name")) or file.path.stem
    path = "" if file.source == "bundled" else str(file.path)
    base = checked_base(name, fields, page.body, file.source, file.style, path)
    return STYLES[file.style](base, fields, tools), fields.notices


def checked_base(
    name: str, fields: DefinitionFields, prompt: str, source: DefinitionSource, style: DefinitionStyle, file: str
) -> AgentDefinition:
    """What every definition has."""
    if not is_name(name):
        rule = f"letters, digits, _ and -, at most {LONGEST_NAME}, beginning with a letter or digit"
        raise NotADefinition(f"its name is {shown(name)!r}; a name has {rule}")
    if max(len(prompt), len(fields.text("description"))) > LARGEST_PAGE:
        raise NotADefinition(f"it is larger than {LARGEST_PAGE // 1024} KB")
    base = AgentDefinition(
        name=name,
        description=_description(fields.text("description")),
        prompt=clean_text(encodable(prompt)).strip(),
        source=source,
        style=style,
        file=encodable(file),
    )
    if not base.prompt:
        raise NotADefinition("it has no instructions: write them below the front matter")
    return base


def _description(text: str) -> str:
    line = _spaces.sub(" ", clean_line(text)).strip()
    if not line:
        raise NotADefinition("it has no description")
    return cut_graphemes(line, _LONGEST_DESCRIPTION)
