"""Requests of Gemini's channel as requests to the user, and the user's answers as its options.

Gemini offers the options itself, by id and kind. What one for longer than once allows is Gemini's to decide, and wider
than the requested call: the dialog shows how wide. One that Gemini stores may hold in other folders too, and has the
label that Gemini gives it.
"""

import os
from collections.abc import Callable

import msgspec

from sightline.events import Request, ToolUse, leaves_sandbox
from sightline.providers._requests import NO, ONCE, SESSION, choice_in
from sightline.providers.gemini._channel_calls import GeminiCall
from sightline.text import clean_line, clean_value, visible_value

_LASTING = {"proceed_always": SESSION, "proceed_always_tool": SESSION}
_STORED = "proceed_always_and_save"
_ACCESS = {
    "delete": "write",
    "edit": "write",
    "execute": "exec",
    "fetch": "network",
    "move": "write",
    "read": "read",
    "search": "read",
}
_FOR_LONGER = {"exec": "these programs with any arguments", "write": "all changes to files"}

# From the user's answer to the chosen option and the reason of a refusal; no option: refused.
Answer = Callable[[object], tuple[str, str]]


class _Option(msgspec.Struct):
    optionId: str
    name: str = ""
    kind: str = ""


class _PermissionRequest(msgspec.Struct):
    toolCall: GeminiCall
    options: list[_Option]


def requested_call(params: dict[str, object]) -> GeminiCall | None:
    """None when it cannot be read."""
    try:
        return msgspec.convert(clean_value(params), _PermissionRequest).toolCall
    except (ValueError, RecursionError):
        return None


def translate_request(id: str, params: dict[str, object], use: ToolUse, cwd: str) -> tuple[Request, Answer]:
    """`params`: of a call that can be read. `use`: that call as it was published."""
    request = msgspec.convert(visible_value(params), _PermissionRequest)
    call, choices = request.toolCall, _choices(request.options)
    path, diff = call.changes(cwd)
    args = {**(use.args if isinstance(use.args, dict) else {}), **call.args(cwd)}
    access = _ACCESS.get(call.kind if isinstance(call.kind, str) else "", "")
    what = str(args.get("command") or path or call.words)
    described = args.get("description") if access == "exec" else ""  # by the model; of others it is the title
    details = {
        "ui": {"kind": "approval"},
        "tool": use.name,
        "call": use.id,
        "access": access,
        "what": what,
        "why": _why(str(described or ""), access, choices),
        "args": {name: value for name, value in args.items() if value not in (what, described)},
        "cwd": _folder(cwd, args.get("dir_path") if access == "exec" else ""),
        "leaves": leaves_sandbox(access, path or call.path, cwd),
        **({"path": path, "diff": diff} if diff else {}),
    }
    doing = {"exec": f"run `{what}`", "write": f"change {what}"}.get(access, f"use {use.name}: {what}")
    event = Request(id, "approval", f"Gemini wants to {doing}", [*choices, NO], details)

    def answer(given: object) -> tuple[str, str]:
        choice, reason = choice_in(given)
        option = choices.get(choice, "")
        return option, "" if option else reason

    return event, answer


def _choices(options: list[_Option]) -> dict[str, str]:
    """The choices of the user, and the option each stands for; a no is added by the caller."""
    made: dict[str, str] = {}
    for option in options:
        if option.kind == "allow_once":
            made.setdefault(ONCE, option.optionId)
        elif option.kind == "allow_always":
            label = _LASTING.get(option.optionId) or clean_line(option.name)
            if label not in ("", ONCE, NO):
                made.setdefault(label, option.optionId)
    order = [ONCE, SESSION]
    return dict(sorted(made.items(), key=lambda item: order.index(item[0]) if item[0] in order else len(order)))


def _why(description: str, access: str, choices: dict[str, str]) -> str:
    wide = _FOR_LONGER.get(access, "this tool with any arguments")
    stored = (
        [] if access == "write" else [label for label, option in choices.items() if option == _STORED]
    )  # of one file
    labels = [f"“{label}”" for label in [*([SESSION] if SESSION in choices else []), *stored]]
    how_wide = f"{' and '.join(labels)} {'is' if len(labels) == 1 else 'are'} for {wide}" if labels else ""
    return ". ".join(filter(None, [description, how_wide]))


def _folder(cwd: str, below: object) -> str:
    return os.path.normpath(os.path.join(cwd, below)) if isinstance(below, str) and below else cwd
