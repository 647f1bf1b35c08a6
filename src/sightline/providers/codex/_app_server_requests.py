"""Requests of Codex's app-server as requests to the user, and the user's answers as results for Codex."""

import shlex
from collections.abc import Callable

import msgspec

from sightline.events import Request, leaves_sandbox
from sightline.providers._preview import unwrap_shell
from sightline.providers._requests import ALWAYS, NO, ONCE, SESSION, choice_in, question, words_in
from sightline.text import visible_value

# From the user's answer to the result for Codex, and a reason to send it besides.
Answer = Callable[[object], tuple[object, str]]
TranslatedRequest = tuple[Request, Answer]
# From the item of a file change to its tool, path and diff.
Changes = Callable[[str], tuple[str, str, str]]

_AMENDMENT = "proposedExecpolicyAmendment"


class _Command(msgspec.Struct):
    itemId: str = ""
    command: str | None = ""
    cwd: str | None = ""
    reason: str | None = ""
    proposedExecpolicyAmendment: list[str] | None = None
    availableDecisions: list[object] | None = None


class _Permissions(msgspec.Struct):
    itemId: str = ""
    cwd: str | None = ""
    reason: str | None = ""
    permissions: object = None


class _Question(msgspec.Struct):
    id: str = ""
    question: str = ""
    options: list[dict[str, object]] | None = None


class _Questions(msgspec.Struct):
    questions: list[_Question] = []


def translate_request(
    method: str, id: str, params: dict[str, object], call: str, changes: Changes
) -> TranslatedRequest | None:
    """None for a request that cannot be answered here. `call`: our id of the call it is about."""
    known = _KINDS.get(method)
    try:
        return None if known is None else known(id, _shown(params), call, changes)
    except (ValueError, RecursionError):
        return None


def _shown(params: dict[str, object]) -> dict[str, object]:
    """Parameters as the user can read them. A rule that would not be what they read is not offered."""
    shown: dict[str, object] = visible_value(params)
    if shown.get(_AMENDMENT) != params.get(_AMENDMENT):
        shown[_AMENDMENT] = None
    return shown


def _command(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Command)
    command = unwrap_shell(request.command or "")
    offered = request.availableDecisions
    amendment = request.proposedExecpolicyAmendment or []
    choices = [ONCE]
    if offered is None or "acceptForSession" in offered:
        choices.append(SESSION)
    if amendment and (offered is None or any(isinstance(one, dict) for one in offered)):
        choices.append(ALWAYS)
    details = {
        **_about("Bash", call, "exec", command, request.reason),
        "rule": shlex.join(amendment),
        "args": {"command": command},
        "cwd": request.cwd or "",
        "leaves": True,
    }
    always = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": amendment}}
    decisions: dict[str, object] = {ONCE: "accept", SESSION: "acceptForSession", ALWAYS: always}
    event = Request(id, "approval", f"Codex wants to run `{command}`", [*choices, NO], details)
    return event, _decided({choice: decisions[choice] for choice in choices})


def _file_change(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Command)
    tool, path, diff = changes(request.itemId)
    details = {
        **_about(tool, call, "write", path, request.reason),
        "path": path,
        "diff": diff,
        "leaves": leaves_sandbox("write", path, request.cwd or ""),
        **({} if diff else {"unseen": "its changes are unknown"}),
    }
    words = f"Codex wants to change {path or 'files'}"
    event = Request(id, "approval", words, [ONCE, SESSION, NO], details)
    return event, _decided({ONCE: "accept", SESSION: "acceptForSession"})


def _permissions(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest:
    request = msgspec.convert(params, _Permissions)
    what = msgspec.json.encode(request.permissions).decode()
    details = {**_about("Permissions", call, "exec", what, request.reason), "cwd": request.cwd or ""}

    def answer(given: object) -> tuple[object, str]:
        choice, reason = choice_in(given)
        granted = request.permissions if choice in (ONCE, SESSION) else {}
        return {"permissions": granted, "scope": "session" if choice == SESSION else "turn"}, reason

    words = f"Codex wants more permissions: {request.reason or what}"
    return Request(id, "approval", words, [ONCE, SESSION, NO], details), answer


def _question(id: str, params: dict[str, object], call: str, changes: Changes) -> TranslatedRequest | None:
    """Several questions at once become one request."""
    questions = msgspec.convert(params, _Questions).questions
    if not questions:
        return None
    options = questions[0].options or [] if len(questions) == 1 else []
    text = "\n".join([each.question for each in questions])

    def answer(given: object) -> tuple[object, str]:
        words = words_in(given)
        return {"answers": {each.id: {"answers": words} for each in questions}}, ""

    return question(id, text, options), answer


_KINDS: dict[str, Callable[[str, dict[str, object], str, Changes], TranslatedRequest | None]] = {
    "item/commandExecution/requestApproval": _command,
    "item/fileChange/requestApproval": _file_change,
    "item/permissions/requestApproval": _permissions,
    "item/tool/requestUserInput": _question,
}


def _about(tool: str, call: str, access: str, what: str, why: str | None) -> dict[str, object]:
    return {"ui": {"kind": "approval"}, "tool": tool, "call": call, "access": access, "what": what, "why": why or ""}


def _decided(decisions: dict[str, object]) -> Answer:
    """`decline` lets Codex continue without it; the reason is sent to it as well."""

    def answer(given: object) -> tuple[object, str]:
        choice, reason = choice_in(given)
        return {"decision": decisions.get(choice, "decline")}, "" if choice in decisions else reason

    return answer
