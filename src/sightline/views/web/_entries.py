"""Entries of a session's state as the page gets them: what it draws, without what it asks for when it is to be seen."""

import time
from typing import Any, Protocol

import msgspec

from sightline.text import clean_line
from sightline.transcript import Call, Entry, Message, Remark, Words
from sightline.views._network import network_words
from sightline.views.web._shapes import shape_of

_STATES = {"cancelled": "cancelled", "timeout": "timed_out", "host": "lost", "refused": "refused", "job": "job"}
# Sources of the user's own words; any other source is automatic, such as a todo reminder.
_PERSON = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode", "openai_compatible"))
_MOST_ARGS = 16 * 1024
_DELETED = "output was deleted"


class Outputs(Protocol):
    """What is known of a call's output."""

    def call_id(self, number: int, call: Call) -> str: ...
    def total(self, number: int, call: Call) -> int: ...
    def missing(self, number: int, call: Call) -> bool: ...


def entry_body(number: int, entry: Entry, outputs: Outputs, *, live: bool) -> dict[str, Any]:
    """`live`: more may come, so a call without a result is running; else it was left without one."""
    match entry:
        case Message():
            source = "" if entry.source in _PERSON else entry.source
            said = {"text": entry.text, "how": entry.how, "source": source, "attachments": entry.attachments}
            return {"n": number, "kind": "message", "agent": entry.agent, **said}
        case Words():
            kind = "reasoning" if entry.reasoning else "words"
            return {"n": number, "kind": kind, "agent": entry.agent, "text": entry.text}
        case Remark():
            level = "notice" if entry.level in ("info", "unknown") else entry.level
            text = {"level": level, "text": entry.text, "hint": entry.hint}
            return {"n": number, "kind": "remark", "agent": entry.agent, **text}
        case Call():
            return _call(number, entry, outputs, live=live)


def state_of(call: Call, *, live: bool) -> str:
    if call.content is None:
        return "running" if live else "lost"
    details = call.details if isinstance(call.details, dict) else {}
    return _STATES.get(str(details.get("ended")), "failed" if call.is_error or call.exit_code else "ok")


def _call(number: int, call: Call, outputs: Outputs, *, live: bool) -> dict[str, Any]:
    details = call.details if isinstance(call.details, dict) else {}
    args = call.args if isinstance(call.args, dict) else {}
    state = state_of(call, live=live)
    running = state == "running"
    size = max(int(details.get("bytes") or 0), call.received)
    binary = bool(details.get("binary"))
    is_job = call.native_name == "exec"  # of an agent's command the model reads the output, which stands in the rows
    return {
        "n": number,
        "kind": "call",
        "agent": call.agent,
        "id": outputs.call_id(number, call),
        "by": "person" if call.is_persons else "",
        "own": call.is_persons or (is_job and not call.is_job),  # run by the user, not by an agent
        "is_job": call.is_job,
        "job": _job(details),
        "private": call.is_private,
        "outside": details.get("sandboxed") is False and not call.is_persons,  # no sandbox held it
        "name": call.name,
        "arg": call.arg,
        "command": str(args.get("command") or ""),
        "cwd": str(args.get("cwd") or ""),
        "state": state,
        "exit_code": call.exit_code,
        "elapsed": call.elapsed(time.time()) if running else call.duration,
        "running": running,
        "bytes": size,
        "total": 0 if binary else outputs.total(number, call),
        "binary": binary,
        "said": (call.content or "") if is_job else "",
        "kept": int(details.get("kept", size) or 0),
        "shape": shape_of(call),
        "args": _args(args, call),
        "network": network_words(call),
        "note": _DELETED if not running and size and outputs.missing(number, call) else "",
    }


def _job(details: dict[str, Any]) -> str:
    """The job it runs on as, in the background."""
    job = details.get("job")
    return clean_line(job) if isinstance(job, str) and details.get("ended") == "job" else ""


def _args(args: dict[str, Any], call: Call) -> Any:
    """Its arguments, where the head does not say them all."""
    said = {"command", "cwd", "private"} if call.is_persons else {"command", "cwd"}
    if not args or set(args) <= said or call.native_name == "exec":
        return None
    encoded = msgspec.json.encode(args)
    return args if len(encoded) <= _MOST_ARGS else encoded[:_MOST_ARGS].decode("utf-8", "replace") + "…"
