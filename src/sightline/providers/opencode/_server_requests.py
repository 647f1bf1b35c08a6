"""What OpenCode's server asks, as requests to the person, and their answers as its own."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.providers._requests import NO, ONCE, SESSION, choice_in, words_in
from sightline.providers._requests import question as request_of
from sightline.text import clean_line, clean_value, visible_value

# From the person's answer to the path it is sent to and the body that is sent.
Answer = Callable[[Any], tuple[str, dict[str, Any]]]


_IN_THE_DIFF = ("diff", "filepath", "files")  # the files of a patch have it once more, each its own part
_index = re.compile(r"^Index: .*\n=+\n", re.MULTILINE)


class _Permission(msgspec.Struct):
    id: str
    permission: str = ""
    patterns: list[str] = []
    metadata: dict[str, Any] = {}
    always: list[str] = []


class _Question(msgspec.Struct):
    question: str = ""
    options: list[dict[str, Any]] = []
    multiple: bool = False
    custom: bool = True


class _Questions(msgspec.Struct):
    id: str
    questions: list[_Question] = []


def permission(properties: dict[str, Any], call: str, cwd: str) -> tuple[Request, Answer] | None:
    """None when it cannot be read. `this session` allows what fits OpenCode's own pattern until its server ends."""
    try:
        wanted = msgspec.convert(visible_value(properties), _Permission)
    except (ValueError, RecursionError):
        return None
    command, diff = wanted.metadata.get("command"), wanted.metadata.get("diff")
    what = command if isinstance(command, str) and command else ", ".join(wanted.patterns)
    access = "exec" if wanted.permission == "bash" else "write" if wanted.permission == "edit" else wanted.permission
    shown = _IN_THE_DIFF if isinstance(diff, str) else ()
    details = {
        "ui": {"kind": "approval"},
        "tool": wanted.permission,
        "call": call,
        "access": access,
        "what": what,
        "why": "",
        "rule": ", ".join(wanted.always),
        "args": {name: value for name, value in wanted.metadata.items() if name not in shown and value != what},
        "cwd": cwd,
        "leaves": leaves_sandbox(access, str(wanted.metadata.get("filepath") or what), cwd),
        **({"diff": _without_index(diff)} if isinstance(diff, str) else {}),
    }
    words = f"OpenCode wants to run `{what}`" if access == "exec" else f"OpenCode wants to {wanted.permission} {what}"
    choices = [ONCE, *([SESSION] if wanted.always else []), NO]
    request = Request(clean_line(wanted.id), "approval", words, choices, details)

    def answer(said: Any) -> tuple[str, dict[str, Any]]:
        choice, reason = choice_in(said)
        reply = {ONCE: "once", SESSION: "always"}.get(choice, "reject")
        message = {"message": reason} if reason and reply == "reject" else {}
        return f"/permission/{wanted.id}/reply", {"reply": reply, **message}

    return request, answer


def _without_index(diff: str) -> str:
    """Without the lines that name a file once more, before those that every diff has."""
    return _index.sub("", diff)


def question(properties: dict[str, Any], call: str) -> tuple[Request, Answer] | None:
    """None when it cannot be read. Several at once are asked as one, and get one answer."""
    try:
        asked = msgspec.convert(clean_value(properties), _Questions)
    except (ValueError, RecursionError):
        return None
    if not asked.questions:
        return None
    first = asked.questions[0]
    options = first.options if len(asked.questions) == 1 else []
    text = "\n".join([one.question for one in asked.questions])
    several, free_text = first.multiple, first.custom
    request = request_of(clean_line(asked.id), text, options, several=several, free_text=free_text, call=call)

    def answer(said: Any) -> tuple[str, dict[str, Any]]:
        words = words_in(said)
        if not words:
            return f"/question/{asked.id}/reject", {}
        return f"/question/{asked.id}/reply", {"answers": [words for _ in asked.questions]}

    return request, answer
