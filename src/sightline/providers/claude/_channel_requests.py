"""Requests of Claude Code's stream as requests to the user, and the user's answers as responses.

- `can_use_tool` has the call it is about, and what it suggests to allow for longer. "This session" takes all of that
  until the process ends, "always here" stores it where Claude Code proposes to, as far as that is in this folder.
- Nothing is allowed for longer that the user was not shown: what cannot be described is left out.
- Its tool for questions asks in the same way, and takes the answers as part of the arguments. Several questions of one
  call become one request after the other.
- The reason of a refusal goes to the model as the result of the call.
"""

import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Union

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.providers._preview import preview
from sightline.providers._requests import ALWAYS, NO, ONCE, SESSION, choice_in, question, words_in
from sightline.providers.claude import _wire as wire
from sightline.text import clean_line, clean_value, unified_diff, visible, visible_value

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
_STORED_LOCALLY = frozenset(("localSettings", "projectSettings"))
_MODES = {"acceptEdits": "changes to files without asking", "bypassPermissions": "everything without asking"}
_REFUSED = "The user refused this."
_UNANSWERED = "The user did not answer."
_BYTES_AT_MOST = 16 * 1024 * 1024  # of a file to compare with; past that the arguments of the call have to do


class RequestOrigin(msgspec.Struct, frozen=True):
    """Their id of the request, our id of the call it is about, and the folder."""

    id: str
    call: str
    cwd: str


class TranslatedRequest(msgspec.Struct, frozen=True):
    """The event, and what an answer to it becomes: the response to be sent, or the next request."""

    event: Request
    answer: Callable[[object], Union[dict[str, object], "TranslatedRequest"]]


class _ToolUse(msgspec.Struct):
    tool_name: str
    input: dict[str, object]
    permission_suggestions: object = None
    decision_reason: object = ""


class _Question(msgspec.Struct):
    question: str
    options: list[dict[str, object]] = []
    multiSelect: bool = False


class _Questions(msgspec.Struct):
    questions: list[_Question]


def translate_request(request: object, origin: RequestOrigin) -> TranslatedRequest | None:
    """None for a request that cannot be answered here."""
    try:
        call = msgspec.convert(request, _ToolUse)
        if call.tool_name == "AskUserQuestion":
            questions = msgspec.convert(call.input, _Questions).questions
            if questions:
                return _question(call.input, questions, {}, origin)
        return _approval(call, origin)
    except (ValueError, RecursionError):
        return None


def _approval(request: _ToolUse, origin: RequestOrigin) -> TranslatedRequest:
    native = clean_line(request.tool_name)
    tool = wire.COMMON_NAMES.get(native, native)
    access, args = _ACCESS.get(tool, ""), visible_value(request.input)
    what = _what(tool, args)
    diff = visible(diff_of(request.input, origin.cwd)) if access == "write" else ""
    suggested = _suggested(request.permission_suggestions)
    longer = _for_longer([suggestion for suggestion, _ in suggested])
    details = {
        "ui": {"kind": "approval"},
        "tool": tool,
        "call": origin.call,
        "access": access,
        "what": what,
        "why": visible(request.decision_reason) if isinstance(request.decision_reason, str) else "",
        "rule": ", ".join([words for _, words in suggested]),
        "args": {name: value for name, value in args.items() if not (diff and name in _IN_THE_DIFF)},
        "cwd": origin.cwd,
        "leaves": leaves_sandbox(access, _path(request.input) if access == "write" else what, origin.cwd),
        **({"path": what} if access == "write" else {}),
        **({"diff": diff} if diff else {}),
    }
    words = _words_for(tool, access, what)
    event = Request(origin.id, "approval", words, [ONCE, *longer, NO], details)

    def answer(given: object) -> dict[str, object]:
        choice, reason = choice_in(given)
        if choice == ONCE:
            return _allow(request.input)
        if choice in longer:
            return {**_allow(request.input), "updatedPermissions": longer[choice]}
        return _deny(f"{_REFUSED} Reason: {reason}" if reason else _REFUSED)

    return TranslatedRequest(event, answer)


def _what(tool: str, args: dict[str, object]) -> str:
    """All of the command, the file, the address, the plan; of another call its preview."""
    for name in ("command", "file_path", "notebook_path", "url", "plan"):
        value = args.get(name)
        if isinstance(value, str) and value:
            return value
    return preview(args, tool)


def _path(args: dict[str, object]) -> str:
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


