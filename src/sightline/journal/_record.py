"""One line of a journal: an event, or one of two things only a journal has.

- The first line is the header.
- The output of a call is in its artifact; its `tool_output` is kept without content, which is read back from there.
- Where events could not be written (a full disk), a `gap` says which, once there is room again.
- A record longer than the cap is kept as `unknown`: its beginning and its length.
"""

from collections.abc import Callable

import msgspec

from sightline.events import Error, Event, ToolOutput, Unknown, decode_event, encode_event
from sightline.text import clean_output, escape_controls

RECORD_CAP = 1024 * 1024
_KEPT_OF_LONG = 64 * 1024


class Header(msgspec.Struct, frozen=True, tag_field="kind", tag="session"):
    """What a session is, on the first line of its journal."""

    id: str
    cwd: str = ""
    title: str = ""
    created: float = 0.0
    version: int = 1


class _Gap(msgspec.Struct, frozen=True, tag_field="kind", tag="gap"):
    """Events that happened and could not be kept."""

    first: int
    last: int
    reason: str = ""


_header = msgspec.json.Decoder(Header)
_gap = msgspec.json.Decoder(_Gap)


def encode_record(event: Event, *, in_artifact: bool) -> bytes:
    """A line, with its newline. `in_artifact`: the bytes of a `tool_output` are in an artifact, content is left out."""
    if in_artifact and type(event) is ToolOutput and event.size:
        event = msgspec.structs.replace(event, content="")
    line = encode_event(event)
    if len(line) > RECORD_CAP:
        line = encode_event(_cut(event, line))
    return line + b"\n"


def encode_gap(first: int, last: int, reason: str) -> bytes:
    return msgspec.json.encode(_Gap(first, last, reason)) + b"\n"


def decode_record(line: bytes, output: Callable[[str, int, int], bytes]) -> Event:
    """The event of a line; `output(call, offset, size)` reads from an artifact. An unreadable line is `unknown`."""
    try:
        event = decode_event(line)
    except msgspec.MsgspecError:
        return _not_an_event(line)
    if isinstance(event, ToolOutput) and event.size and not event.content:
        data = output(event.id, event.offset, event.size)
        event = msgspec.structs.replace(event, content=clean_output(data.decode("utf-8", "replace")))
    return event


def decode_header(line: bytes) -> Header | None:
    try:
        return _header.decode(line)
    except msgspec.MsgspecError:
        return None


def _not_an_event(line: bytes) -> Event:
    try:
        gap = _gap.decode(line)
    except msgspec.MsgspecError:
        text = escape_controls(line[:_KEPT_OF_LONG].decode("utf-8", "replace"))
        return Unknown(text, len(line), "not a record of this journal")
    what = f"events {gap.first} to {gap.last} happened but are not kept: {gap.reason}"
    return Error(what, "make room on the disk", seq=gap.last)


def _cut(event: Event, line: bytes) -> Event:
    raw = escape_controls(line[:_KEPT_OF_LONG].decode("utf-8", "replace"))
    return Unknown(
        raw, len(line), "too long to be kept", seq=event.seq, time=event.time, agent=event.agent, source=event.source
    )
