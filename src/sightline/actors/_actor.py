"""An actor: what one agent, another provider's agent, or the user does in a session is published through it.

Rules:

- An event leaves with the actor's path and source, without what drives a terminal, without secrets, and no longer than
  a record of the journal.
- A field without a rule of its own is one line, cleaned, masked and cut: names at `NAME_AT_MOST`, others at
  `_LINE_AT_MOST`. Only ids that the session made are published as they are.
- Text is cleaned before it is masked: what is removed may stand within a secret, which would be whole again after it.
- Words and arguments that come in pieces are masked as if they came whole: what may be the beginning of a secret waits
  for the next piece, words also for whatever else the same actor does, arguments for their call.
- What a call prints is in its artifact before it is published. Nothing of a call follows its result.
- `close` gives everything that is open an end, once.
"""

from collections.abc import Callable
from typing import Any, Literal

from msgspec.structs import fields, replace

from sightline.actors._approval_details import carried, forget, made_visible
from sightline.actors._bounds import (
    NAME_AT_MOST,
    TEXT_AT_MOST,
    bounded_prompt,
    bounded_text,
    bounded_value,
    pieces,
    plain,
)
from sightline.actors._log import Log, RunningCommand
from sightline.events import (
    KINDS,
    AgentEnded,
    AgentStarted,
    CallEnding,
    Error,
    Event,
    MailSent,
    Notice,
    Reasoning,
    Request,
    RequestResolved,
    State,
    Text,
    ToolArgs,
    ToolConnection,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    Unknown,
    Usage,
    User,
    handlers_of,
)
from sightline.exec import CommandSpec
from sightline.journal import Artifact
from sightline.secrets import MaskedOutput, MaskedStream, Secrets
from sightline.text import clean_line, clean_output, clean_text, clean_value, cut_graphemes, without_credentials

_ARG_AT_MOST = 40  # characters of the preview of a call's arguments
_MESSAGE_AT_MOST = 10_000  # characters of a notice or an error
_LINE_AT_MOST = 4096  # characters of a path, a host or another program's id
_WRITTEN_AT_ONCE = 64 * 1024  # bytes of one event
_STOPPED = "stopped before it ended; what it had done by then is unknown"

# What comes in pieces: the field with the piece.
_PIECES: dict[type, str] = {Text: "text", Reasoning: "text", ToolArgs: "delta"}

# Every other field of text is one line: see `_lines_of`.
_OWN_IDS = {"id", "call", "job", "agent", "source"}
_TEXTS = {"text", "content", "delta", "raw", "hint", "task", "arg", "reason", "choices"}
_NAMES = {"name", "native_name", "model", "stop_reason"}


def _lines_of(kind: type) -> dict[str, int]:
    """The fields of an event that are one line, or a list of such, and how long each may be."""
    lines = (field.name for field in fields(kind) if field.type in (str, list[str]))
    return {name: NAME_AT_MOST if name in _NAMES else _LINE_AT_MOST for name in lines if name not in _OWN_IDS | _TEXTS}


_LINES = {kind: _lines_of(kind) for kind in KINDS.values()}


class _CallOutput:
    """What a call prints that runs no command of ours: stored in its artifact first, then published without secrets."""

    def __init__(self, log: Log, call: str, secrets: Secrets, publish: Callable[[ToolOutput], None]) -> None:
        self._log = log
        self._call = call
        self._shown = MaskedOutput(secrets, lambda: log.read_artifact(call), publish)
        self._artifact: Artifact | None = None
        self._ended = False

    def write(self, text: str, stream: Literal["stdout", "stderr"] = "stdout") -> None:
        for start in range(0, 0 if self._ended else len(text), _WRITTEN_AT_ONCE):
            self._write(text[start : start + _WRITTEN_AT_ONCE].encode("utf-8", "replace"), stream)

    def end(self) -> None:
        self._ended = True
        self._shown.end()

    def close(self) -> None:
        """Release the artifact, when the last event of the call was published."""
        if self._artifact is not None:
            self._log.flush()
            self._artifact.close()
            self._log.forget_artifact(self._call)

    def _write(self, data: bytes, stream: Literal["stdout", "stderr"]) -> None:
        if self._artifact is None:
            self._artifact = self._log.artifact_for(self._call)
        offset = self._artifact.size
        self._artifact.write(stream, data)
        # As the journal reads it back from the artifact, so that live and replayed cannot differ.
        self._shown.publish(ToolOutput(self._call, clean_output(data.decode()), stream, offset, 0, len(data)))


