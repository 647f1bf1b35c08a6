"""The fields of a definition in each style: ours, Claude Code's, OpenCode's.

Rules:

- In our own style an unknown field is a mistake. The others have many that mean nothing here: those are not looked at.
- What they deny is denied here. Where that is only a part of one of our tools, a notice names it.
- OpenCode decides per tool and pattern: `allow`, `ask`, `deny`. The name of a tool may be a pattern, and the last one
  that fits decides; one that fits no tool is reported. A tool of which anything is denied is denied, with a notice: no
  part of it can be taken away here, and an answer of the user, or a rule, would allow that part. Where commands need an
  answer there, they need one here, by the approval level.
"""

import fnmatch
import re
from collections.abc import Callable, Collection, Iterable
from typing import Literal, get_args

import msgspec
from msgspec.structs import replace

from sightline.delegation.definitions._definition import ANY_AGENT, PROVIDERS, AgentDefinition, DefinitionStyle
from sightline.delegation.definitions._fields import DefinitionFields, NotADefinition, NotForDelegation, shown
from sightline.delegation.definitions._tool_names import OURS, ToolNames, denied_tools, our_tools
from sightline.settings import Approval, Thinking
from sightline.text import clean_value

LONGEST_NAME = 48
_LARGEST_OUTPUT = 32 * 1024
_LONGEST_PATTERN = 200  # characters

is_name = re.compile(rf"[A-Za-z0-9][A-Za-z0-9_-]{{0,{LONGEST_NAME - 1}}}").fullmatch
_is_model = re.compile(r"[\w.:/@+ -]{1,200}", re.ASCII).fullmatch

_Verdict = Literal["allow", "ask", "deny"]
_FIELDS = (
    *("name", "description", "tools", "without", "skills", "spawns", "model", "thinking"),
    *("approval", "output", "blocking", "provider", "isolated"),
)
_MODELS_OF_CLAUDE = {"inherit": "", "default": "", "sonnet": "", "haiku": "small", "opus": "slow"}
_LEVELS_OF_CLAUDE = {"plan": "plan", "acceptEdits": "edit"}
_EFFORTS = {"none": "off", "xhigh": "max"}
_ANY_TOOL = "*"
_ROLES = ("small", "slow")
_SCRIPTED = "scripted:"
_EDITS = ("edit", "write", "patch", "multiedit", "apply_patch")
_TOOLS_OF_OPENCODE = (
    *OURS,
    *_EDITS,
    "codesearch",
    "glob",
    "grep",
    "list",
    "question",
    "todowrite",
    "webfetch",
    "websearch",
)

Reader = Callable[[AgentDefinition, DefinitionFields, Collection[str]], AgentDefinition]


def own_style(base: AgentDefinition, fields: DefinitionFields, more: Collection[str]) -> AgentDefinition:
    """`base` has what every style has; `more` are names of tools beside the usual ones."""
    fields.only(_FIELDS)
    model = fields.text("model")
    provider = fields.choice("provider", ("native", *PROVIDERS)).removeprefix("native")
    if provider and model in _ROLES:
        raise NotADefinition(f"model: {model} is a role of our own models: give a name that {provider} knows, or none")
    return replace(
        base,
        **_allowed(fields, more),
        without=_denied(fields, fields.names("without") or ()),
        skills=fields.names("skills"),
        model=_model("" if model in ("inherit", "default") else model),
        thinking=fields.choice("thinking", get_args(Thinking)),
        approval=fields.choice("approval", get_args(Approval)),
        output=_output(fields),
        blocking=fields.flag("blocking"),
        provider=provider,
        isolated=fields.flag("isolated"),
    )


def claude_style(base: AgentDefinition, fields: DefinitionFields, more: Collection[str]) -> AgentDefinition:
    """`name`, `description`, `tools`, `disallowedTools`, `skills`, `model`, `permissionMode`, `effort`, `isolation`."""
    model = fields.text("model")
    return replace(
        base,
        **_allowed(fields, more),
        without=_denied(fields, fields.names("disallowedTools") or ()),
        skills=fields.names("skills"),
        model=_model(_MODELS_OF_CLAUDE.get(model, model)),
        thinking=_thinking(fields.text("effort")),
        approval=_LEVELS_OF_CLAUDE.get(fields.text("permissionMode"), ""),
        isolated=fields.text("isolation") == "worktree",
    )


