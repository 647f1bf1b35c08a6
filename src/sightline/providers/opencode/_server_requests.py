"""Requests of OpenCode's server as requests to the user, and the user's answers as what is posted to it."""

import re
from collections.abc import Callable

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.providers._requests import NO, ONCE, SESSION, choice_in, words_in
from sightline.providers._requests import question as request_of
from sightline.text import clean_line, clean_value, visible_value

# From the user's answer to the path and the body that is posted.
Answer = Callable[[object], tuple[str, dict[str, object]]]


_IN_THE_DIFF = ("diff", "filepath", "files")  # the files of a patch have it once more, each its own part
# The lines that name a file once more, before those that every diff has.
_index = re.compile(r"^Index: .*\n=+\n", re.MULTILINE)


class _Permission(msgspec.Struct):
    id: str
    permission: str = ""
    patterns: list[str] = []
    metadata: dict[str, object] = {}
    always: list[str] = []


class _Question(msgspec.Struct):
    question: str = ""
    options: list[dict[str, object]] = []
    multiple: bool = False
    custom: bool = True


class _Questions(msgspec.Struct):
    id: str
    questions: list[_Question] = []


def permission(properties: dict[str, object], call: str, cwd: str) -> tuple[Request, Answer] | None:
    """None when it cannot be read. `this session` allows what fits OpenCode's own pattern until its server ends."""
    try:
        request = msgspec.convert(visible_value(properties), _Permission)
    except (ValueError, RecursionError):
        return None
    command, diff = request.metadata.get("command"), request.metadata.get("diff")
    what = command if isinstance(command, str) and command else ", ".join(request.patterns)
    access = "exec" if request.permission == "bash" else "write" if request.permission == "edit" else request.permission
    shown = _IN_THE_DIFF if isinstance(diff, str) else ()
    details = {
        "ui": {"kind": "approval"},
        "tool": request.permission,
        "call": call,
        "access": access,
        "what": what,
        "why": "",
        "rule": ", ".join(request.always),
        "args": {name: value for name, value in request.metadata.items() if name not in shown and value != what},
        "cwd": cwd,
        "leaves": leaves_sandbox(access, str(request.metadata.get("filepath") or what), cwd),
        **({"diff": _index.sub("", diff)} if isinstance(diff, str) else {}),
    }
    words = f"OpenCode wants to run `{what}`" if access == "exec" else f"OpenCode wants to {request.permission} {what}"
    choices = [ONCE, *([SESSION] if request.always else []), NO]
    event = Request(clean_line(request.id), "approval", words, choices, details)

    def answer(given: object) -> tuple[str, dict[str, object]]:
        choice, reason = choice_in(given)
        reply = {ONCE: "once", SESSION: "always"}.get(choice, "reject")
        message = {"message": reason} if reason and reply == "reject" else {}
        return f"/permission/{request.id}/reply", {"reply": reply, **message}

    return event, answer


def question(properties: dict[str, object], call: str) -> tuple[Request, Answer] | None:
    """None when it cannot be read. Several questions at once become one request, and get one answer."""
    try:
        request = msgspec.convert(clean_value(properties), _Questions)
    except (ValueError, RecursionError):
        return None
    if not request.questions:
        return None
    first = request.questions[0]
    options = first.options if len(request.questions) == 1 else []
    text = "\n".join([one.question for one in request.questions])
    several, free_text = first.multiple, first.custom
    event = request_of(clean_line(request.id), text, options, several=several, free_text=free_text, call=call)

    def answer(given: object) -> tuple[str, dict[str, object]]:
        words = words_in(given)
        if not words:
            return f"/question/{request.id}/reject", {}
        return f"/question/{request.id}/reply", {"answers": [words for _ in request.questions]}

    return event, answer
