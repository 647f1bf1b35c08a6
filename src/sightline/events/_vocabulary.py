"""Everything that can be seen to happen in a session, one small frozen struct per kind.

Rules that hold for all of them:

- An event is a fact. It carries no colour, glyph, prefix or width; a view decides how it looks.
- No C0 or C1 control but tab and newline is in any field, nor a bidi override; one-line fields have no tab or newline
  either. Only `tool_output.content` may also have styling and carriage control, for the one interpreter in `text`.
- `id` is ours and identifies; whatever a provider calls the thing is beside it as `native_…`.
- A kind a view does not know is ignored, never an error: adding a kind changes no parser and no default output.
- On the wire (NDJSON) the fields have the names used here and `kind` is the tag of the event.
"""

from collections.abc import Callable
from typing import Any, Literal, Union, get_args

import msgspec

UNKNOWN_CAP = 64 * 1024  # characters of an unreadable line that an event has


class Envelope(msgspec.Struct, frozen=True, gc=False, kw_only=True, tag_field="kind"):
    """What every event carries. `seq` and `time` are stamped once, by the owner of the session; 0 means not yet."""

    seq: int = 0
    time: float = 0.0  # seconds since the epoch
    agent: str = ""  # path of the emitting agent, such as "Explore-2/Read-1"; empty for the root
    source: str = ""  # which provider or tool observed it


