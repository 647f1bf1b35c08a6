"""Which agents there are in a folder.

Precedence; of one name the first counts, and the others are shadowed:

1. the project's: `.sightline/agents`, `.claude/agents`, `.opencode/agent`, `.opencode/agents`, each in the nearest
   folder that has it, up to the root of the repository
2. the user's: `agents` beside the settings file, `~/.claude/agents`, `~/.config/opencode/agent`, `…/agents`
3. those of extensions
4. those that come with the program

Rules:

- A project's count in a folder the user trusts, as they were when that was found out; they are not read again. For
  others there is one notice: how many, and how to trust them.
- A link in a project must not lead out of it. The user's own may lead anywhere.
- A folder that a variable names as the user's, in the project, is the project's: the files of a project may set it.
- Nothing here waits or raises, whatever a path turns out to be: what cannot be used is left out, with a notice.
"""

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path

import msgspec

from sightline.delegation.definitions._definition import AgentDefinition, DefinitionStyle
from sightline.delegation.definitions._fields import NotADefinition, NotForDelegation
from sightline.delegation.definitions._reading import DefinitionFile, read_definition
from sightline.exceptions import SightlineError, UserMistake
from sightline.handles import NotRegular, ours, read_at_most
from sightline.settings import (
    LARGEST_PAGE,
    Trust,
    agent_files,
    home_of,
    named_user_folder,
    project_agent_folders,
    trusted_agents,
    untrusted_notice,
    up_to_the_repository,
    user_agents_folder,
)
from sightline.text import clean_line, cut_graphemes

_BUNDLED = Path(__file__).parent / "bundled"
_MOST_NOTICES = 20
_LONGEST_NOTICE = 500
_STYLES: dict[str, DefinitionStyle] = {".claude": "claude", ".opencode": "opencode"}


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
    search = _Search(cwd, environ, tools)
    search.take_project()
    search.take_user()
    for definition in (*extra, *bundled_agents()):
        search.found.add(definition)
    search.bound_notices()
    return search.found


@cache
def bundled_agents() -> tuple[AgentDefinition, ...]:
    files = sorted(_BUNDLED.glob("*.md"))
    return tuple(read_definition(DefinitionFile(path, "bundled", "sightline"), path.read_bytes())[0] for path in files)


class _Search:
    def __init__(self, cwd: Path, environ: Mapping[str, str], tools: Collection[str]) -> None:
        self.found = AgentCatalogue()
        self._cwd = Path(os.path.abspath(cwd))
        self._tools = tools
        self._environ = environ
        self._home = home_of(environ)
        self._own = self._user_folders()

    def take_project(self) -> None:
        own = {os.path.realpath(folder) for folder, _ in self._own}
        folders = [
            (project, name)
            for project, name in project_agent_folders(self._cwd)
            if os.path.realpath(project / name) not in own
        ]
        looked_at = {project: trusted_agents(project) for project, _ in folders}
        left_out: dict[Path, tuple[Trust, int]] = {}
        for project, name in folders:
            trust, content = looked_at[project]
            if trust == "trusted":
                self._take_trusted(project, name, content)
            elif count := len(list(self._files(project / name))):
                left_out[project] = trust, count + left_out.get(project, (trust, 0))[1]
        if left_out:
            self.found.notices.insert(0, _shown(untrusted_notice("agent", left_out)))

    def _take_trusted(self, project: Path, name: str, content: Mapping[Path, bytes]) -> None:
        real, root = Path(os.path.realpath(project)), os.path.realpath(up_to_the_repository(self._cwd)[-1])
        for path, data in content.items():
            if not path.is_relative_to(real / name):
                continue
            file = DefinitionFile(project / path.relative_to(real), "project", _style(name))
            if Path(os.path.realpath(path)).is_relative_to(root):
                self._take(file, data)
            else:
                self._refuse(file.path, "it is a link that leads outside the project")

    def _user_folders(self) -> list[tuple[Path, DefinitionStyle]]:
        claude = self._named("CLAUDE_CONFIG_DIR", self._home / ".claude")
        opencode = self._named("XDG_CONFIG_HOME", self._home / ".config") / "opencode"
        return [
            (user_agents_folder(self._environ), "sightline"),
            (claude / "agents", "claude"),
            (opencode / "agent", "opencode"),
            (opencode / "agents", "opencode"),
        ]

    def _named(self, variable: str, usual: Path) -> Path:
        folder, is_theirs = named_user_folder(self._cwd, self._environ, variable, usual)
        if not is_theirs:
            self._note(f"{variable} names a folder in this project: agents in it are the project's, and not yours")
        return folder

    def take_user(self) -> None:
        for folder, style in self._own:
            for path in self._files(folder):
                try:
                    with ours(path):
                        data = read_at_most(path, LARGEST_PAGE + 1)
                except NotRegular:
                    self._refuse(path, "it is not a file")
                except (OSError, ValueError) as error:
                    self._refuse(path, getattr(error, "strerror", None) or "it cannot be read")
                else:
                    self._take(DefinitionFile(path, "user", style), data)

    def _files(self, folder: Path) -> Iterator[Path]:
        try:
            yield from agent_files(folder)
        except SightlineError as error:
            self._note(f"{error.message}; {error.hint}")

    def _take(self, file: DefinitionFile, data: bytes) -> None:
        try:
            definition, notices = read_definition(file, data, self._tools)
        except NotForDelegation:
            return
        except NotADefinition as problem:
            self._refuse(file.path, str(problem))
            return
        for notice in notices:
            self._note(f"{file.path}: {notice}")
        self.found.add(definition)

    def _refuse(self, path: Path, why: str) -> None:
        self._note(f"{path} is not used: {why}")

    def _note(self, notice: str) -> None:
        self.found.notices.append(_shown(notice))

    def bound_notices(self) -> None:
        more = len(self.found.notices) - _MOST_NOTICES
        if more > 0:
            self.found.notices[_MOST_NOTICES:] = [f"and {more} more notices about agents"]


def _style(folder: str) -> DefinitionStyle:
    return _STYLES.get(folder.partition("/")[0], "sightline")


def _shown(notice: str) -> str:
    return cut_graphemes(clean_line(notice), _LONGEST_NOTICE)
