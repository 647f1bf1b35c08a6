"""Gemini CLI: `gemini -o stream-json`.

Rules of this wire:

- `init`, the prompt as a `message` of the user, then `message`, `tool_use` and `tool_result` lines, then one `result`.
- The assistant's words come as deltas only. Nothing marks the end of a text: it ends where another kind of line begins.
- Line order is model order within a response; its results come together once all its calls are done.
- `output` is what a terminal would display, often nothing. A command that failed, or that the CLI refused to run, has
  the status `success`; only the word `Blocked:` shows the latter.
- A subagent is one `invoke_agent` call with an empty result. Nothing of its inside is on the wire.
- After a broken response the deltas start over with no marker, so words may be shown twice. Thinking is never sent.
"""

from typing import Union

import msgspec

import sightline.events as ev
from sightline.events import Event, Text, ToolResult, ToolUse
from sightline.providers._agents import AgentPaths
from sightline.providers._failure import hint_in, human_message
from sightline.providers._plan import plan_from
from sightline.providers._preview import shown_args
from sightline.providers._provider import refused_details
from sightline.providers._source import Handler, ProviderSource, first_object, is_suspect, reread
from sightline.text import StreamFilter, clean_line, clean_text

_COMMON_NAMES = {
    "glob": "Glob",
    "google_web_search": "WebSearch",
    "grep_search": "Grep",
    "invoke_agent": "Task",
    "read_file": "Read",
    "read_many_files": "Read",
    "replace": "Edit",
    "run_shell_command": "Bash",
    "search_file_content": "Grep",
    "web_fetch": "WebFetch",
    "write_file": "Write",
    "write_todos": "Todo",
}


class Init(msgspec.Struct, gc=False, tag_field="type", tag="init"):
    session_id: str = ""
    model: str | None = ""


class GeminiMessage(msgspec.Struct, gc=False, tag_field="type", tag="message"):
    role: str
    content: str
    delta: bool = False


class GeminiToolUse(msgspec.Struct, gc=False, tag_field="type", tag="tool_use"):
    tool_name: str
    tool_id: str = ""
    parameters: object = None


class GeminiFailure(msgspec.Struct, gc=False):
    type: str | None = ""
    message: str | None = ""


class GeminiResult(msgspec.Struct, gc=False, tag_field="type", tag="tool_result"):
    tool_id: str
    status: str = ""
    output: str | None = ""
    error: GeminiFailure | None = None


class Trouble(msgspec.Struct, gc=False, tag_field="type", tag="error"):
    message: str
    severity: str = "error"


class Stats(msgspec.Struct, gc=False):
    input_tokens: int | None = None
    output_tokens: int | None = None
    cached: int | None = None
    total_tokens: int | None = None


class End(msgspec.Struct, gc=False, tag_field="type", tag="result"):
    status: str = ""
    stats: Stats | None = None
    error: GeminiFailure | None = None


Line = Union[GeminiMessage, GeminiToolUse, GeminiResult, Init, End, Trouble]

_UNKNOWN_TOOL = "tool_not_registered"
_REFUSALS = frozenset(("policy_violation", "tool_execution_denied", "permission_denied"))

_decoder = msgspec.json.Decoder(Line)
_decode = _decoder.decode