class _Open:
    """What an actor has begun and not ended."""

    def __init__(self) -> None:
        self.calls: dict[str, None] = {}
        self.requests: dict[str, None] = {}
        self.children: dict[str, Actor] = {}
        self.ended: dict[str, Actor] = {}  # children whose calls may still get their results
        self.outputs: dict[str, _CallOutput] = {}
        # Words under way ("") and the arguments of each call: the last piece, and what may wait for the next.
        self.pieces: dict[str, tuple[Event, MaskedStream]] = {}


class Actor:
    """Publishes for one agent path, as observed by one source. Used in the session's event loop only."""

    def __init__(
        self,
        log: Log,
        source: str,
        secrets: Secrets,
        path: str = "",
        shared: _Open | None = None,
        seen: Callable[[Event], object] | None = None,
    ) -> None:
        """`seen`: called with each event that is published here."""
        self.log = log
        self.source = source
        self.secrets = secrets
        self.path = self._line(path, _LINE_AT_MOST)
        self._open = shared or _Open()
        self._seen = seen

    def observed_by(self, source: str) -> "Actor":
        """The same actor, for what another source observes of it: the user, an extension, a tool."""
        return Actor(self.log, source, self.secrets, self.path, self._open, self._seen)

    def child(
        self,
        name: str,
        *,
        task: str = "",
        model: str = "",
        call: str = "",
        title: str = "",
        path: str = "",
        aside: bool = False,
        seen: Callable[[Event], object] | None = None,
    ) -> "Actor":
        """A subagent begins. `title`: what it is called, where that is not how its path is made. `path`: where it is
        known already to be new in the session. `aside`: as the event has it. `seen`: called with each event of it; such
        a one may outlive this agent's work, and is ended by `end_child` alone."""
        step = self.name(name)
        # Cut before it gets its number: two long paths are still two.
        path = path or self.log.new_agent(self._line(f"{self.path}/{step}" if self.path else step, _LINE_AT_MOST - 20))
        child = Actor(self.log, self.source, self.secrets, path, seen=seen)
        self.publish(AgentStarted(child.path, title or name, task, model, call, aside))
        if seen is None:  # else it has a life of its own: what watches it ends it
            self._open.children[child.path] = child
        return child

    def resumed_child(self, path: str, seen: Callable[[Event], object] | None = None) -> "Actor":
        """A subagent there was before the session was resumed: it is known already."""
        return Actor(self.log, self.source, self.secrets, path, seen=seen)

    def end_child(self, child: "Actor", *, is_error: bool = False, usage: Usage | None = None) -> None:
        """It is done. The result of a call of it may still come: `close` ends what has none by then."""
        self._open.children.pop(child.path, None)
        if child.has_open:
            self._open.ended[child.path] = child
        self.publish(AgentEnded(child.path, is_error, usage))

    @property
    def has_open(self) -> bool:
        """Whether anything it began has no end yet."""
        mine = self._open
        return bool(mine.calls or mine.requests or mine.children or mine.ended or mine.pieces)

    def name(self, text: str) -> str:
        """The name of a tool, an agent or a model, as it is published and stored."""
        return self._line(text, NAME_AT_MOST)

    def new_call(self) -> str:
        return self.log.new_call()

    def new_block(self) -> int:
        return self.log.new_block()

    def new_request(self) -> str:
        return self.log.new_request()

    def publish(self, event: Event) -> None:
        if type(event) is ToolOutput and event.stream != "status":
            self.output(event.id)(event.content, event.stream)
            return
        self._end_pieces_before(event)
        event = self._with_lines(event)
        if type(event) in _PIECES:
            self._publish_piece(event, _PIECES[type(event)])
            return
        output = self._open.outputs.pop(event.id, None) if isinstance(event, ToolResult) else None
        if output is not None:
            output.end()
        prepare = _PREPARE.get(type(event))
        self._append(event if prepare is None else prepare(self, event))
        if output is not None:
            output.close()

    def relay(self, event: Event) -> None:
        """Publish what is masked and stored already: what a command of a call prints."""
        self._append(event)

    def output(self, call: str) -> Callable[[str, Literal["stdout", "stderr"]], None]:
        """A way to write a call's output."""
        output = self._open.outputs.get(call)
        if output is None:
            output = self._open.outputs[call] = _CallOutput(self.log, call, self.secrets, self.relay)
        return output.write

    def masked_output(self, call: str, publish: Callable[[ToolOutput], None] | None = None) -> MaskedOutput:
        """For output that is written to the call's artifact by another part: without secrets from there on."""
        return MaskedOutput(self.secrets, lambda: self.log.read_artifact(call), publish or self.relay)

    def start(self, call: str, spec: CommandSpec) -> RunningCommand:
        return self.log.start_command(self, call, spec)

    def close(self) -> None:
        """End everything that is open: words, questions, calls, and subagents with all of theirs."""
        for key in list(self._open.pieces):
            self._end_pieces(key)
        for request in list(self._open.requests):
            self.publish(RequestResolved(request))
        for call in list(self._open.calls):
            self.publish(ToolResult(call, _STOPPED, CallEnding(ended="stopped").as_details(), True))
        for child in self._open.ended.values():
            child.close()
        self._open.ended.clear()
        for child in reversed(list(self._open.children.values())):
            child.close()
            self.end_child(child, is_error=True)

    # What comes in pieces

    def _publish_piece(self, event: Event, field: str) -> None:
        key, event = "", self._stamped(event)
        if isinstance(event, ToolArgs):
            key = event.id
            self._open.calls.setdefault(key)
        piece: str = getattr(event, field)
        text = piece
        if not self.secrets.is_empty:
            stream = self._open.pieces[key][1] if key in self._open.pieces else self.secrets.stream()
            self._open.pieces[key] = event, stream
            text = stream.feed(piece)
        if text or not piece or isinstance(event, ToolArgs):  # that there is a call is news
            self._append_piece(event, field, text)

    def _append_piece(self, event: Event, field: str, text: str) -> None:
        for piece in pieces(text) if len(text) > TEXT_AT_MOST else (text,):
            self._log(replace(event, **{field: piece}) if piece is not getattr(event, field) else event)

    def _end_pieces_before(self, event: Event) -> None:
        """What is not the next piece of the words under way ends them, and a call's arguments end with its start."""
        words = self._open.pieces.get("")
        if words is not None and not _is_next_piece(words[0], event):
            self._end_pieces("")
        if isinstance(event, ToolUse | ToolResult) and event.id in self._open.pieces:
            self._end_pieces(event.id)

    def _end_pieces(self, key: str) -> None:
        event, stream = self._open.pieces.pop(key)
        if text := stream.end():
            self._append_piece(event, _PIECES[type(event)], text)

    # What comes whole

    def _append(self, event: Event) -> None:
        self._log(self._stamped(event))

    def _log(self, event: Event) -> None:
        self.log.append(event)
        if self._seen is not None:
            self._seen(event)

    def _stamped(self, event: Event) -> Event:
        if event.agent == self.path and event.source == self.source:
            return event
        stamped: Event = replace(event, agent=self.path, source=self.source)
        return stamped

    def _text(self, text: str, most: int = TEXT_AT_MOST) -> str:
        return bounded_text(self.secrets.masked(clean_text(text)), most)

    def _line(self, text: str, most: int = TEXT_AT_MOST) -> str:
        line = clean_line(self.secrets.masked(clean_line(text)))
        return line if len(line) <= most else cut_graphemes(line, most)

    def _with_lines(self, event: Event) -> Event:
        changed: dict[str, str | list[str]] = {}
        for name, most in _LINES[type(event)].items():
            value: str | list[str] = getattr(event, name)
            line = self._line(value, most) if isinstance(value, str) else [self._line(each, most) for each in value]
            if line != value:
                changed[name] = line
        return replace(event, **changed) if changed else event

    def _value(self, value: object) -> Any:
        if value is None or isinstance(value, bool | int | float):
            return value
        try:
            return bounded_value(self.secrets.masked_value(clean_value(plain(value))))
        except RecursionError:
            return {"left_out": "nested too deeply to be shown"}

    def _prepare_user(self, event: User) -> Event:
        text, left_out = bounded_prompt(self.secrets.masked(clean_text(event.text)))
        return replace(event, text=text, left_out_lines=left_out or event.left_out_lines)

    def _prepare_mail_sent(self, event: MailSent) -> Event:
        readers = [
            replace(each, agent=self._line(each.agent, _LINE_AT_MOST), error=self._line(each.error, _LINE_AT_MOST))
            for each in event.readers
        ]
        return replace(event, text=self._text(event.text), readers=readers)

    def _prepare_notice(self, event: Notice | Error) -> Event:
        text = without_credentials(self._text(event.text, _MESSAGE_AT_MOST))
        return replace(event, text=text, hint=without_credentials(self._text(event.hint, _MESSAGE_AT_MOST)))

    _prepare_error = _prepare_notice

    def _prepare_state(self, event: State) -> Event:
        return replace(event, value=self._value(event.value))

    def _prepare_tool_use(self, event: ToolUse) -> Event:
        self._open.calls.setdefault(event.id)
        arg = cut_graphemes(self._line(event.arg), _ARG_AT_MOST)
        return replace(event, arg=arg, args=self._value(event.args))

    def _prepare_tool_update(self, event: ToolUpdate) -> Event:
        return replace(event, details=self._value(event.details))

    def _prepare_tool_result(self, event: ToolResult) -> Event:
        self._open.calls.pop(event.id, None)
        self.log.call_ended(event.id)
        masked = not self.secrets.is_empty and self._is_masked(event)
        details = self._value(event.details) or None
        return replace(event, content=self._text(event.content), details=details, masked=masked)

    def _is_masked(self, event: ToolResult) -> bool:
        content, details = clean_text(event.content), clean_value(plain(event.details))
        try:
            return self.secrets.masked(content) != content or bool(self.secrets.masked_value(details) != details)
        except RecursionError:
            return False

    def _prepare_tool_output(self, event: ToolOutput) -> Event:
        return replace(event, content=self.secrets.masked(event.content))

    def _prepare_tool_connection(self, event: ToolConnection) -> Event:
        return replace(event, reason=self._text(event.reason))

    def _prepare_agent_started(self, event: AgentStarted) -> Event:
        return replace(event, task=self._text(event.task))

    def _prepare_request(self, event: Request) -> Event:
        self._open.requests.setdefault(event.id)
        details = event.details
        if event.what == "approval" and isinstance(details, dict):
            details = self._approval(event.id, details)
        text, choices = self._text(event.text, _MESSAGE_AT_MOST), [self._text(choice) for choice in event.choices]
        return replace(event, text=text, choices=choices, details=self._value(details))

    def _approval(self, request: str, details: dict[str, Any]) -> dict[str, Any]:
        """Details that can be shown whole: what is too long for an event is stored until the request is answered."""
        try:
            return carried(made_visible(self.secrets.masked_value(details)), self.log.folder, request)
        except RecursionError:
            rest = {name: value for name, value in details.items() if name != "args"}
            return {**rest, "unseen": "its arguments are nested too deeply to be shown", "leaves": True}

    def _prepare_request_resolved(self, event: RequestResolved) -> Event:
        self._open.requests.pop(event.id, None)
        forget(self.log.folder, event.id)
        return replace(event, answer=self._value(event.answer))

    def _prepare_unknown(self, event: Unknown) -> Event:
        return replace(event, raw=self.secrets.masked(event.raw), reason=self._text(event.reason, _MESSAGE_AT_MOST))


def _is_next_piece(event: Event, after: Event) -> bool:
    return isinstance(event, Text | Reasoning) and type(after) is type(event) and after.block == event.block


_PREPARE = handlers_of(Actor, "_prepare_")