class Usage(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Tokens of a turn or a run. None means the source does not report them; it never means zero."""

    input_tokens: int | None = None
    output_tokens: int | None = None
    cache_read_tokens: int | None = None
    cache_write_tokens: int | None = None
    reasoning_tokens: int | None = None
    total_tokens: int | None = None


class User(Envelope, frozen=True, gc=False, tag="user"):
    """A message of the user, or one sent to an agent on the user's behalf. Opens a run, or joins the current one."""

    text: str
    attachments: list[str] = []  # artifact URLs
    how: Literal["prompt", "steer", "follow_up"] = "prompt"
    left_out_lines: int = 0  # of a very long text: the agent received them; the last line of `text` has a note
    job: str = ""  # the job whose end it reports
    mail: str = ""  # the id of the `mail_sent` that is read here; `text` also has its sender and how to answer


# The last is what an earlier version stored for the first, and is read as that.
MailOutcome = Literal["delivered", "woken", "revived", "failed", "injected"]


class MailReader(msgspec.Struct, frozen=True, gc=False):
    """What became of a message when it was sent, for one of its readers."""

    agent: str  # its path, empty for the root; of one that there is not, what the sender called it
    outcome: MailOutcome
    error: str = ""  # why it failed
    unread: bool = False  # it waits to be read

    def __post_init__(self) -> None:
        if self.outcome == "injected":
            msgspec.structs.force_setattr(self, "outcome", "delivered")


class MailSent(Envelope, frozen=True, gc=False, tag="mail_sent"):
    """A message to other agents was sent, by the agent whose path the event has, or (`source` is `person`) by the user.

    A reader has it as a `user` event with its id in `mail`, or in the result of a call. Words of the user are read with
    that event; of any other message the reader's mailbox has what becomes of it (`mail_changed`).
    """

    id: str
    text: str
    readers: list[MailReader]
    to_all: bool = False
    reply_to: str = ""  # the id of the message it answers


class MailChanged(Envelope, frozen=True, gc=False, tag="mail_changed"):
    """Messages to the agent whose path the event has were read, are unread again, or will never be read."""

    ids: list[str]
    now: Literal["read", "unread", "dropped"]
    error: str = ""  # why they will never be read


class Text(Envelope, frozen=True, gc=False, tag="text"):
    """Words of the assistant: a piece of them, or all at once.

    Pieces of one text share `block` and are to be joined as they are. A block is never reopened once another block of
    the same agent has begun.
    """

    text: str
    block: int = 0


class Reasoning(Envelope, frozen=True, gc=False, tag="reasoning"):
    """The model's thinking, in pieces or whole like `text`. Shown only on request."""

    text: str
    block: int = 0


class ToolUse(Envelope, frozen=True, gc=False, tag="tool_use"):
    """A tool was called; its arguments are complete. Emitted once for a call.

    May be preceded by `tool_args` with the same id; is followed by any number of `tool_output` and `tool_update`, and
    by one `tool_result`, unless the stream ends first.
    """

    id: str
    name: str  # the common name where there is one (Read, Bash, …), else the provider's own
    native_name: str = ""  # the provider's own
    arg: str = ""  # one line of at most 40 code points, for a marker
    args: Any = None
    native_id: str = ""
    job: bool = False  # a call's command that continues in the background, under an id of its own


class ToolArgs(Envelope, frozen=True, gc=False, tag="tool_args"):
    """The model is still writing a call's arguments: the next piece of their JSON text. Comes before `tool_use`."""

    id: str
    name: str  # as in the `tool_use` that follows
    delta: str = ""
    native_name: str = ""


class ToolOutput(Envelope, frozen=True, gc=False, tag="tool_output"):
    """A running tool wrote something. Comes between its `tool_use` and its `tool_result`.

    A piece stands for `size` bytes of the call's whole output, from `offset` on; `dropped` bytes right before it were
    passed over and are only in the artifact. Where a source counts them, a piece begins where the one before it and
    what was dropped end. A `status` is about the output, not of it, and has no size; `silent`: it only reports that
    nothing was written lately, which a view with a clock shows by itself.
    """

    id: str
    content: str
    stream: Literal["stdout", "stderr", "status"] = "stdout"
    offset: int = 0
    dropped: int = 0
    size: int = 0
    silent: bool = False
    masked: bool = False  # something in it stands for a secret value, which the artifact has


class ToolUpdate(Envelope, frozen=True, gc=False, tag="tool_update"):
    """Structured progress of a running call; each replaces the one before. Contracts for views ride in `details.ui`."""

    id: str
    details: Any = None


class ToolConnection(Envelope, frozen=True, gc=False, tag="tool_connection"):
    """A command of a call requests a connection to a host; the verdict and the outcome.

    Each is about one connection, its number in `connection`: `asked` while the user is asked about it, `allowed` when
    it begins and again with its `duration` at its end, or `refused`. A call that makes very many has most of them
    counted: `more` were made before this one without an event.
    """

    id: str  # of the call, or of the job it continues as; empty: it is not known which of several commands it was
    connection: int
    host: str
    port: int
    verdict: Literal["asked", "allowed", "refused"]
    rule: str = ""  # that decided, or the approval level
    reason: str = ""  # why it was refused, or came to nothing
    sent: int = 0  # bytes, by the command
    received: int = 0
    duration: float | None = None  # seconds; None until it ended
    more: int = 0


class ToolResult(Envelope, frozen=True, gc=False, tag="tool_result"):
    """The call ended, well or not. The last event of its id."""

    id: str
    content: str = ""
    details: Any = None
    is_error: bool = False
    exit_code: int | None = None
    duration: float | None = None  # seconds
    native_id: str = ""
    masked: bool = False  # something in it stands for a secret value


class RunStarted(Envelope, frozen=True, gc=False, tag="run_started"):
    """Work on one prompt begins. `session` is the id with which the conversation can be resumed: in a session of ours
    its own, in a provider's stream the provider's."""

    session: str = ""
    model: str = ""
    cwd: str = ""
    command: str = ""  # the prompt is a command of this name, not words for the agent


class TurnStarted(Envelope, frozen=True, gc=False, tag="turn_started"):
    """One request to the model begins, inside a run or for a summary of the conversation."""


class TurnEnded(Envelope, frozen=True, gc=False, tag="turn_ended"):
    """One request to the model ended; its calls may still be running."""

    usage: Usage | None = None
    cost: float | None = None  # US dollars
    stop_reason: str = ""


class RunEnded(Envelope, frozen=True, gc=False, tag="run_ended"):
    """Work on the prompt is over. A provider that carries on by itself may start another run after it."""

    usage: Usage | None = None
    cost: float | None = None  # US dollars
    stop_reason: str = ""
    is_error: bool = False
    exit_code: int | None = None


class AgentStarted(Envelope, frozen=True, gc=False, tag="agent_started"):
    """A subagent begins. `path` is its own; the envelope's `agent` is its parent. Its events follow under `path`.

    Published again for the same path when an agent of an earlier host is revived.
    """

    path: str
    name: str = ""
    task: str = ""
    model: str = ""
    call: str = ""  # id of the call that started it
    aside: bool = False  # it answers one question of the user beside the conversation, and takes no prompts


class AgentEnded(Envelope, frozen=True, gc=False, tag="agent_ended"):
    """A subagent is done. Nothing of `path` follows. One that takes another prompt has a `state` instead (`agent`)."""

    path: str
    is_error: bool = False
    usage: Usage | None = None


class Request(Envelope, frozen=True, gc=False, tag="request"):
    """The user must answer before the agent can continue."""

    id: str
    what: Literal["approval", "question", "dialog"]
    text: str = ""
    choices: list[str] = []
    details: Any = None


class RequestResolved(Envelope, frozen=True, gc=False, tag="request_resolved"):
    """The request with this id was answered, refused, or is moot."""

    id: str
    answer: Any = None


class State(Envelope, frozen=True, gc=False, tag="state"):
    """A small fact changed (model, todo, queue, retry, compaction, branch); replaces the last value of its key. It is
    about the agent whose path the event has."""

    key: str
    value: Any = None


class Notice(Envelope, frozen=True, gc=False, tag="notice"):
    """A message for the user that does not interrupt the work."""

    text: str
    level: Literal["info", "warning"] = "info"
    hint: str = ""


class Error(Envelope, frozen=True, gc=False, tag="error"):
    """A failure the user must know about. What to do about it is in `hint`."""

    text: str
    hint: str = ""
    level: Literal["error", "fatal"] = "error"


class Unknown(Envelope, frozen=True, gc=False, tag="unknown"):
    """A line that could not be read: its beginning, made printable, and its full length in bytes."""

    raw: str
    length: int
    reason: str = ""


Event = Union[
    User,
    MailSent,
    MailChanged,
    Text,
    Reasoning,
    ToolUse,
    ToolArgs,
    ToolOutput,
    ToolUpdate,
    ToolConnection,
    ToolResult,
    RunStarted,
    TurnStarted,
    TurnEnded,
    RunEnded,
    AgentStarted,
    AgentEnded,
    Request,
    RequestResolved,
    State,
    Notice,
    Error,
    Unknown,
]

KINDS: dict[str, type[Envelope]] = {str(kind.__struct_config__.tag): kind for kind in get_args(Event)}


def handlers_of(owner: type, prefix: str) -> dict[type, Callable[..., Any]]:
    """The methods of a class that handle events, by their kind: with `_on_`, `_on_tool_use` handles `tool_use`."""
    return {kind: getattr(owner, prefix + tag) for tag, kind in KINDS.items() if hasattr(owner, prefix + tag)}


_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Event)


def encode_event(event: Event) -> bytes:
    """One line of NDJSON, without its newline."""
    return _encoder.encode(event)


def decode_event(line: bytes) -> Event:
    """The event of one line of NDJSON; raises `msgspec.MsgspecError` for anything else."""
    event: Event = _decoder.decode(line)
    return event