class GeminiSource(ProviderSource):
    provider = "gemini"
    _block = 0  # of the text that is being written; 0 when none is
    _filter: StreamFilter | None = None  # there from the first piece of a text that needs one

    _agents: AgentPaths | None = None  # there from the first subagent

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            parsed = _decode(line)
        except (ValueError, RecursionError) as error:
            if (parsed := reread(line, _decoder)) is None:
                return self.unreadable(line, str(error))
        if type(parsed) is not GeminiMessage:
            if self._block:
                return [*self._end_text(), *_HANDLERS[type(parsed)](self, parsed, line)]
            return _HANDLERS[type(parsed)](self, parsed, line)
        text = parsed.content
        if self._filter is not None or not parsed.delta or parsed.role != "assistant":
            return self._message(parsed)
        # A short printable piece needs no look at the line.
        if not (len(text) < 32 and text.isprintable()) and is_suspect(line):
            return self._message(parsed)
        if not self._block:
            self._block = self._blocks_seen = self._blocks_seen + 1
        return [Text(text, self._block)] if text else []

    def end_events(self) -> list[Event]:
        return self._end_text()

    def _message(self, parsed: GeminiMessage) -> list[Event]:
        """Any message, however odd its text."""
        if parsed.role != "assistant":
            return [*self._end_text(), ev.User(clean_text(parsed.content))]
        events: list[Event] = [] if parsed.delta else self._end_text()
        if self._filter is None:
            self._filter = StreamFilter()
        self._block = self._block or self.new_block()
        text = self._filter.feed(parsed.content)
        if text:
            events.append(Text(text, self._block))
        return events if parsed.delta else [*events, *self._end_text()]

    def _end_text(self) -> list[Event]:
        """The text under way is over; half a character that was held back for its other half goes out now."""
        held = self._filter.end() if self._filter is not None else ""
        block, self._block, self._filter = self._block, 0, None
        return [Text(held, block)] if held else []

    def _call(self, parsed: GeminiToolUse, line: bytes) -> list[Event]:
        native, native_id = parsed.tool_name, parsed.tool_id
        if not native_id.isprintable():
            native_id = clean_line(native_id)
        ident = self.open_call(native_id)
        name = _COMMON_NAMES.get(native)
        if name is None:
            name = native = clean_line(native)
        args, arg = shown_args(parsed.parameters, name, line)
        use = ToolUse(ident, name, native, arg, args, native_id)
        if name == "Todo":
            return [use, ev.TodoState(plan_from(args)).as_state()]
        if native == "invoke_agent" and isinstance(args, dict):
            return [use, self._agent_started(native_id, ident, args)]
        return [use]

    def _agent_started(self, handle: str, call: str, args: dict[str, object]) -> ev.AgentStarted:
        name, task = args.get("agent_name"), args.get("prompt")
        name = clean_line(name) if isinstance(name, str) else ""
        task = task if isinstance(task, str) else ""
        if self._agents is None:
            self._agents = AgentPaths()
        return ev.AgentStarted(self._agents.begin(handle, name), name or "agent", task, call=call)

    def _result(self, parsed: GeminiResult, line: bytes) -> list[Event]:
        native_id, content, error = parsed.tool_id, parsed.output or "", parsed.error
        details: dict[str, object] | None = None
        ident = self._open_calls.pop(native_id, None)
        if ident is None:  # only an id that is not fit to be shown is known by another name
            native_id = clean_line(native_id)
            ident = self.close_call(native_id)
        failed = parsed.status == "error"
        if error is not None:
            message = clean_text(error.message or "")
            details = {"type": clean_line(error.type or ""), "message": message}
            content = content or message
            if error.type in _REFUSALS or (error.type == _UNKNOWN_TOOL and _is_withheld(native_id)):
                details |= refused_details()
        elif content.startswith("Blocked: ") and _is_refusal(native_id, content):
            failed, details = True, refused_details()
        if content:
            content = clean_text(content)
        result = ToolResult(ident, content, details, failed, None, None, native_id)
        if self._agents is not None and (path := self._agents.end(native_id)):
            return [ev.AgentEnded(path, failed), result]
        return [result]

    def _started(self, parsed: Init, line: bytes) -> list[Event]:
        if self._calls_seen:
            self._open_calls.clear()
        return [ev.RunStarted(clean_line(parsed.session_id), clean_line(parsed.model or ""))]

    def _troubled(self, parsed: Trouble, line: bytes) -> list[Event]:
        text = human_message(parsed.message)
        if parsed.severity == "warning":
            return [ev.Notice(text, "warning")]
        return [ev.Error(text, hint_in(text))]

    def _ended(self, parsed: End, line: bytes) -> list[Event]:
        stats, error = parsed.stats, parsed.error
        usage = None
        if stats is not None:
            usage = ev.Usage(stats.input_tokens, stats.output_tokens, stats.cached, None, None, stats.total_tokens)
        failed = parsed.status == "error"
        ended = ev.RunEnded(usage, is_error=failed)
        if not failed:
            return [ended]
        message = error.message if error is not None and error.message else "the run failed"
        return [ev.Error(human_message(message), hint_in(message)), ended]


_HANDLERS: dict[type, Handler[GeminiSource]] = {
    GeminiToolUse: GeminiSource._call,
    GeminiResult: GeminiSource._result,
    Init: GeminiSource._started,
    End: GeminiSource._ended,
    Trouble: GeminiSource._troubled,
}


def _is_refusal(native_id: str, output: str) -> bool:
    """Whether `Blocked: …` are the words of the CLI, which refused to run a command and reports that as success."""
    return native_id.startswith("run_shell_command") and "\n" not in output


def _is_withheld(native_id: str) -> bool:
    """Whether a tool reported as missing is one of its own, which the approval level does not offer."""
    return native_id.partition("__")[0] in _COMMON_NAMES


def recognises(head: bytes) -> bool:
    line = first_object(head)
    kind = line.get("type")
    if kind == "init":
        return "session_id" in line
    ours = {"message": "role", "tool_use": "tool_id", "tool_result": "tool_id", "result": "stats", "error": "severity"}
    return isinstance(kind, str) and isinstance(line.get("timestamp"), str) and ours.get(kind, "") in line
