"""What Claude Code asks over its stream, as requests to the person, and their answers as its own.

- `can_use_tool` has the call it is about, and what it suggests to allow for longer. "This session" takes all of that
  until the process ends, "always here" keeps it where Claude Code proposes to, as far as that is in this folder.
- Nothing is allowed for longer that the person was not shown: what cannot be told in words is left out.
- Its tool for questions asks in the same way, and takes the answers as part of the arguments. Several questions of one
  call are put one after the other.
- What a no says goes to the model as the result of the call.
"""

from collections.abc import Callable
from typing import Any, Union

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.providers._preview import preview
from sightline.providers._requests import ALWAYS, NO, ONCE, SESSION, choice_in, question, words_in
from sightline.providers.claude import _wire as wire
from sightline.providers.claude._channel_changes import diff_of
from sightline.text import clean_line, clean_value, visible, visible_value

_ACCESS = {
    "Bash": "exec",
    "Edit": "write",
    "Write": "write",
    "Read": "read",
    "Glob": "read",
    "Grep": "read",
    "WebFetch": "network",
    "WebSearch": "network",
}
_IN_THE_DIFF = frozenset(("old_string", "new_string", "replace_all", "edits", "content"))
_KEPT_HERE = frozenset(("localSettings", "projectSettings"))
_MODES = {"acceptEdits": "changes to files without asking", "bypassPermissions": "everything without asking"}
_REFUSED = "The user refused this."
_UNANSWERED = "The user did not answer."


class RequestOrigin(msgspec.Struct, frozen=True):
    """Who asks: their id of the request, our id of the call it is about, and the folder."""

    id: str
    call: str
    cwd: str


class TranslatedRequest(msgspec.Struct, frozen=True):
    """The event that asks, and what an answer to it is: the response to be sent, or what has to be asked next."""

    event: Request
    answer: Callable[[Any], Union[dict[str, Any], "TranslatedRequest"]]


class _ToolUse(msgspec.Struct):
    tool_name: str
    input: dict[str, Any]
    permission_suggestions: Any = None
    decision_reason: Any = ""


class _Question(msgspec.Struct):
    question: str
    options: list[dict[str, Any]] = []
    multiSelect: bool = False


class _Questions(msgspec.Struct):
    questions: list[_Question]


def asked(request: dict[str, Any], asking: RequestOrigin) -> TranslatedRequest | None:
    """None for a request that nobody here can answer."""
    try:
        wanted = msgspec.convert(request, _ToolUse)
        if wanted.tool_name == "AskUserQuestion":
            questions = msgspec.convert(wanted.input, _Questions).questions
            if questions:
                return _question(wanted.input, questions, {}, asking)
        return _approval(wanted, asking)
    except (ValueError, RecursionError):
        return None


# May this be done?


def _approval(wanted: _ToolUse, asking: RequestOrigin) -> TranslatedRequest:
    native = clean_line(wanted.tool_name)
    tool = wire.COMMON_NAMES.get(native, native)
    access, args = _ACCESS.get(tool, ""), visible_value(wanted.input)
    what = _what(tool, args)
    diff = visible(diff_of(wanted.input, asking.cwd)) if access == "write" else ""
    suggested = _suggested(wanted.permission_suggestions)
    longer = _for_longer([suggestion for suggestion, _ in suggested])
    details = {
        "ui": {"kind": "approval"},
        "tool": tool,
        "call": asking.call,
        "access": access,
        "what": what,
        "why": visible(wanted.decision_reason) if isinstance(wanted.decision_reason, str) else "",
        "rule": ", ".join([words for _, words in suggested]),
        "args": {name: value for name, value in args.items() if not (diff and name in _IN_THE_DIFF)},
        "cwd": asking.cwd,
        "leaves": leaves_sandbox(access, _path(wanted.input) if access == "write" else what, asking.cwd),
        **({"path": what} if access == "write" else {}),
        **({"diff": diff} if diff else {}),
    }
    words = _words_for(tool, access, what)
    event = Request(asking.id, "approval", words, [ONCE, *longer, NO], details)

    def answer(said: Any) -> dict[str, Any]:
        choice, reason = choice_in(said)
        if choice == ONCE:
            return _allow(wanted.input)
        if choice in longer:
            return {**_allow(wanted.input), "updatedPermissions": longer[choice]}
        return _deny(f"{_REFUSED} Reason: {reason}" if reason else _REFUSED)

    return TranslatedRequest(event, answer)


