"""Entries of a session's state as the page gets them: all it draws, without the rows of outputs, which it requests."""

import time
from typing import Protocol

import msgspec

from sightline.events import call_ending
from sightline.text import clean_line
from sightline.transcript import Entry, Remark, TranscriptCall, TranscriptMessage, TranscriptText
from sightline.views._mail import mail_from
from sightline.views._network import network_words
from sightline.views.web.page._shapes import shape_of

ENDED_STATES = {
    "cancelled": "cancelled",
    "timeout": "timed_out",
    "host": "lost",
    "refused": "refused",
    "job": "job",
    "unfinished": "unfinished",
}
# Sources of the user's own words; any other source is automatic, such as a todo reminder.
_PERSON = frozenset(("", "person", "agent", "claude", "codex", "gemini", "opencode", "openai_compatible"))
_MOST_ARGS = 16 * 1024
_DELETED = "output was deleted"

EntryBody = dict[str, object]


class Outputs(Protocol):
    """What is known of a call's output."""

    def call_id(self, number: int, call: TranscriptCall) -> str: ...
    def total(self, number: int, call: TranscriptCall) -> int: ...
    def missing(self, number: int, call: TranscriptCall) -> bool: ...


def entry_body(number: int, entry: Entry, outputs: Outputs, *, live: bool) -> EntryBody:
    """`live`: more may come, so a call without a result is running; else it was left without one."""
    match entry:
        case TranscriptMessage():
            source = "" if entry.source in _PERSON else entry.source
            words = {"text": entry.text, "how": entry.how, "source": source, "attachments": entry.attachments}
            if entry.mail:
                head = mail_from(entry.mail, entry.sender, entry.reply_to, by_user=not source)
                words |= {"mail": head, "sender": entry.sender}
            return {"n": number, "kind": "message", "agent": entry.agent, **words}
        case TranscriptText():
            kind = "reasoning" if entry.reasoning else "words"
            return {"n": number, "kind": kind, "agent": entry.agent, "text": entry.text}
        case Remark():
            level = "notice" if entry.level in ("info", "unknown") else entry.level
            text = {"level": level, "text": entry.text, "hint": entry.hint}
            return {"n": number, "kind": "remark", "agent": entry.agent, **text}
        case TranscriptCall():
            return _call(number, entry, outputs, live=live)


def state_of(call: TranscriptCall, *, live: bool) -> str:
    if call.content is None:
        return "running" if live else "lost"
    return ENDED_STATES.get(call_ending(call.details).ended, "failed" if call.is_error or call.exit_code else "ok")


def _call(number: int, call: TranscriptCall, outputs: Outputs, *, live: bool) -> EntryBody:
    ending = call_ending(call.details)
    args = call.args if isinstance(call.args, dict) else {}
    shape = shape_of(call)
    state = state_of(call, live=live)
    if state == "ok" and shape is not None and shape["kind"] == "question" and not shape["said"]:
        state = "unanswered"
    running = state == "running"
    size = max(ending.bytes or 0, call.received)
    binary = bool(ending.binary)
    is_review = call.by_user and call.is_job  # which is no command of theirs
    is_job = call.native_name == "exec"  # of an agent's command the model reads the output, which stands in the rows
    return {
        "n": number,
        "kind": "call",
        "agent": call.agent,
        "id": outputs.call_id(number, call),
        "by": "person" if call.by_user and not is_review else "",
        "own": call.by_user or (is_job and not call.is_job),  # run by the user, not by an agent
        "is_job": call.is_job and not is_review,
        "job": clean_line(ending.job) if ending.ended == "job" else "",  # it runs on as, in the background
        "private": call.is_private,
        "outside": ending.sandboxed is False and not call.by_user,  # no sandbox held it
        "name": call.name,
        "arg": call.arg,
        "command": str(args.get("command") or ""),
        "cwd": str(args.get("cwd") or ""),
        "state": state,
        "exit_code": call.exit_code,
        "elapsed": call.elapsed(time.time()) if running else call.duration,
        "running": running,
        "waits": running and bool(call.request),  # for an answer; its clock stands
        "bytes": size,
        "total": 0 if binary or ending.by else outputs.total(number, call),
        "binary": binary,
        "said": (call.content or "") if is_job else "",
        "kept": size if ending.stored is None else ending.stored,
        "shape": shape,
        "args": _args(args, call),
        "network": network_words(call),
        "note": _DELETED if not running and size and outputs.missing(number, call) else "",
    }


def _args(args: dict[str, object], call: TranscriptCall) -> object:
    """Its arguments, where the head does not show them all."""
    shown = {"command", "cwd", "private"} if call.by_user else {"command", "cwd"}
    if not args or set(args) <= shown or call.native_name == "exec":
        return None
    encoded = msgspec.json.encode(args)
    return args if len(encoded) <= _MOST_ARGS else encoded[:_MOST_ARGS].decode("utf-8", "replace") + "…"
