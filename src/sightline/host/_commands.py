"""What a view may ask of a session, and the answer. On the wire `kind` says which it is, as with events."""

from typing import Union

import msgspec

from sightline.exec import CommandSpec


class Start(msgspec.Struct, frozen=True, tag_field="kind", tag="start"):
    """Run a command as a job of this session. The answer has its id."""

    spec: CommandSpec


class Cancel(msgspec.Struct, frozen=True, tag_field="kind", tag="cancel"):
    """End a job and everything it started; what it said is kept. `force`: without asking first."""

    id: str
    force: bool = False


class Stop(msgspec.Struct, frozen=True, tag_field="kind", tag="stop"):
    """End the session: its jobs are cancelled, then the host goes."""


Command = Union[Start, Cancel, Stop]


class Reply(msgspec.Struct, frozen=True, tag_field="kind", tag="reply"):
    """A command was accepted, or why it was not."""

    ok: bool
    id: str = ""  # of the job
    error: str = ""
    hint: str = ""
    ref: int = 0  # which request of a connection it answers
