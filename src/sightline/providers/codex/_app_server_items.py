"""The items of Codex's app-server as those of its other stream, which they mostly are under other names."""

from typing import Any

from sightline.events import DiffFact
from sightline.providers.codex import _app_server_wire as wire
from sightline.providers.codex import _wire
from sightline.providers.codex._calls import Call

WORDS = frozenset(("agentMessage", "reasoning", "plan"))
# The prompt, which is known, and what others tell as well.
SILENT = frozenset(
    ("userMessage", "hookPrompt", "functionCallOutput", "subAgentActivity", "contextCompaction", "sleep")
)
_STATUSES = {"inProgress": "in_progress"}
_TOOLS = {"spawnAgent": "spawn_agent", "sendInput": "send_input", "resumeAgent": "resume_agent"}


def call_of(item: wire.CodexItem) -> Call | None:
    """The same call as an item of `codex exec`; None for a type that has none."""
    status = _STATUSES.get(item.status, item.status) if isinstance(item.status, str) else ""
    match item.type:
        case "commandExecution":
            return _wire.CodexCommand(item.id, item.command, item.aggregatedOutput, item.exitCode, status)
        case "fileChange":
            return _wire.FileChange(
                item.id, [_wire.CodexFileChange(_path(change), _kind(change)) for change in item.changes], status
            )
        case "mcpToolCall":
            tool = item.tool if isinstance(item.tool, str) else ""
            return _wire.McpCall(item.id, item.server, tool, item.arguments, item.result, item.error, status)
        case "webSearch":
            return _wire.WebSearch(item.id, item.query, item.action)
        case "collabAgentToolCall":
            tool = _TOOLS.get(item.tool, item.tool) if isinstance(item.tool, str) else ""
            return _wire.CollabCall(item.id, tool, item.receiverThreadIds, item.prompt, item.agentsStates, status)
    return None


def details_of(item: wire.CodexItem) -> dict[str, Any] | None:
    """What a view can draw: the diff of a change to files."""
    diff = diff_of(item.changes)
    if item.type != "fileChange" or not diff:
        return None
    return DiffFact(path=_path(item.changes[0]), diff=diff).as_details()


def diff_of(changes: list[dict[str, Any]]) -> str:
    """One unified diff of them all. Of a file that is new or removed the wire has its text instead."""
    return "".join([_diff(change) for change in changes])


def _diff(change: dict[str, Any]) -> str:
    path, kind, text = _path(change), _kind(change), change.get("diff")
    if not isinstance(text, str) or not text:
        return ""
    before, after = ("/dev/null" if kind == "add" else path), ("/dev/null" if kind == "delete" else path)
    if kind in ("add", "delete"):
        lines = text.removesuffix("\n").split("\n")
        sign, count = ("+", f"-0,0 +1,{len(lines)}") if kind == "add" else ("-", f"-1,{len(lines)} +0,0")
        text = f"@@ {count} @@\n" + "".join([f"{sign}{line}\n" for line in lines])
    end = "" if text.endswith("\n") else "\n"
    return f"--- {before}\n+++ {after}\n{text}{end}"


def _path(change: dict[str, Any]) -> str:
    path = change.get("path")
    return path if isinstance(path, str) else ""


def _kind(change: dict[str, Any]) -> str:
    kind = change.get("kind")
    kind = kind.get("type") if isinstance(kind, dict) else kind
    return kind if isinstance(kind, str) else ""
