"""OpenCode: `opencode run --format json`.

Rules of this wire:

- Each line is one finished part of a session. `step_start` and `step_finish` frame one request to the model, whose
  parts share a `messageID`.
- A call is printed together with its result, so line order is order of completion, not of the model. Recordings of
  other programs may also hold parts that are still running: the first sight of a part is the call, its end the result.
- `callID` is the model API's own id; the part's `id` is what repeats when the same part is printed again.
- A shell command that failed is `completed`; its exit code is in the metadata, as null when it was aborted. A call to a
  tool that does not exist is a completed call of `invalid`.
- The text of a file is in the output between marks for the model, and as it is in the metadata (`display`). A command
  that printed nothing has `(no output)` for its output.
- A subagent is one `task` call with its answer. Its own session is not printed.
- There is no closing line and no total. The last `step_finish` has a reason other than `tool-calls`; a failure is an
  `error` line. A run that was killed just stops; that another one follows is seen by its session.
- After a broken stream there is a second `step_start` of the same message, or a step that finished for no known reason
  and a new message. Texts that were printed come again.
"""

import re
from collections.abc import Container
from typing import Union

import msgspec

import sightline.events as ev
from sightline.events import Event, Reasoning, Text, ToolResult, ToolUse
from sightline.providers._agents import AgentPaths
from sightline.providers._failure import hint_for, human_message
from sightline.providers._plan import plan_from
from sightline.providers._preview import shown_args
from sightline.providers._provider import refused_details
from sightline.providers._resend import Resend
from sightline.providers._source import Handler, ProviderSource, first_object, is_suspect, reread
from sightline.text import clean_line, clean_text

# The wire, as far as it is read. Fields that vary in shape are `object`: one odd field must not spoil a whole line.


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


_COMMON_NAMES = {
    "apply_patch": "Edit",
    "bash": "Bash",
    "edit": "Edit",
    "glob": "Glob",
    "grep": "Grep",
    "multiedit": "Edit",
    "patch": "Edit",
    "read": "Read",
    "task": "Task",
    "todowrite": "Todo",
    "webfetch": "WebFetch",
    "websearch": "WebSearch",
    "write": "Write",
}
_task_result = re.compile(r"<task [^>]*>\s*<task_result>\n?(.*?)\n?</task_result>\s*</task>\s*", re.DOTALL).fullmatch
_is_refusal = re.compile(
    r"The user rejected permission|The user has specified a rule which prevents"
    rf"|.{{0,80}}Model tried to call unavailable tool '(?:{'|'.join(_COMMON_NAMES)})'"
).match
_SILENT = "(no output)"  # for the model: a command that printed nothing
_UNFINISHED = frozenset(("pending", "running"))
_WHOLE = frozenset(("tool-calls", "stop"))  # the answer of the model is complete
_CONTINUES = frozenset(("tool-calls", "unknown"))  # another step follows

_DONE_AT_MOST = 1024
_BEFORE, _RUNNING, _ENDED = range(3)
_BEGINNINGS = frozenset((StepStart, OpencodeErrorLine))  # what a run can begin with

_decoder = msgspec.json.Decoder(Line)
_decode = _decoder.decode


