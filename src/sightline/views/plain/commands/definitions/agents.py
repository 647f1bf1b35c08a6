"""`sightline agents`: which agents can be started here, one of them whole, and a new one."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from sightline.delegation import AgentDefinition, find_agents_here, new_definition, new_project_definition
from sightline.settings import load, user_agents_folder
from sightline.text import clean_line, clean_value
from sightline.views._names import from_home
from sightline.views.plain._output import pretty_json
from sightline.views.plain._palette import Palette
from sightline.views.plain._table import Column, draw_described

_INHERITED = "parent's"
_NONE = "–"
_COLUMNS = tuple(map(Column, ("AGENT", "FROM", "MODEL", "LEVEL", "STARTS", "TOOLS")))


class AgentsOutput(msgspec.Struct, frozen=True):
    """`notes` are for stderr."""

    text: str
    notes: str = ""


def show_agents(
    cwd: Path, environ: Mapping[str, str], name: str, palette: Palette, width: int | None, *, json: bool
) -> AgentsOutput:
    """All of them, or the one named. UserMistake when there is none of that name."""
    found, disabled = find_agents_here(cwd, environ), frozenset(load(cwd).settings.task.disabled)
    notes = "".join(f"note: {clean_line(each)}\n" for each in found.notices)
    if name:
        agent = found.get(name)
        text = _json(_facts(agent, disabled)) if json else _whole(agent, disabled, palette)
        return AgentsOutput(text)
    if json:
        used = [_facts(agent, disabled) | {"shadowed": False} for agent in found.agents.values()]
        shadowed = [_facts(agent, disabled) | {"shadowed": True} for agent in found.shadowed]
        listed = [{key: value for key, value in each.items() if key != "prompt"} for each in (*used, *shadowed)]
        return AgentsOutput(_json(listed), notes)
    rows = _rows(list(found.agents.values()), disabled, palette, width)
    if found.shadowed:
        rows += ["", f"{palette.dim}not used, because an agent above has the same name:{palette.reset}"]
        rows += _rows(found.shadowed, disabled, palette, width)
    return AgentsOutput("".join(f"{row}\n" for row in rows), notes)


def write_agent(cwd: Path, environ: Mapping[str, str], name: str, *, project: bool) -> AgentsOutput:
    """A definition to fill in, the user's or the project's. A folder that was trusted is trusted with it."""
    if not project:
        path = new_definition(name, user_agents_folder(environ), private=True)
        return AgentsOutput(f"{clean_line(str(path))}\n")
    made = new_project_definition(name, cwd)
    place = clean_line(str(made.project))
    note = f"note: {place} is not trusted, so its agents are not used; to use them: sightline config trust\n"
    return AgentsOutput(f"{clean_line(str(made.path))}\n", "" if made.trusted else note)


def _rows(
    agents: Sequence[AgentDefinition], disabled: frozenset[str], palette: Palette, width: int | None
) -> list[str]:
    """For each a row of the table, its description below it, and its file if it has one."""
    below = [(agent.description, clean_line(from_home(agent.file))) for agent in agents]
    return draw_described(_COLUMNS, [_cells(agent, disabled) for agent in agents], below, palette, width)


def _cells(agent: AgentDefinition, disabled: frozenset[str]) -> tuple[str, ...]:
    style = "" if agent.style == "sightline" else f" ({agent.style})"
    return (
        f"{agent.name} (disabled)" if agent.name in disabled else agent.name,
        agent.source + style,
        agent.provider or agent.model or _INHERITED,
        agent.approval or _INHERITED,
        _starts(agent),
        _tools(agent),
    )


def _starts(agent: AgentDefinition) -> str:
    return "any" if "*" in agent.spawns else _list(agent.spawns)


def _tools(agent: AgentDefinition) -> str:
    named = "all" if agent.tools is None else _list(agent.tools)
    return f"{named} but {_list(agent.without)}" if agent.without else named


def _list(names: Iterable[str]) -> str:
    return clean_line(", ".join(names)) or _NONE


def _whole(agent: AgentDefinition, disabled: frozenset[str], palette: Palette) -> str:
    """Every field, then the prompt as it is."""
    facts = {
        "from": _cells(agent, frozenset())[1],
        "file": clean_line(from_home(agent.file)),
        "works in": agent.provider,
        "model": agent.model or _INHERITED,
        "thinking": agent.thinking or _INHERITED,
        "level": f"{agent.approval} at most" if agent.approval else _INHERITED,
        "tools": _tools(agent),
        "skills": "" if agent.skills is None else _list(agent.skills),
        "starts": _starts(agent),
        "waits": "always" if agent.blocking else "",
        "files": "its own copy" if agent.isolated else "",
        "returns": msgspec.json.encode(agent.output).decode() if agent.output is not None else "",
        "disabled": "by task.disabled" if agent.name in disabled else "",
    }
    rows = [f"{palette.bold}{agent.name}{palette.reset}", f"  {agent.description}"]
    rows += [f"  {name:<10}{value}" for name, value in facts.items() if value]
    return "".join(f"{row}\n" for row in (*rows, "", agent.prompt))


def _facts(agent: AgentDefinition, disabled: frozenset[str]) -> dict[str, object]:
    agent = replace(agent, file=clean_line(agent.file))
    facts: dict[str, object] = clean_value(msgspec.json.decode(msgspec.json.encode(agent)))
    return facts | {"disabled": agent.name in disabled}


def _json(facts: object) -> str:
    return pretty_json(facts).decode()
