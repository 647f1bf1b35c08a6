"""One line of a journal: an event, an entry of the tree, or one of two things only a journal has.

- The first line is the header.
- A line begins with its kind, so entries and events are distinguished without decoding either.
- The output of a call is in its artifact; its `tool_output` is stored without content, which is read back from there.
- Where events could not be written (a full disk), a `gap` lists them, once there is room again.
- An event longer than the cap is stored as `unknown`: its beginning and its length. A longer entry is refused: half a
  step of a conversation is none.
"""

from collections.abc import Callable
from typing import Annotated, TypeVar

import msgspec

from sightline.events import Error, Event, ToolOutput, Unknown, decode_event, encode_event
from sightline.events.stamping import in_place_of
from sightline.exceptions import OutsideFailure
from sightline.journal.tree._entry import ENTRY_CAP, Entry
from sightline.text import clean_output, escape_controls

T = TypeVar("T")

RECORD_CAP = 1024 * 1024
_SHOWN_OF_LONG = 64 * 1024

ENTRY_MARK = b'{"kind":"entry"'  # how lines of entries begin, and no others: the encoder writes the kind first


class JournalHeader(msgspec.Struct, frozen=True, tag_field="kind", tag="session"):
    """What a session is, on the first line of its journal."""

    id: str
    cwd: str = ""
    title: str = ""
    created: float = 0.0
    version: int = 1
    parent_session: str = ""  # which session it was forked from
    provider: str = ""  # whose agent works in it; empty: our own


class _Gap(msgspec.Struct, frozen=True, tag_field="kind", tag="gap"):
    """What happened and could not be stored: events `first` to `last`, if any, and so many entries."""

    first: int
    last: int
    reason: str = ""
    entries: int = 0


Seq = Annotated[int, msgspec.Meta(ge=0, le=2**53)]  # beyond this no number is exact everywhere it is read


class _Numbered(msgspec.Struct, frozen=True):
    """The number of the last event, in a line of any kind."""

    seq: Seq = 0
    last: Seq = 0


_header = msgspec.json.Decoder(JournalHeader)
_gap = msgspec.json.Decoder(_Gap)
_entry = msgspec.json.Decoder(Entry)
_numbered = msgspec.json.Decoder(_Numbered)
_encoder = msgspec.json.Encoder()

# Bytes that are not text raise the second, what is nested deeper than can be read the third.
_UNREADABLE = (msgspec.MsgspecError, UnicodeDecodeError, RecursionError)


def decoded(decoder: msgspec.json.Decoder[T], data: bytes | msgspec.Raw) -> T | None:
    try:
        return decoder.decode(data)
    except _UNREADABLE:
        return None


def encode_record(event: Event, *, in_artifact: bool) -> bytes:
    """A line, with its newline. `in_artifact`: the bytes of a `tool_output` are in an artifact, and its content is left
    out. What was masked is stored as it was shown: the artifact has it raw."""
    if in_artifact and type(event) is ToolOutput and event.size and not event.masked:
        event = msgspec.structs.replace(event, content="")
    line = encode_event(event)
    if len(line) > RECORD_CAP:
        line = encode_event(_cut(event, line))
    return line + b"\n"


def encode_entry(entry: Entry) -> bytes:
    """A line, with its newline; OutsideFailure when it would be too long, or too deep to be read again."""
    try:
        line = _encoder.encode(entry)
    except UnicodeEncodeError:
        line = _with_whole_characters(entry)
    except RecursionError:
        what = "a step of the conversation is nested too deeply to be stored"
        raise OutsideFailure(what, "try again, or use another model") from None
    if len(line) > ENTRY_CAP:
        what = f"a step of the conversation is too long to be stored: {len(line)} bytes, at most {ENTRY_CAP}"
        raise OutsideFailure(what, "put the long text into a file, and name the file")
    return line + b"\n"


def _with_whole_characters(entry: Entry) -> bytes:
    """Half a character cannot be written: a question mark stands for it."""
    import json

    text = json.dumps(msgspec.to_builtins(entry), ensure_ascii=False, separators=(",", ":"))
    return text.encode("utf-8", "replace")


def encode_gap(first: int, last: int, reason: str, entries: int = 0) -> bytes:
    return _encoder.encode(_Gap(first, last, reason, entries)) + b"\n"


def decode_record(line: bytes, output: Callable[[str, int, int], bytes]) -> Event:
    """The event of a line; `output(call, offset, size)` reads from an artifact. An unreadable line is `unknown`."""
    try:
        event = decode_event(line)
    except _UNREADABLE:
        return _not_an_event(line)
    if isinstance(event, ToolOutput) and event.size and not event.content:
        data = output(event.id, event.offset, event.size)
        event = msgspec.structs.replace(event, content=clean_output(data.decode("utf-8", "replace")))
    return event


def is_entry(line: bytes) -> bool:
    return line.startswith(ENTRY_MARK)


def decode_entry(line: bytes) -> Entry | None:
    """The entry of a line; None when it cannot be read."""
    return decoded(_entry, line)


def seq_of(line: bytes) -> int:
    """The number of the last event there was when this line was written; 0 when it has none."""
    numbered = decoded(_numbered, line) or _Numbered()
    return max(numbered.seq, numbered.last)


def decode_header(line: bytes) -> JournalHeader | None:
    return decoded(_header, line)


def _not_an_event(line: bytes) -> Event:
    gap = decoded(_gap, line)
    if gap is None:
        text = escape_controls(line[:_SHOWN_OF_LONG].decode("utf-8", "replace"))
        return Unknown(text, len(line), "not a record of this journal")
    lost = [f"events {gap.first} to {gap.last}"] if gap.last else []
    if gap.entries:
        lost.append(f"{gap.entries} steps of the conversation" if gap.entries > 1 else "a step of the conversation")
    what = f"{' and '.join(lost)} happened but are not stored: {gap.reason}"
    return Error(what, "free some disk space", seq=gap.last)


def _cut(event: Event, line: bytes) -> Event:
    raw = escape_controls(line[:_SHOWN_OF_LONG].decode("utf-8", "replace"))
    return in_place_of(event, Unknown(raw, len(line), "too long to be stored"))
