"""What travels over the socket: a JSON object a line, `kind` says which. Events travel as they are."""

from typing import Union

import msgspec

from sightline.events import Event, encode_event
from sightline.host._commands import Command, Reply
from sightline.host._subscription import Frame
from sightline.transcript import Snapshot

# One request. A file of the person's may have 20 MiB, and is a third longer as text; a snapshot, which is the other
# direction, is not bounded by this.
REQUEST_CAP = 32 * 1024 * 1024


class Hello(msgspec.Struct, frozen=True, tag_field="kind", tag="hello"):
    """The first line a host says."""

    session: str
    version: str  # of the program: another one may not understand all that follows
    pid: int
    cwd: str = ""
    started: float = 0.0
    running: int = 0  # jobs
    waiting: int = 0  # requests that nobody has answered yet
    agent: bool = False  # somebody to talk to is in it
    busy: bool = False  # who is at work


class Whole(msgspec.Struct, frozen=True, tag_field="kind", tag="snapshot"):
    """The state now. It replaces all a view knows."""

    snapshot: Snapshot


class Bye(msgspec.Struct, frozen=True, tag_field="kind", tag="bye"):
    """The session is over; nothing is missing. A connection that ends without it was lost."""


class Subscribe(msgspec.Struct, frozen=True, tag_field="kind", tag="subscribe"):
    """Send events from now on. At most once a connection."""

    after: int | None = None
    attends: bool = False  # a person is there who can answer


class Submit(msgspec.Struct, frozen=True, tag_field="kind", tag="submit"):
    command: Command
    ref: int = 0


class Numbered(msgspec.Struct, frozen=True):
    """What is read of a request that is otherwise not understood, so that whoever waits for an answer gets one."""

    ref: int = 0


Answer = Union[Event, Hello, Whole, Bye, Reply]

decode_answer = msgspec.json.Decoder(Answer).decode
decode_request = msgspec.json.Decoder(Union[Subscribe, Submit]).decode
decode_number = msgspec.json.Decoder(Numbered).decode
_encode = msgspec.json.Encoder().encode


def encode_line(message: Hello | Whole | Bye | Reply | Subscribe | Submit) -> bytes:
    return _encode(message) + b"\n"


def encode_frame(frame: Frame) -> bytes:
    if isinstance(frame, Snapshot):
        return encode_line(Whole(frame))
    return b"".join([encode_event(event) + b"\n" for event in frame])