class OpenCodeSource(ProviderSource):
    provider = "opencode"
    _run = _BEFORE
    _session = ""
    _message_id = ""  # of the step that is open
    _text_id = ""  # of the last text
    _done_before: Container[str] = ()
    # There from the first thought or subagent.
    _thoughts: Resend | None = None
    _agents: AgentPaths | None = None

    def __init__(self) -> None:
        super().__init__()
        self._words = Resend()
        self._done: set[str] = set()  # parts that were shown whole

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            parsed = _decode(line)
        except (ValueError, RecursionError) as error:
            if (parsed := reread(line, _decoder)) is None:
                return self.unreadable(line, str(error))
        kind = type(parsed)
        if self._run != _RUNNING or (kind in _BEGINNINGS and parsed.sessionID != self._session):
            return self._perhaps_started(parsed, line)
        return _HANDLERS[kind](self, parsed.part, line)

    def open_id(self, part: str) -> str:
        """Our id of a call that is open, by its part; empty when it is not."""
        return self._open_calls.get(part, "")

    def agent_of(self, part: str) -> str:
        """The path of the subagent that a call started, by its part."""
        return self._agents.get(part) if self._agents is not None else ""

    def _perhaps_started(self, parsed: Line, line: bytes) -> list[Event]:
        """The first line, whatever it is, begins a run; after its end a new step begins another, and at any time a step
        or failure of another session does."""
        kind = type(parsed)
        session = parsed.sessionID if isinstance(parsed.sessionID, str) else ""
        begins = self._run == _BEFORE or (self._run == _ENDED and kind is StepStart)
        if not begins and kind in _BEGINNINGS and session and self._session:
            begins = session != self._session
        if not begins:
            return _HANDLERS[kind](self, parsed.part, line)
        if self._run != _BEFORE:
            self._forget_run()
        self._run, self._session = _RUNNING, session
        events: list[Event] = [ev.RunStarted(clean_line(session))]
        events += _HANDLERS[kind](self, parsed.part, line)
        return events

    def _forget_run(self) -> None:
        """What came before will not come again, and what comes may be just like it."""
        self._words.settle()
        if self._thoughts is not None:
            self._thoughts.settle()
        self._message_id = self._text_id = ""
        self._open_calls.clear()
        self._done_before, self._done = (), set()

    def _text(self, part: OpencodeText, line: bytes) -> list[Event]:
        text = part.text
        if (0x5C in line or 0x7F in line or not line.isascii()) and is_suspect(line):  # mostly spares a call
            text = clean_text(text)
        if not text:
            return []
        words = self._words
        if words.expecting or part.id == self._text_id:
            return self._resent(part.id, text)
        self._text_id = part.id
        self._blocks_seen = block = self._blocks_seen + 1
        words.show(text, block)
        return [Text(text, block)]

    def _resent(self, ident: str, text: str) -> list[Event]:
        """A text after a broken stream, or the same part once more: only what was not shown is news."""
        words = self._words
        if ident and ident == self._text_id and words.shown:
            known, block = words.shown.pop()
            repeats = not text.startswith(known)
            rest, block = (text, 0) if repeats else (text[len(known) :], block)
        else:
            rest, repeats = words.rest(text)
            block = words.continues
        self._text_id = ident
        return self.show_rest(words, text, rest, block, repeats=repeats)

    def _reasoning(self, part: OpencodeText, line: bytes) -> list[Event]:
        text = clean_text(part.text)
        thoughts = self._thoughts
        if thoughts is None:
            thoughts = self._thoughts = Resend()
        rest = thoughts.rest(text)[0] if thoughts.expecting else text
        thoughts.show(text)
        return [Reasoning(rest, self.new_block())] if rest else []

    def _call(self, part: OpencodeCall, line: bytes) -> list[Event]:
        key = part.id or part.callID
        if key in self._done or key in self._done_before:
            return []
        ident = self._open_calls.get(key)
        if part.state.status in _UNFINISHED:
            known = ident is not None or (part.state.status == "pending" and not part.state.input)
            return [] if known else self._use(part, self.open_call(key), line)
        self._done.add(key)
        if len(self._done) > _DONE_AT_MOST:
            self._done_before, self._done = self._done, set()
        if ident is not None:
            del self._open_calls[key]
            return self._result(part, ident, [])
        ident = self.open_call("")
        return self._result(part, ident, self._use(part, ident, line))

    def _use(self, part: OpencodeCall, ident: str, line: bytes) -> list[Event]:
        native, native_id = part.tool, part.callID
        if not native_id.isprintable():
            native_id = clean_line(native_id)
        name = _COMMON_NAMES.get(native)
        if name is None:
            name = native = clean_line(native)
        args, arg = shown_args(part.state.input, name, line)
        use = ToolUse(ident, name, native, arg, args, native_id)
        if name == "Todo":
            return [use, ev.TodoState(plan_from(args)).as_state()]
        if name == "Task" and isinstance(args, dict):
            return [use, self._agent_started(part.id or part.callID, ident, args, part.state.metadata)]
        return [use]

    def _agent_started(
        self, key: str, call: str, args: dict[str, object], metadata: Metadata | None
    ) -> ev.AgentStarted:
        name, task = args.get("subagent_type"), args.get("prompt") or args.get("description")
        name = clean_line(name) if isinstance(name, str) else ""
        task = task if isinstance(task, str) else ""
        model = metadata.model.get("modelID") if metadata is not None and isinstance(metadata.model, dict) else ""
        model = clean_line(model) if isinstance(model, str) else ""
        if self._agents is None:
            self._agents = AgentPaths()
        return ev.AgentStarted(self._agents.begin(key, name), name or "agent", task, model, call)

    def _result(self, part: OpencodeCall, ident: str, events: list[Event]) -> list[Event]:
        """The end of a call, after the events there already are."""
        state, native_id, tool = part.state, part.callID, part.tool
        metadata, time = state.metadata, state.time
        content, failed, code, duration = state.output, tool == "invalid", None, None
        if state.status != "completed" or state.error is not None:
            content = state.error if isinstance(state.error, str) else content
            failed = failed or state.error is not None or state.status == "error"
        if metadata is not None:
            if type(metadata.exit) is int:
                code = metadata.exit
                failed = failed or code != 0
            elif metadata.exit is None and tool == "bash":
                failed = True
        if time is not None and time.start is not None and time.end is not None:
            duration = (time.end - time.start) / 1000
        if not native_id.isprintable():
            native_id = clean_line(native_id)
        if self._agents is not None and (path := self._agents.end(part.id or part.callID)):
            events.append(ev.AgentEnded(path, failed))
        content, details = clean_text(content) if content and content != _SILENT else "", None
        if tool == "task" and (answer := _task_result(content)) is not None:
            content = answer[1]
        if metadata is not None and metadata.display is not None and not failed:
            content, details = shown_read(metadata.display) or (content, None)
        if failed and _is_refusal(content):
            details = refused_details()
        events.append(ToolResult(ident, content, details, failed, code, duration, native_id))
        return events

    def _step_started(self, part: OpencodeStep, line: bytes) -> list[Event]:
        if part.messageID == self._message_id and part.messageID:
            self._broke()
        self._message_id = part.messageID
        return [ev.TurnStarted()]

    def _step_finished(self, part: Finish, line: bytes) -> list[Event]:
        self._message_id = ""
        reason, tokens = part.reason, part.tokens
        if reason in _WHOLE:
            self._words.settle()
            if self._thoughts is not None:
                self._thoughts.settle()
        else:
            self._broke()
            reason = clean_line(reason)
        usage = None
        if tokens is not None:
            read, write = (None, None) if tokens.cache is None else (tokens.cache.read, tokens.cache.write)
            usage = ev.Usage(tokens.input, tokens.output, read, write, tokens.reasoning, tokens.total)
        turn = ev.TurnEnded(usage, part.cost, reason)
        if part.reason in _CONTINUES:
            return [turn]
        self._run = _ENDED
        return [turn, ev.RunEnded(stop_reason=reason)]

    def _broke(self) -> None:
        self._words.broke()
        if self._thoughts is not None:
            self._thoughts.broke()

    def _failed(self, error: object, line: bytes) -> list[Event]:
        self._run = _ENDED
        return [error_event(error), ev.RunEnded(is_error=True)]


