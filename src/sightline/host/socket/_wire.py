"""What travels over the socket: a JSON object a line, `kind` says which. Events travel as they are."""

from collections.abc import Iterator
from typing import Union

import msgspec

from sightline.events import Event, encode_event
from sightline.host.session._commands import Command, CommandReply
from sightline.host.session._subscription import Frame
from sightline.transcript import Entry, Snapshot

# One request. A file of the user's may have 20 MiB, and is a third longer as text; a snapshot, which is the other
# direction, is not bounded by this.
REQUEST_CAP = 32 * 1024 * 1024
# Of a state that is sent in parts: what is read, and written, in one go. One entry may be longer.
_PART = 256 * 1024


class Hello(msgspec.Struct, frozen=True, tag_field="kind", tag="hello"):
    """The first line a host sends."""

    session: str
    version: str  # of the program: another one may not understand all that follows
    pid: int
    cwd: str = ""
    started: float = 0.0
    running: int = 0  # jobs
    waiting: int = 0  # open requests
    agent: bool = False  # it has a worker
    busy: bool = False  # the worker is


class RefusedLine(msgspec.Struct, frozen=True, tag_field="kind", tag="refused"):
    """The only line a host sends to a process that may not connect."""

    error: str
    hint: str = ""


class Entries(msgspec.Struct, frozen=True, tag_field="kind", tag="entries"):
    """Some of the state to come, before the rest of it: to a view that subscribed with `in_parts`."""

    entries: list[Entry]


class Whole(msgspec.Struct, frozen=True, tag_field="kind", tag="snapshot"):
    """The state now, with the entries that were sent right before it. It replaces all a view knows."""

    snapshot: Snapshot


class Bye(msgspec.Struct, frozen=True, tag_field="kind", tag="bye"):
    """The session is over; nothing is missing. A connection that ends without it was lost."""


class Subscribe(msgspec.Struct, frozen=True, tag_field="kind", tag="subscribe"):
    """Send events from now on. At most once a connection."""

    after: int | None = None
    attends: bool = False  # a user is there who can answer
    in_parts: bool = False  # a long state may come as several lines, none of which takes long to read


class Submit(msgspec.Struct, frozen=True, tag_field="kind", tag="submit"):
    command: Command
    ref: int = 0


class Numbered(msgspec.Struct, frozen=True):
    """What is read of a request that is otherwise not understood, so that it gets a reply."""

    ref: int = 0


Answer = Union[Event, Hello, RefusedLine, Entries, Whole, Bye, CommandReply]

decode_answer = msgspec.json.Decoder(Answer).decode
decode_request = msgspec.json.Decoder(Union[Subscribe, Submit]).decode
decode_number = msgspec.json.Decoder(Numbered).decode
_encode = msgspec.json.Encoder().encode


def encode_line(message: Hello | RefusedLine | Whole | Bye | CommandReply | Subscribe | Submit) -> bytes:
    return _encode(message) + b"\n"


def encode_frame(frame: Frame, *, in_parts: bool = False) -> Iterator[bytes]:
    """A piece at a time, so that other things can be done in between."""
    if not isinstance(frame, Snapshot):
        yield b"".join([encode_event(event) + b"\n" for event in frame])
        return
    if in_parts:
        yield from _encode_entries(frame.entries)
        frame = msgspec.structs.replace(frame, entries=[])
    yield encode_line(Whole(frame))


def _encode_entries(entries: list[Entry]) -> Iterator[bytes]:
    part: list[bytes] = []
    size = 0
    for entry in entries:
        part.append(_encode(entry))
        size += len(part[-1])
        if size >= _PART:
            yield _entries_line(part)
            part, size = [], 0
    if part:
        yield _entries_line(part)


def _entries_line(encoded: list[bytes]) -> bytes:
    return b'{"kind":"entries","entries":[' + b",".join(encoded) + b"]}\n"
