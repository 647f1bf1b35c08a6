"""What Codex's app-server asks, as requests to the person, and their answers as its own.

A request that nobody here can answer is refused at once, with an error, so that Codex does not wait for ever.
"""

import shlex
from collections.abc import Callable
from typing import Any

import msgspec

from sightline.events import Event, Notice, Request, leaves_sandbox
from sightline.providers._preview import unwrap_shell
from sightline.providers._requests import ALWAYS, NO, ONCE, SESSION, choice_in, question, words_in
from sightline.text import clean_line, visible_value

# From the person's answer to the result Codex gets, and what to tell it besides.
Answer = Callable[[Any], tuple[Any, str]]
# The event that asks, and how to answer; None: answered with an error.
Asked = tuple[Event, Answer | None]
# How a change to files is found by its item: path and diff of each.
Changes = Callable[[str], tuple[str, str, str]]


_AMENDMENT = "proposedExecpolicyAmendment"


class _Command(msgspec.Struct):
    itemId: str = ""
    command: str | None = ""
    cwd: str | None = ""
    reason: str | None = ""
    proposedExecpolicyAmendment: list[str] | None = None
    availableDecisions: list[Any] | None = None


class _Permissions(msgspec.Struct):
    itemId: str = ""
    cwd: str | None = ""
    reason: str | None = ""
    permissions: Any = None


class _Question(msgspec.Struct):
    id: str = ""
    question: str = ""
    options: list[dict[str, Any]] | None = None


class _Questions(msgspec.Struct):
    questions: list[_Question] = []


def asked(method: str, id: str, params: dict[str, Any], call: str, changes: Changes) -> Asked:
    """`call`: our id of the call it is about."""
    known = _KINDS.get(method)
    if known is not None:
        try:
            made = known(id, _shown(params), call, changes)
        except (ValueError, RecursionError):
            made = None
        if made is not None:
            return made
    text = f"Codex asked for something that only its own program supports: {method[:100]}"
    return Notice(clean_line(text), "warning"), None


def _shown(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters as a person can read them. A rule that would not be what they read is not offered."""
    shown: dict[str, Any] = visible_value(params)
    if shown.get(_AMENDMENT) != params.get(_AMENDMENT):
        shown[_AMENDMENT] = None
    return shown


def _command(id: str, params: dict[str, Any], call: str, changes: Changes) -> Asked:
    wanted = msgspec.convert(params, _Command)
    command = unwrap_shell(wanted.command or "")
    offered = wanted.availableDecisions
    amendment = wanted.proposedExecpolicyAmendment or []
    choices = [ONCE]
    if offered is None or "acceptForSession" in offered:
        choices.append(SESSION)
    if amendment and (offered is None or any(isinstance(one, dict) for one in offered)):
        choices.append(ALWAYS)
    details = {
        **_about("Bash", call, "exec", command, wanted.reason),
        "rule": shlex.join(amendment),
        "args": {"command": command},
        "cwd": wanted.cwd or "",
        "leaves": True,
    }
    always = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": amendment}}
    decisions: dict[str, Any] = {ONCE: "accept", SESSION: "acceptForSession", ALWAYS: always}
    event = Request(id, "approval", f"Codex wants to run `{command}`", [*choices, NO], details)
    return event, _decided({choice: decisions[choice] for choice in choices})


def _file_change(id: str, params: dict[str, Any], call: str, changes: Changes) -> Asked:
    wanted = msgspec.convert(params, _Command)
    tool, path, diff = changes(wanted.itemId)
    details = {
        **_about(tool, call, "write", path, wanted.reason),
        "path": path,
        "diff": diff,
        "leaves": leaves_sandbox("write", path, wanted.cwd or ""),
        **({} if diff else {"unseen": "its changes are unknown"}),
    }
    words = f"Codex wants to change {path or 'files'}"
    event = Request(id, "approval", words, [ONCE, SESSION, NO], details)
    return event, _decided({ONCE: "accept", SESSION: "acceptForSession"})


def _permissions(id: str, params: dict[str, Any], call: str, changes: Changes) -> Asked:
    wanted = msgspec.convert(params, _Permissions)
    what = msgspec.json.encode(wanted.permissions).decode()
    details = {**_about("Permissions", call, "exec", what, wanted.reason), "cwd": wanted.cwd or ""}

    def answer(said: Any) -> tuple[Any, str]:
        choice, reason = choice_in(said)
        granted = wanted.permissions if choice in (ONCE, SESSION) else {}
        return {"permissions": granted, "scope": "session" if choice == SESSION else "turn"}, reason

    words = f"Codex wants more permissions: {wanted.reason or what}"
    return Request(id, "approval", words, [ONCE, SESSION, NO], details), answer


def _question(id: str, params: dict[str, Any], call: str, changes: Changes) -> Asked | None:
    """Several at once are asked as one; each choice says which it answers by its place in the text."""
    questions = msgspec.convert(params, _Questions).questions
    if not questions:
        return None
    options = questions[0].options or [] if len(questions) == 1 else []
    text = "\n".join([each.question for each in questions])

    def answer(said: Any) -> tuple[Any, str]:
        words = words_in(said)
        return {"answers": {each.id: {"answers": words} for each in questions}}, ""

    return question(id, text, options), answer


_KINDS: dict[str, Callable[[str, dict[str, Any], str, Changes], Asked | None]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file_change,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
}


def _about(tool: str, call: str, access: str, what: str, why: str | None) -> dict[str, Any]:
    return {"ui": {"kind": "approval"}, "tool": tool, "call": call, "access": access, "what": what, "why": why or ""}


def _decided(decisions: dict[str, Any]) -> Answer:
    """`decline` lets Codex go on without it; a reason is said to it as well."""

    def answer(said: Any) -> tuple[Any, str]:
        choice, reason = choice_in(said)
        return {"decision": decisions.get(choice, "decline")}, "" if choice in decisions else reason

    return answer
