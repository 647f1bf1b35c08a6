"""Agents that extension files define: a function `agents(definitions)`, which adds each with `definitions.add(…)`.

Rules:

- What is added has the fields of a Markdown file and the same checks. Of names the order of `_discovery` decides.
- The function is called for a session, and where agents are listed without one; so it does nothing but define agents.
- It is run under the trust of its extension and never without. When it raises, none of its agents count, and one line
  names the file and why; tools, commands and hooks of the same file stay.
"""

import inspect
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from sightline._extension_files import ExtensionFile, extension_files, failure, imported
from sightline.agent import not_trusted_notice
from sightline.delegation.definitions._definition import AgentDefinition
from sightline.delegation.definitions._discovery import AgentCatalogue, find_agents
from sightline.delegation.definitions._fields import DefinitionFields, NotADefinition, shown
from sightline.delegation.definitions._reading import checked_base
from sightline.delegation.definitions._styles import own_style
from sightline.settings import load

FUNCTION = "agents"
_MOST_AGENTS = 500  # of one extension, as of one folder


class ExtensionAgents(msgspec.Struct, frozen=True):
    """What one file defines. `problem`: why it defines none."""

    agents: list[AgentDefinition] = []
    notices: list[str] = []
    problem: str = ""


class AgentDefinitions:
    """The argument of a file's `agents`."""

    def __init__(self, name: str, file: Path, cwd: Path, options: Any) -> None:
        self.name = name
        self.cwd = cwd
        """The folder that agents work in."""
        self.options = options
        """`extensions.options.NAME` of the settings."""
        self._file = file
        self._found: dict[str, AgentDefinition] = {}
        self._notices: list[str] = []

    def add(
        self,
        name: str,
        *,
        description: str,
        instructions: str,
        tools: Sequence[str] | str | None = None,
        without: Sequence[str] | str = (),
        skills: Sequence[str] | str | None = None,
        spawns: Sequence[str] | str | bool = (),
        model: str = "",
        thinking: str = "",
        approval: str = "",
        output: Mapping[str, object] | None = None,
        blocking: bool = False,
        provider: str = "",
        isolated: bool = False,
    ) -> None:
        """Define an agent. What is not given is as in a Markdown file without that field. ValueError for what no agent
        can be."""
        given = {
            "name": name,
            "description": description,
            "tools": _listed(tools),
            "without": _listed(without),
            "skills": _listed(skills),
            "spawns": spawns if isinstance(spawns, bool) else _listed(spawns) or None,
            "model": model or None,
            "thinking": thinking or None,
            "approval": approval or None,
            "output": None if output is None else dict(output),
            "blocking": blocking,
            "provider": provider or None,
            "isolated": isolated,
        }
        fields = DefinitionFields(given)
        try:
            found = self._checked(fields, instructions)
        except NotADefinition as problem:
            raise ValueError(f"the agent {shown(name)}: {problem}") from None
        if found.name in self._found:
            raise ValueError(f"there is already an agent {found.name} in this file")
        if len(self._found) >= _MOST_AGENTS:
            raise ValueError(f"more than {_MOST_AGENTS} agents in one file")
        self._found[found.name] = found
        self._notices += [f"{self._file}: {found.name}: {notice}" for notice in fields.notices]

    def _checked(self, fields: DefinitionFields, instructions: object) -> AgentDefinition:
        if not isinstance(instructions, str):
            raise NotADefinition("instructions must be text")
        base = checked_base(fields.text("name"), fields, instructions, "extension", "sightline", str(self._file))
        return own_style(base, fields, fields.names("tools") or ())  # a tool may be one that an extension adds later

    def run(self, function: object) -> ExtensionAgents:
        """Call a file's function."""
        try:
            if not callable(function) or inspect.iscoroutinefunction(function):
                raise TypeError(f"{FUNCTION} is not an ordinary function")
            function(self)
        except (Exception, SystemExit) as error:
            return ExtensionAgents(problem=failure(self._file, error, f"{FUNCTION}() of the extension"))
        return ExtensionAgents(list(self._found.values()), self._notices)


def agents_of(file: ExtensionFile, function: object, cwd: Path, options: object) -> ExtensionAgents:
    """Those of a file that was loaded."""
    return AgentDefinitions(file.name, file.path, cwd, options).run(function)


def find_agents_here(cwd: Path, environ: Mapping[str, str]) -> AgentCatalogue:
    """Which agents there are without a session: those of files, and of extensions that are trusted here."""
    extra, notices = _of_extensions(cwd, environ)
    found = find_agents(cwd, environ, extra=extra)
    found.notices += notices
    return found


def _of_extensions(cwd: Path, environ: Mapping[str, str]) -> tuple[list[AgentDefinition], list[str]]:
    settings = load(cwd, environ=dict(environ)).settings.extensions
    if not settings.enabled:
        return [], []
    files = extension_files(cwd, environ)
    agents: list[AgentDefinition] = []
    notices: list[str] = []
    if files.left_out and files.project is not None:
        notices.append(not_trusted_notice(files.left_out, files.project, files.trust).text)
    names: set[str] = set()
    for file in files.files:
        if file.name in names:  # of two with the same name the first counts
            continue
        names.add(file.name)
        try:
            function = getattr(imported(file, FUNCTION), FUNCTION, None)
        except (Exception, SystemExit) as error:
            notices.append(failure(file.path, error))
            continue
        if function is not None:
            found = agents_of(file, function, cwd, settings.options.get(file.name))
            agents += found.agents
            notices += [*found.notices, *([found.problem] if found.problem else [])]
    return agents, notices


def _listed(names: object) -> object:
    """As a Markdown file has them."""
    return list(names) if isinstance(names, tuple | set | frozenset) else names
