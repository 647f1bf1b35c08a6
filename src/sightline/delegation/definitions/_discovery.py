"""Which agents there are in a folder.

Precedence; of one name the first counts, and the others are shadowed:

1. the project's: `.sightline/agents`, `.claude/agents`, `.opencode/agent`, `.opencode/agents`, each in the nearest
   folder that has it, up to the root of the repository
2. the user's: `agents` beside the settings file, `~/.claude/agents`, `~/.config/opencode/agent`, `…/agents`
3. those of extensions
4. those that come with the program

Which files are looked at, and in which folders they are trusted: `settings/_definition_search.py`. What cannot be used
is left out, with a notice.
"""

from collections.abc import Collection, Iterable, Mapping
from functools import cache
from pathlib import Path

import msgspec

from sightline.delegation.definitions._definition import AgentDefinition
from sightline.delegation.definitions._fields import NotADefinition, NotForDelegation
from sightline.delegation.definitions._reading import DefinitionFile, read_definition
from sightline.exceptions import UserMistake
from sightline.settings import (
    AGENT_FOLDERS,
    LARGEST_PAGE,
    LONGEST_NOTICE,
    FoundFile,
    SearchedFolders,
    search_definitions,
    trusted_agents,
    user_agents_folder,
)
from sightline.text import clean_line, cut_graphemes

_BUNDLED = Path(__file__).parent / "bundled"
_MOST_NOTICES = 20
_FOLDERS = SearchedFolders(
    word="agent",
    project=AGENT_FOLDERS,
    own=user_agents_folder,
    trusted=trusted_agents,
    claude=("agents",),
    opencode=("agent", "agents"),
)


class AgentCatalogue(msgspec.Struct):
    """The agents by name, in their order of precedence; those another one of the same name replaces; what else is
    left out."""

    agents: dict[str, AgentDefinition] = {}
    shadowed: list[AgentDefinition] = []
    notices: list[str] = []

    def get(self, name: str) -> AgentDefinition:
        """UserMistake, with the names there are, for another one."""
        found = self.agents.get(name)
        if found is None:
            hint = f"one of {', '.join(sorted(self.agents))}"
            raise UserMistake(f"no agent {cut_graphemes(clean_line(name), 60)}", hint)
        return found

    def add(self, definition: AgentDefinition) -> None:
        if self.agents.setdefault(definition.name, definition) is not definition:
            self.shadowed.append(definition)


def find_agents(
    cwd: Path, environ: Mapping[str, str], *, extra: Iterable[AgentDefinition] = (), tools: Collection[str] = ()
) -> AgentCatalogue:
    """`extra`: agents of extensions. `tools`: names of tools that extensions and servers add to the session."""
    searched = search_definitions(cwd, environ, _FOLDERS, most=LARGEST_PAGE)
    found = AgentCatalogue(notices=searched.notices)
    for file in searched.files:
        _take(found, file, tools)
    for definition in (*extra, *bundled_agents()):
        found.add(definition)
    more = len(found.notices) - _MOST_NOTICES
    if more > 0:
        found.notices[_MOST_NOTICES:] = [f"and {more} more notices about agents"]
    return found


@cache
def bundled_agents() -> tuple[AgentDefinition, ...]:
    files = sorted(_BUNDLED.glob("*.md"))
    return tuple(read_definition(DefinitionFile(path, "bundled", "sightline"), path.read_bytes())[0] for path in files)


def _take(found: AgentCatalogue, file: FoundFile, tools: Collection[str]) -> None:
    problem, notices = file.problem, list[str]()
    if not problem:
        try:
            definition, notices = read_definition(DefinitionFile(file.path, file.source, file.style), file.data, tools)
            found.add(definition)
        except NotForDelegation:
            return
        except NotADefinition as why:
            problem = str(why)
    lines = [f"{file.path} is not used: {problem}"] if problem else [f"{file.path}: {each}" for each in notices]
    found.notices += [cut_graphemes(clean_line(line), LONGEST_NOTICE) for line in lines]