def _what(tool: str, args: dict[str, Any]) -> str:
    """All of the command, the file, the address, the plan; of another call what says most about it."""
    for name in ("command", "file_path", "notebook_path", "url", "plan"):
        value = args.get(name)
        if isinstance(value, str) and value:
            return value
    return preview(args, tool)


def _path(args: dict[str, Any]) -> str:
    """The file, as it was named."""
    named = (args.get(name) for name in ("file_path", "notebook_path"))
    return next((path for path in named if isinstance(path, str)), "")


def _words_for(tool: str, access: str, what: str) -> str:
    match access:
        case "exec":
            return f"Claude Code wants to run `{what}`"
        case "write" | "read":
            return f"Claude Code wants to {'change' if access == 'write' else 'read'} {what}"
    if tool == "ExitPlanMode":
        return "Claude Code has a plan and wants to begin"
    return f"Claude Code wants to use {tool}"


def _suggested(offered: Any) -> list[tuple[dict[str, Any], str]]:
    """What may be allowed for longer, each with what the person reads of it."""
    suggestions = [one for one in offered if isinstance(one, dict)] if isinstance(offered, list) else []
    return [(one, words) for one in suggestions if (words := visible(_described(one)).replace("\n", "⏎"))]


def _for_longer(suggestions: list[dict[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """What each answer for longer than once allows; none where nothing is suggested."""
    if not suggestions:
        return {}
    for_session = [{**one, "destination": "session"} for one in suggestions]
    if not any(_is_kept_here(one) for one in suggestions):
        return {SESSION: for_session}
    kept = [one if _is_kept_here(one) else {**one, "destination": "session"} for one in suggestions]
    return {SESSION: for_session, ALWAYS: kept}


def _is_kept_here(suggestion: dict[str, Any]) -> bool:
    destination = suggestion.get("destination")
    return isinstance(destination, str) and destination in _KEPT_HERE


def _described(suggestion: dict[str, Any]) -> str:
    """All it allows; empty when that cannot be said."""
    match suggestion:
        case {"type": "addRules", "behavior": "allow", "rules": list() as rules}:
            told = [_rule(rule) for rule in rules]
            return ", ".join(told) if all(told) else ""
        case {"type": "addDirectories", "directories": list() as folders}:
            named = [folder for folder in folders if isinstance(folder, str) and folder]
            return f"work in {', '.join(named)}" if named and len(named) == len(folders) else ""
        case {"type": "setMode", "mode": str() as mode}:
            return _MODES.get(mode, f"mode {mode}")
    return ""


def _rule(rule: Any) -> str:
    match rule:
        case {"toolName": str() as tool, "ruleContent": str() as content} if tool:
            return f"{tool}({content})"
        case {"toolName": str() as tool} if tool and rule.get("ruleContent") is None:
            return tool
    return ""


# A question


def _question(
    args: dict[str, Any], questions: list[_Question], answers: dict[str, str], asking: RequestOrigin, number: int = 0
) -> TranslatedRequest:
    asked = questions[number]
    id = f"{asking.id}/{number}" if number else asking.id
    event = question(id, clean_value(asked.question), clean_value(asked.options), several=asked.multiSelect)

    def answer(said: Any) -> dict[str, Any] | TranslatedRequest:
        words = words_in(said)
        if not words:
            return _deny(_UNANSWERED)
        known = {**answers, asked.question: ", ".join(words)}
        if number + 1 < len(questions):
            return _question(args, questions, known, asking, number + 1)
        return _allow({**args, "answers": known})

    return TranslatedRequest(event, answer)


def _allow(args: dict[str, Any]) -> dict[str, Any]:
    return {"behavior": "allow", "updatedInput": args}


def _deny(message: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": message}
