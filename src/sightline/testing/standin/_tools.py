"""From the common name of a tool to what a client calls it, and from the common arguments to the client's own.

The tools and their argument names are read from the request itself, so that an unforeseen client works when it
uses any of the usual names. A client without a tool for reading or searching (codex) gets a shell command.
"""

import re
import shlex
from typing import Any

from sightline.testing.standin._conversation import OfferedTool, smallest_value
from sightline.testing.standin._turn import as_json

Tools = dict[str, OfferedTool]
NamedCall = tuple[str, dict[str, Any] | str]

_OFFERED_AS: dict[str, tuple[str, ...]] = {
    "bash": ("Bash", "bash", "run_shell_command", "exec_command", "shell_command", "shell", "run_command"),
    "read": ("Read", "read", "read_file"),
    "write": ("Write", "write", "write_file"),
    "edit": ("Edit", "edit", "replace", "edit_file"),
    "grep": ("Grep", "grep", "grep_search", "search_file_content"),
    "glob": ("Glob", "glob", "find_files"),
    "task": ("Agent", "Task", "task", "invoke_agent", "delegate_to_agent", "spawn_agent"),
    "todo": ("TodoWrite", "todowrite", "write_todos", "update_plan", "TaskCreate"),
}

# Names of one argument; a tool is given the first it takes.
_ARGUMENT_NAMES: tuple[tuple[str, ...], ...] = (
    ("file_path", "filePath", "path", "absolute_path"),
    ("path", "dir_path", "file_path"),
    ("command", "cmd"),
    ("old_string", "oldString", "old_str"),
    ("new_string", "newString", "new_str"),
    ("pattern", "query"),
    ("prompt", "message", "objective", "query"),
    ("subagent_type", "agent_name", "agent_type"),
    ("description", "task_name", "title"),
)

_SUBAGENT_TYPE = {
    "Agent": "general-purpose",
    "Task": "general-purpose",
    "task": "general",
    "invoke_agent": "generalist",
}

_WHY = "As asked."


def translate(tool: str, args: dict[str, Any], tools: Tools) -> NamedCall:
    """The call as this client would have it made."""
    common = tool.lower()
    if common not in _OFFERED_AS:
        return tool, _arguments(tool, args, tools)
    name = tool if tool in tools else next((name for name in _OFFERED_AS[common] if name in tools), None)
    if common in ("write", "edit") and "apply_patch" in tools:
        patch = patch_text(args)
        return "apply_patch", patch if tools["apply_patch"].freeform else {"input": patch}
    if name is None:
        return _through_the_shell(common, args, tools)
    if common == "todo":
        return _todo(name, args)
    if common == "task":
        args = _delegation(name, args, tools[name])
    return name, _arguments(name, args, tools)


def _arguments(name: str, args: dict[str, Any], tools: Tools) -> dict[str, Any] | str:
    """The arguments under the names the tool has for them, with something in each it insists on."""
    tool = tools.get(name)
    if tool is None or not tool.properties:
        return args
    named = {_own_name(argument, tool): value for argument, value in args.items()}
    for argument in tool.required:
        named.setdefault(argument, _filler(tool.properties.get(argument)))
    for argument, value in named.items():
        if (tool.properties.get(argument) or {}).get("type") == "array" and isinstance(value, str):
            named[argument] = ["bash", "-lc", value]
    return named


def _own_name(argument: str, tool: OfferedTool) -> str:
    if argument in tool.properties:
        return argument
    for names in _ARGUMENT_NAMES:
        if argument in names:
            return next((name for name in names if name in tool.properties), argument)
    return argument


def _filler(schema: Any) -> Any:
    value = smallest_value(schema)
    return _WHY if value == "ok" else value