def opencode_style(base: AgentDefinition, fields: DefinitionFields, more: Collection[str]) -> AgentDefinition:
    """`description`, `mode`, `model`, `tools`, `permission`, `reasoningEffort`; a disabled or primary agent is none."""
    if fields.text("mode") == "primary" or fields.flag("disable") or fields.flag("disabled"):
        raise NotForDelegation("it is not an agent that others start")
    given = _verdicts(fields)
    usual = given.pop(_ANY_TOOL, "allow")
    verdicts = _by_tool(fields, given, more)
    denied = [name for name, verdict in verdicts.items() if verdict == "deny"]
    denied += ["edit", "write"] if "edit" in denied else []
    spawns = _spawns_of_opencode(fields, verdicts.get("task", "deny"))
    named = our_tools([name for name, verdict in verdicts.items() if verdict != "deny"], more)
    if usual == "deny":
        _note_unknown(fields, named)
    if "ask" in [verdicts.get(name, usual) for name in _EDITS]:
        fields.notices.append("edits follow your approval level; OpenCode would ask about each")
    return replace(
        base,
        tools=named.tools if usual == "deny" else None,
        without=_denied(fields, [name for name in denied if name != "task" or not spawns]),
        spawns=spawns,
        model=_model(fields.text("model")),
        thinking=_thinking(fields.text("reasoningEffort")),
        approval="edit" if verdicts.get("bash", usual) == "ask" else "",
    )


STYLES: dict[DefinitionStyle, Reader] = {
    "sightline": own_style,
    "claude": claude_style,
    "opencode": opencode_style,
}


def _allowed(fields: DefinitionFields, more: Collection[str]) -> dict[str, tuple[str, ...] | None]:
    """`tools` and `spawns`. Where `task` is named without agents, it may start any."""
    names = fields.names("tools")
    if names == (_ANY_TOOL,):
        names = None
    found = our_tools(names or (), more)
    _note_unknown(fields, found)
    spawns = _spawns(fields) if "spawns" in fields else found.agents
    if spawns is None:
        spawns = (ANY_AGENT,) if "task" in found.tools else ()
    return {"tools": None if names is None else found.tools, "spawns": _checked_agents(spawns)}


def _note_unknown(fields: DefinitionFields, found: ToolNames) -> None:
    if found.unknown:
        fields.notices.append(f"unknown tools are left out: {', '.join(map(shown, found.unknown))}")


def _spawns(fields: DefinitionFields) -> tuple[str, ...]:
    if fields.is_flag("spawns"):
        return (ANY_AGENT,) if fields.flag("spawns") else ()
    return fields.names("spawns") or ()


def _checked_agents(names: Iterable[str]) -> tuple[str, ...]:
    for name in names:
        if name != ANY_AGENT and not is_name(name):
            raise NotADefinition(f"not the name of an agent: {shown(name)}")
    return tuple(dict.fromkeys(names))


def _denied(fields: DefinitionFields, names: Iterable[str]) -> tuple[str, ...]:
    found = denied_tools(names)
    if found.unknown:
        parts = ", ".join(map(shown, found.unknown))
        fields.notices.append(f"not denied, because here it is a part of another tool: {parts}")
    return found.tools


def _model(name: str) -> str:
    if name and not _is_model(name):
        raise NotADefinition(f"not the name of a model: {shown(name)}")
    if name.lower().startswith(_SCRIPTED):  # it would answer from a file, in a session that asks a model
        raise NotADefinition("a scripted model is chosen for a session, not for an agent")
    return name


def _thinking(effort: str) -> str:
    level = _EFFORTS.get(effort, effort)
    return level if level in get_args(Thinking) else ""


