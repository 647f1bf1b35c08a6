"""The lines of OpenCode's stream, as far as they are read. Fields that vary in shape are left untyped on purpose: one
odd field must not make a whole line unreadable."""

from typing import Union

import msgspec


class OpencodeStep(msgspec.Struct, gc=False):
    messageID: str = ""


class StepStart(msgspec.Struct, gc=False, tag_field="type", tag="step_start"):
    part: OpencodeStep
    sessionID: object = ""


class OpencodeText(msgspec.Struct, gc=False):
    text: str
    id: str = ""


class TextLine(msgspec.Struct, gc=False, tag_field="type", tag="text"):
    part: OpencodeText
    sessionID: object = ""


class ReasoningLine(msgspec.Struct, gc=False, tag_field="type", tag="reasoning"):
    part: OpencodeText
    sessionID: object = ""


class Metadata(msgspec.Struct, gc=False):
    exit: object = msgspec.UNSET  # null when the command was aborted
    model: object = None
    display: object = None  # what was read, as OpenCode itself shows it: the output has it with marks for the model


class Time(msgspec.Struct, gc=False):
    start: float | None = None
    end: float | None = None


class CallState(msgspec.Struct, gc=False):
    status: str = ""
    input: object = None
    output: str | None = None
    error: object = None
    metadata: Metadata | None = None
    time: Time | None = None


class OpencodeCall(msgspec.Struct, gc=False):
    tool: str
    state: CallState
    callID: str = ""
    id: str = ""


class CallLine(msgspec.Struct, gc=False, tag_field="type", tag="tool_use"):
    part: OpencodeCall
    sessionID: object = ""


class Cache(msgspec.Struct, gc=False):
    read: int | None = None
    write: int | None = None


class OpencodeTokens(msgspec.Struct, gc=False):
    input: int | None = None
    output: int | None = None
    reasoning: int | None = None
    total: int | None = None
    cache: Cache | None = None


class Finish(msgspec.Struct, gc=False):
    reason: str = ""
    tokens: OpencodeTokens | None = None
    cost: float | None = None


class StepFinish(msgspec.Struct, gc=False, tag_field="type", tag="step_finish"):
    part: Finish
    sessionID: object = ""


class OpencodeErrorLine(msgspec.Struct, gc=False, tag_field="type", tag="error", rename={"part": "error"}):
    part: object = None
    sessionID: object = ""


Line = Union[TextLine, CallLine, StepStart, StepFinish, ReasoningLine, OpencodeErrorLine]