def _delegation(name: str, args: dict[str, Any], tool: OfferedTool) -> dict[str, Any]:
    if name == "spawn_agent":  # codex: no types and no description, perhaps a name and how much of the parent's history
        named = {"task_name": re.sub(r"\W+", "_", str(args.get("description", "helper")).lower()), "fork_turns": "none"}
        known = {argument: value for argument, value in named.items() if argument in tool.properties}
        return {"message": args.get("prompt", ""), **known}
    if "tasks" in tool.properties:
        return _one_of_many(args, tool)
    return {"subagent_type": _SUBAGENT_TYPE.get(name, "general-purpose"), "description": "Help out", **args}


def _one_of_many(args: dict[str, Any], tool: OfferedTool) -> dict[str, Any]:
    """Clients that start several agents in one call: sightline, which names their kind once, and oh-my-pi."""
    name = re.sub(r"\W+", "", str(args.get("description", "helper")).title())
    prompt = args.get("prompt", "")
    if "agent" in tool.properties:
        item = {"id": name, "assignment": prompt, "description": args.get("description", "")}
        return {"agent": "task", "context": _WHY, "tasks": [item]}
    return {"context": _WHY, "tasks": [{"name": name, "task": prompt}]}


def _todo(name: str, args: dict[str, Any]) -> NamedCall:
    """`{"todos": [{"content", "status"}]}` as each client wants its list."""
    todos = [(str(todo.get("content", "")), str(todo.get("status", "pending"))) for todo in args.get("todos", [])]
    if name == "update_plan":
        return name, {"plan": [{"step": text, "status": status} for text, status in todos]}
    if name == "write_todos":
        return name, {"todos": [{"description": text, "status": status} for text, status in todos]}
    if name == "TaskCreate":
        text = todos[0][0] if todos else ""
        return name, {"subject": text, "description": text, "activeForm": text}
    extra = {"priority": "medium"} if name == "todowrite" else {}
    return name, {"todos": [{"content": text, "status": status, "activeForm": text, **extra} for text, status in todos]}


def _through_the_shell(common: str, args: dict[str, Any], tools: Tools) -> NamedCall:
    command = _shell_command(common, args)
    if command is not None and any(name in tools for name in _OFFERED_AS["bash"]):
        return translate("Bash", {"command": command}, tools)
    if "exec" in tools and tools["exec"].freeform:  # codex with its newest models: calls are written as JavaScript
        return "exec", _javascript(common, args, command)
    return common, args


def _javascript(common: str, args: dict[str, Any], command: str | None) -> str:
    if common in ("write", "edit"):
        return f"text(await tools.apply_patch({as_json(patch_text(args))}));\n"
    if common == "todo":
        return f"text(await tools.update_plan({as_json(_todo('update_plan', args)[1])}));\n"
    return f"const done = await tools.exec_command({as_json({'cmd': command})});\ntext(done.output);\n"


def _shell_command(common: str, args: dict[str, Any]) -> str | None:
    path = str(args.get("file_path") or args.get("path") or ".")
    match common:
        case "bash":
            return str(args.get("command", ""))
        case "read":
            return f"cat {shlex.quote(path)}"
        case "grep":
            return f"grep -rn {shlex.quote(str(args.get('pattern', '')))} {shlex.quote(path)}"
        case "glob":
            return f"find {shlex.quote(path)} -name {shlex.quote(str(args.get('pattern', '')))}"
        case "write" | "edit":
            return f"apply_patch <<'EOF'\n{patch_text(args)}EOF"
    return None


def patch_text(args: dict[str, Any]) -> str:
    """A Write or an Edit in the grammar of apply_patch."""
    path = args.get("file_path") or args.get("path")
    if "content" in args:
        added = "".join(f"+{line}\n" for line in str(args["content"]).removesuffix("\n").split("\n"))
        return f"*** Begin Patch\n*** Add File: {path}\n{added}*** End Patch\n"
    removed = "".join(f"-{line}\n" for line in str(args.get("old_string", "")).split("\n"))
    added = "".join(f"+{line}\n" for line in str(args.get("new_string", "")).split("\n"))
    return f"*** Begin Patch\n*** Update File: {path}\n@@\n{removed}{added}*** End Patch\n"
