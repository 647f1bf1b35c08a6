"""What OpenCode's server asks, as requests to the person, and their answers as its own."""

import re
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.text import clean_line, clean_value, visible_value

ONCE, SESSION, NO = "once", "this session", "no"

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


def permission(properties: dict[str, Any], call: str, cwd: str, agent: str) -> tuple[Request, Answer] | None:
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
    request = Request(clean_line(wanted.id), "approval", words, choices, details, agent=agent, source="opencode")

    def answer(said: Any) -> tuple[str, dict[str, Any]]:
        given = said if isinstance(said, dict) else {"choice": said}
        reply = {ONCE: "once", SESSION: "always"}.get(str(given.get("choice")), "reject")
        reason = str(given.get("reason") or "") if reply == "reject" else ""
        return f"/permission/{wanted.id}/reply", {"reply": reply, **({"message": reason} if reason else {})}

    return request, answer


def _without_index(diff: str) -> str:
    """Without the lines that name a file once more, before those that every diff has."""
    return _index.sub("", diff)


def question(properties: dict[str, Any], call: str, agent: str) -> tuple[Request, Answer] | None:
    """None when it cannot be read. Several at once are asked as one, and get one answer."""
    try:
        asked = msgspec.convert(clean_value(properties), _Questions)
    except (ValueError, RecursionError):
        return None
    if not asked.questions:
        return None
    first = asked.questions[0]
    options = first.options if len(asked.questions) == 1 else []
    choices = [{"label": str(o.get("label", "")), "description": str(o.get("description", ""))} for o in options]
    details: dict[str, Any] = {"ui": {"kind": "question"}, "choices": choices, "call": call}
    details |= {"several": first.multiple, "free_text": first.custom}
    text = "\n".join([one.question for one in asked.questions])
    labels = [choice["label"] for choice in choices]
    request = Request(clean_line(asked.id), "question", text, labels, details, agent=agent, source="opencode")

    def answer(said: Any) -> tuple[str, dict[str, Any]]:
        words = _words(said)
        if not words:
            return f"/question/{asked.id}/reject", {}
        return f"/question/{asked.id}/reply", {"answers": [words for _ in asked.questions]}

    return request, answer


def _words(said: Any) -> list[str]:
    if isinstance(said, dict):
        chosen = said.get("chosen")
        words = [str(one) for one in chosen] if isinstance(chosen, list) else []
        return [*words, str(said["text"])] if said.get("text") else words
    if isinstance(said, list):
        return [str(one) for one in said]
    return [] if said is None else [str(said)]