_HANDLERS: dict[type, Handler[OpenCodeSource]] = {
    TextLine: OpenCodeSource._text,
    CallLine: OpenCodeSource._call,
    StepStart: OpenCodeSource._step_started,
    StepFinish: OpenCodeSource._step_finished,
    ReasoningLine: OpenCodeSource._reasoning,
    OpencodeErrorLine: OpenCodeSource._failed,
}


def error_event(error: object) -> ev.Error:
    """An error object: a name, and under `data` the message and the HTTP status."""
    fields = error if isinstance(error, dict) else {"message": error}
    data = fields.get("data")
    data = data if isinstance(data, dict) else fields
    name, message, status = fields.get("name"), data.get("message"), data.get("statusCode")
    text = human_message(message) if isinstance(message, str) else ""
    if isinstance(status, int):
        text = f"{text} (status {status})" if text else f"status {status}"
    if isinstance(name, str) and name:
        text = f"{clean_line(name)}: {text}" if text else clean_line(name)
    return ev.Error(text or "opencode reported an error", hint_for(status))


def recognises(head: bytes) -> bool:
    line = first_object(head)
    return "sessionID" in line and ("part" in line or "error" in line)


class _File(msgspec.Struct, tag_field="type", tag="file"):
    text: str
    path: str = ""
    lineStart: int = 1
    lineEnd: int | None = None
    totalLines: int | None = None


class _Folder(msgspec.Struct, tag_field="type", tag="directory"):
    entries: list[str]
    path: str = ""
    totalEntries: int | None = None


def shown_read(display: object) -> tuple[str, dict[str, object]] | None:
    """The text and the details of the result; None for what is neither."""
    try:
        read = msgspec.convert(display, _File | _Folder)
    except (ValueError, RecursionError):
        return None
    path = clean_line(read.path)
    if isinstance(read, _Folder):
        count = len(read.entries) if read.totalEntries is None else read.totalEntries
        text = "\n".join([clean_line(name) for name in read.entries])
        return text, ev.ListingFact(path=path, entries=count).as_details()
    text = clean_text(read.text)
    total = read.totalLines if read.totalLines is not None else text.count("\n") + 1
    last = read.lineEnd if read.lineEnd is not None else read.lineStart + text.count("\n")
    return text, ev.ReadFact(path=path, first=read.lineStart, last=last, total=total).as_details()
