"""What an isolated agent and the session it belongs to send each other: a JSON object a line, `kind` is its type.

To the process: its start, then commands. From the process: events as they are, and a reply to each command.
"""

from typing import Union

import msgspec

from sightline.events import Event
from sightline.host.session._commands import Abort, AnswerRequest, CancelCall, CommandReply, Prompt
from sightline.settings import StartOptions


class IsolatedStart(msgspec.Struct, frozen=True, kw_only=True):
    """The first line: which agent it is. Its sessions are stored below `folder`, where no list of sessions looks."""

    folder: str
    options: StartOptions
    only: list[str] = []  # the names of its tools
    skills: list[str] | None = None  # the names of its skills; None: all


class NumberedCommand(msgspec.Struct, frozen=True, tag_field="kind", tag="command"):
    command: Union[Prompt, Abort, AnswerRequest, CancelCall]
    ref: int = 0


class NumberedReply(msgspec.Struct, frozen=True, tag_field="kind", tag="reply"):
    reply: CommandReply
    ref: int = 0


decode_start = msgspec.json.Decoder(IsolatedStart).decode
decode_command = msgspec.json.Decoder(NumberedCommand).decode
decode_answer = msgspec.json.Decoder(Union[Event, NumberedReply]).decode
