"""The tree as it is listed: which entries a filter leaves, which of them a search finds, and the text of each.

Rules:

- An entry that is not shown passes its children on to the nearest one above it that is.
- `default` leaves out bookkeeping; `no-tools` results of tools as well; `user-only` shows messages of the user,
  `labeled-only` entries with a label, `all` everything.
- An assistant's message of calls alone, which ended as it should, is shown by `all` only, unless it is the leaf.
- Of a tool's result, lines for the model alone are left out: that a command wrote nothing, what exactly was refused.
- A search is words apart by spaces. Each must be in the entry's label, role, type or content; case does not matter.
"""

from collections.abc import Callable
from typing import Literal, get_args

import msgspec

from sightline.conversation import AssistantMessage, CallPart, ToolMessage, text_of
from sightline.events import CallEnding
from sightline.journal.tree._entry import Entry
from sightline.journal.tree._node import SessionNode
from sightline.journal.tree._tree import SessionTree

Filter = Literal["default", "no-tools", "user-only", "labeled-only", "all"]
FILTERS: tuple[Filter, ...] = get_args(Filter)

_BOOKKEEPING = ("label", "leaf", "custom", "model_change", "thinking_level_change", "approval_change", "rules_given")
_ENDED_WELL = ("stop", "tool_use")
_SHORT_ARGUMENT = 500


class OutlineLine(msgspec.Struct, frozen=True, kw_only=True):
    """One entry of a listed tree."""

    node: SessionNode
    above: str  # the entry it is listed under; empty: none
    label: str
    active: bool  # on the path to the leaf
    is_leaf: bool


def outline(tree: SessionTree, filter: Filter = "default", search: str = "") -> list[OutlineLine]:
    """Depth first, the older child first."""
    shown = _shown_by(tree, filter)
    if tokens := search.lower().split():
        inner = shown
        found = {entry.id for entry in tree.read(tree.nodes.values()) if _matches(tree, entry, tokens)}
        shown = lambda node: inner(node) and node.id in found  # noqa: E731
    active = {node.id for node in tree.path()}
    lines: list[OutlineLine] = []
    waiting = [(node, "") for node in reversed(tree.roots)]
    while waiting:
        node, above = waiting.pop()
        if shown(node):
            label = tree.labels.get(node.id, "")
            lines.append(
                OutlineLine(node=node, above=above, label=label, active=node.id in active, is_leaf=node.id == tree.leaf)
            )
            above = node.id
        waiting += [(child, above) for child in reversed(tree.children(node.id))]
    return lines


def content_of(entry: Entry) -> str:
    data = entry.data if isinstance(entry.data, dict) else {}
    match entry.type:
        case "message" | "custom_message":
            return "\n".join([part for part in (entry.custom, _message_text(entry)) if part])
        case "compaction" | "branch_summary":
            return str(data.get("summary", ""))
        case "model_change":
            return str(data.get("model", ""))
        case "thinking_level_change" | "approval_change":
            return str(data.get("level", ""))
        case "rules_given":
            return "\n".join([*_rules(data, "allow"), *_rules(data, "deny")])
        case "label":
            return str(data.get("label", ""))
        case "leaf":
            return str(data.get("to", ""))
        case "custom":
            return entry.custom


def _rules(data: dict[str, object], verdict: str) -> list[str]:
    rules = data.get(verdict)
    return [f"{verdict} {rule}" for rule in rules] if isinstance(rules, list) else []


def calls_of(message: AssistantMessage) -> str:
    """Its calls, one a line: the tool, and its short arguments."""
    return "\n".join([_call(part) for part in message.calls])


def _message_text(entry: Entry) -> str:
    message = entry.message
    if message is None:
        return ""
    text = text_of(message)
    if isinstance(message, AssistantMessage) and message.parts:
        return "\n".join([part for part in (text, calls_of(message), message.error) if part])
    if isinstance(message, ToolMessage):
        return "\n".join([message.name, *_result(text, message.ending or CallEnding())])
    return text


def _result(text: str, ending: CallEnding) -> list[str]:
    if ending.by:
        return ["refused", ending.why_refused]
    shown = ending.without_outcome(text)
    return [*([shown] if shown else []), *([f"exit {ending.exit_code}"] if ending.exit_code else [])]


def _call(part: CallPart) -> str:
    words = [value for value in part.args.values() if isinstance(value, str) and len(value) <= _SHORT_ARGUMENT]
    return " ".join([part.name, *words])


def _matches(tree: SessionTree, entry: Entry, tokens: list[str]) -> bool:
    node = tree.nodes[entry.id]
    text = "\n".join([tree.labels.get(entry.id, ""), node.role, entry.type, content_of(entry)]).lower()
    return all(token in text for token in tokens)


def _shown_by(tree: SessionTree, filter: Filter) -> Callable[[SessionNode], bool]:
    if filter == "all":
        return lambda node: True

    def shown(node: SessionNode) -> bool:
        if node.tool_only and node.stop_reason in _ENDED_WELL and node.id != tree.leaf:
            return False
        match filter:
            case "user-only":
                return node.type == "message" and node.role == "user"
            case "labeled-only":
                return node.id in tree.labels
            case "no-tools":
                return node.type not in _BOOKKEEPING and node.role != "tool"
        return node.type not in _BOOKKEEPING

    return shown