def _suggested(offered: object) -> list[tuple[dict[str, object], str]]:
    """What may be allowed for longer, each with the text that the user reads."""
    suggestions = [one for one in offered if isinstance(one, dict)] if isinstance(offered, list) else []
    return [(one, words) for one in suggestions if (words := visible(_described(one)).replace("\n", "⏎"))]


def _for_longer(suggestions: list[dict[str, object]]) -> dict[str, list[dict[str, object]]]:
    """What each answer for longer than once allows; none where nothing is suggested."""
    if not suggestions:
        return {}
    for_session = [{**one, "destination": "session"} for one in suggestions]
    if not any(_is_stored_locally(one) for one in suggestions):
        return {SESSION: for_session}
    lasting = [one if _is_stored_locally(one) else {**one, "destination": "session"} for one in suggestions]
    return {SESSION: for_session, ALWAYS: lasting}


def _is_stored_locally(suggestion: dict[str, object]) -> bool:
    destination = suggestion.get("destination")
    return isinstance(destination, str) and destination in _STORED_LOCALLY


def _described(suggestion: dict[str, object]) -> str:
    """All it allows; empty when that cannot be described."""
    match suggestion:
        case {"type": "addRules", "behavior": "allow", "rules": list() as rules}:
            shown = [_rule(rule) for rule in rules]
            return ", ".join(shown) if all(shown) else ""
        case {"type": "addDirectories", "directories": list() as folders}:
            named = [folder for folder in folders if isinstance(folder, str) and folder]
            return f"work in {', '.join(named)}" if named and len(named) == len(folders) else ""
        case {"type": "setMode", "mode": str() as mode}:
            return _MODES.get(mode, f"mode {mode}")
    return ""


def _rule(rule: object) -> str:
    match rule:
        case {"toolName": str() as tool, "ruleContent": str() as content} if tool:
            return f"{tool}({content})"
        case {"toolName": str() as tool, **rest} if tool and rest.get("ruleContent") is None:
            return tool
    return ""


def _question(
    args: dict[str, object], questions: list[_Question], answers: dict[str, str], origin: RequestOrigin, number: int = 0
) -> TranslatedRequest:
    current = questions[number]
    id = f"{origin.id}/{number}" if number else origin.id
    event = question(id, clean_value(current.question), clean_value(current.options), several=current.multiSelect)

    def answer(given: object) -> dict[str, object] | TranslatedRequest:
        words = words_in(given)
        if not words:
            return _deny(_UNANSWERED)
        known = {**answers, current.question: ", ".join(words)}
        if number + 1 < len(questions):
            return _question(args, questions, known, origin, number + 1)
        return _allow({**args, "answers": known})

    return TranslatedRequest(event, answer)


def _allow(args: dict[str, object]) -> dict[str, object]:
    return {"behavior": "allow", "updatedInput": args}


def _deny(message: str) -> dict[str, object]:
    return {"behavior": "deny", "message": message}


def diff_of(args: dict[str, object], cwd: str) -> str:
    """The unified diff of a call that writes a whole file (`content`) or replaces text in one (`old_string`, `edits`).
    Empty when it is not known: the file is too large, or is not as the call expects it."""
    path = args.get("file_path")
    if not isinstance(path, str) or not path:
        return ""
    try:
        before = _text_in(Path(cwd, path))
    except (OSError, ValueError):
        return ""
    after = _after(args, before or "")
    return "" if after is None else unified_diff(before, after, path, path).text


def _text_in(path: Path) -> str | None:
    """None when there is no such file."""
    try:
        about = os.stat(path)
    except FileNotFoundError:
        return None
    if not stat.S_ISREG(about.st_mode) or about.st_size > _BYTES_AT_MOST:
        raise ValueError("no file to compare with")
    return path.read_bytes().decode()


def _after(args: dict[str, object], before: str) -> str | None:
    content, edits = args.get("content"), args.get("edits")
    if isinstance(content, str):
        return content
    after = before
    for edit in edits if isinstance(edits, list) else [args]:
        replaced = _replaced(after, edit)
        if replaced is None:
            return None
        after = replaced
    return after


def _replaced(text: str, edit: object) -> str | None:
    if not isinstance(edit, dict):
        return None
    old, new = edit.get("old_string"), edit.get("new_string")
    if not isinstance(old, str) or not isinstance(new, str):
        return None
    if not old:
        return new if not text else None
    return text.replace(old, new, -1 if edit.get("replace_all") is True else 1) if old in text else None