def _output(fields: DefinitionFields) -> dict[str, object] | None:
    schema = fields.mapping("output")
    if schema is None:
        return None
    try:
        size = len(msgspec.json.encode(schema))
    except (msgspec.MsgspecError, ValueError, OverflowError):
        raise NotADefinition("output must be a JSON schema") from None
    if size > _LARGEST_OUTPUT:
        raise NotADefinition(f"output is larger than {_LARGEST_OUTPUT // 1024} KB")
    cleaned: dict[str, object] = clean_value(schema)
    return cleaned


def _verdicts(fields: DefinitionFields) -> dict[str, _Verdict]:
    """By the names OpenCode has for tools. `permission` decides after `tools`."""
    found: dict[str, _Verdict] = {}
    if not fields.is_mapping("tools") and (names := fields.names("tools")) is not None:
        found["*"] = "deny"
        for name in names:
            found[name] = "allow"
    elif fields.is_mapping("tools"):
        for name, use in (fields.mapping("tools") or {}).items():
            if not isinstance(use, bool):
                raise NotADefinition(f"tools: {shown(name)} must be true or false")
            found[name] = "allow" if use else "deny"
    if not fields.is_mapping("permission"):
        whole = fields.choice("permission", get_args(_Verdict))
        return found | ({"*": _verdict(whole)} if whole else {})
    for name, value in (fields.mapping("permission") or {}).items():
        found.pop(name, None)  # its place is where it was given last
        found[name] = _verdict(value)
        if found[name] == "deny" and isinstance(value, dict) and name != "task" and value.get(_ANY_TOOL) != "deny":
            parts = [shown(part) for part, verdict in value.items() if verdict == "deny"]
            fields.notices.append(f"{shown(name)} is left out, because a part of it is denied: {', '.join(parts)}")
    return found


def _verdict(value: object) -> _Verdict:
    """Of patterns the strictest, since one tool is allowed or not; where all else is denied, that."""
    if value == "allow" or value == "ask" or value == "deny":
        return value
    if not isinstance(value, dict):
        raise NotADefinition(f"a permission must be allow, ask or deny, not {shown(value)}")
    if any(isinstance(each, dict) for each in value.values()):
        raise NotADefinition("a permission must be allow, ask or deny for each pattern")
    return max(map(_verdict, value.values()), key=get_args(_Verdict).index, default="allow")


def _by_tool(fields: DefinitionFields, given: dict[str, _Verdict], more: Collection[str]) -> dict[str, _Verdict]:
    """Patterns as the tools they mean: theirs, ours and `more`."""
    found: dict[str, _Verdict] = {}
    for name, verdict in given.items():
        if not _is_pattern(name):
            found.pop(name, None)  # the last one decides
            found[name] = verdict
            continue
        known = dict.fromkeys((*found, *sorted(_TOOLS_OF_OPENCODE), *more))
        tools = [each for each in known if _fits(name, each)]
        found |= dict.fromkeys(tools, verdict)
        if not tools and verdict == "deny":
            fields.notices.append(f"no tool here has such a name, so that none is denied by it: {shown(name)}")
    return found


def _is_pattern(name: str) -> bool:
    return "*" in name or "?" in name


def _fits(pattern: str, tool: str) -> bool:
    if len(pattern) > _LONGEST_PATTERN:  # none has such a name
        return False
    return fnmatch.fnmatchcase(tool.lower(), pattern.lower().replace("[", "[[]"))  # it knows * and ? alone


def _spawns_of_opencode(fields: DefinitionFields, verdict: _Verdict) -> tuple[str, ...]:
    """Of patterns only `*` is understood, and only where no agent is denied beside it."""
    permission = fields.mapping("permission") if fields.is_mapping("permission") else None
    agents = (permission or {}).get("task")
    if not isinstance(agents, dict):
        return () if verdict == "deny" else (ANY_AGENT,)
    allowed = tuple(name for name, value in agents.items() if value in ("allow", "ask"))
    if ANY_AGENT in allowed and len(allowed) == len(agents):
        return (ANY_AGENT,)
    return tuple(filter(is_name, allowed))
