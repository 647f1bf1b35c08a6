"""Claude Code: `claude -p --output-format stream-json --verbose`.

Rules of this wire:

- One JSON object per line, told apart by `type` and, for `system`, by `subtype`.
- An `assistant` line holds one finished content block; blocks of one model message share `message.id`. A `user` line
  holds tool results, or text the CLI put in itself.
- With partial messages every block comes twice: as `stream_event` deltas and then as a full `assistant` line, which
  normally arrives just before the block's `content_block_stop`. The deltas are shown; the full line adds the rest.
- When a stream breaks, what was sent as deltas is not taken back. The block comes again as a full line (or, from the
  start, as deltas of a new message) and may carry another message id.
- Lines of a subagent name the call that started it in `parent_tool_use_id`. A subagent in the background outlives its
  call; its end is a `task_notification`, after which the CLI opens another round with a second `init` and `result`.
- A failed request is a `<synthetic>` assistant line and a `result` with `is_error`, whatever its `subtype` says.
"""

import re
from collections.abc import Callable
from functools import cached_property
from typing import Any

import msgspec
from msgspec.structs import replace

from sightline.events import (
    AgentEnded,
    AgentStarted,
    Error,
    Event,
    Notice,
    Reasoning,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolResult,
    ToolUpdate,
    ToolUse,
    TurnEnded,
    TurnStarted,
    Usage,
    User,
)
from sightline.providers._agents import AgentPaths
from sightline.providers._preview import preview, shown_args
from sightline.providers._refusal import REFUSED
from sightline.providers._source import LINE_CAP, Source, decode_leniently
from sightline.providers.claude import _wire as wire
from sightline.providers.claude._partial import PartialBlocks
from sightline.providers.claude._reading import as_answered, as_shown, goes_on
from sightline.providers.claude._tasks import Tasks
from sightline.providers.claude._wire import Line
from sightline.text import clean_line, clean_text

_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_DELEGATES = frozenset(("Agent", "Task"))
_AGENTS_AT_MOST = 1024
_ROUNDS_AT_MOST = 64
_REFUSED_AT_MOST = 20
# Stands in for a line whose strings must all be filtered.
_SUSPECT = b"\\u"
_decode = msgspec.json.Decoder(Line).decode
_exit_code = re.compile(r"Exit code (\d{1,9})\b").match


class ClaudeSource(Source):
    provider = "claude"
    attended = False  # a person answers: what was refused they know
    _begun = False  # the first of the rounds below
    _last_error = ""
    _plans = _delegates = False  # whether it ever did

    def __init__(self) -> None:
        super().__init__()
        self._partial: dict[str, PartialBlocks] = {}  # agent path → blocks that arrive as deltas
        self._read: dict[str, Usage] = {}  # agent path → what its message under way began with
        self._rounds = [False]  # for each round without a result yet, whether anything was said in it

    @cached_property
    def _agents(self) -> AgentPaths:
        """By the call that started them; lines of theirs may follow their end."""
        self._delegates = True
        return AgentPaths()

    @cached_property
    def _background(self) -> dict[str, None]:
        """Paths whose call returned at once, oldest first."""
        return {}

    @cached_property
    def _tasks(self) -> Tasks:
        self._plans = True
        return Tasks()

    def agent_of(self, call: str) -> str:
        """The path of the subagent that a call of theirs started."""
        return self._agents.get(call) if self._delegates else ""

    @property
    def has_background(self) -> bool:
        """Whether a subagent goes on although the call that started it has returned."""
        return self._delegates and bool(self._background)

    def parse_events(self, line: bytes) -> list[Event]:
        if len(line) > LINE_CAP:
            return self.unreadable(line, "line over 16 MB")
        try:
            parsed = _decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            return self._reread(line, str(error))
        return _HANDLERS[type(parsed)](self, parsed, line)

    def _reread(self, line: bytes, reason: str) -> list[Event]:
        """A line the strict decoder refused: half a character, another type where ours is expected, or not ours."""
        try:
            value = decode_leniently(line)
            kind = value.get("type") if isinstance(value, dict) else None
            if isinstance(kind, str) and kind in wire.SILENT:
                return []
            parsed = msgspec.convert(value, Line)
        except (ValueError, RecursionError):
            return self.unreadable(line, reason)
        return _HANDLERS[type(parsed)](self, parsed, _SUSPECT)

    # Words, thoughts and calls

    def _assistant(self, line: wire.Assistant, raw: bytes) -> list[Event]:
        events: list[Event] = []
        parent = line.parent_tool_use_id
        agent = self._path(parent, line.subagent_type, line.task_description, events) if parent else ""
        message = line.message
        if line.error and message.model == "<synthetic>":
            return self._failed(message.content, agent)
        content = message.content
        for block in content if type(content) is list else _blocks(content):
            kind = block.type
            if kind == "text":
                self._text(block.text, agent, events)
            elif kind in _CALLS:
                self._call(block, agent, raw, events)
            elif kind == "thinking":
                self._thought(block.thinking, agent, events)
            elif block.tool_use_id:
                self._result(block, agent, events, raw)
        return events

    def _text(self, text: str, agent: str, events: list[Event]) -> None:
        if not text:
            return
        if not agent:
            self._rounds[-1] = True
        partial = self._partial.get(agent)
        if partial is not None:
            events += partial.full_text(text)
            return
        text = clean_text(text)
        if text:
            events.append(Text(text, self.new_block(), agent=agent, source="claude"))

    def _thought(self, text: str, agent: str, events: list[Event]) -> None:
        partial = self._partial.get(agent)
        if partial is not None:
            events += partial.full_thought(text)
        elif text:
            events.append(Reasoning(clean_text(text), self.new_block(), agent=agent, source="claude"))

    def _call(self, block: wire.Block, agent: str, raw: bytes, events: list[Event]) -> None:
        native, native_id = clean_line(block.name), clean_line(block.id)
        name = wire.COMMON_NAMES.get(native, native)
        args, arg = shown_args(block.input, name, raw)
        # A call whose arguments were seen being written has its id already.
        ident = (self._open_calls.get(native_id) if self._partial else None) or self.open_call(native_id)
        events.append(ToolUse(ident, name, native, arg, args, native_id, agent=agent, source="claude"))
        if native in _DELEGATES and isinstance(args, dict):
            events.append(self._agent_started(block.id, ident, args, agent))
        elif name == "Todo":
            self._planned(self._tasks.called(native, native_id, args), agent, events)

    def _agent_started(self, native_id: str, ident: str, args: dict[str, Any], agent: str) -> AgentStarted:
        name, task, prompt = args.get("subagent_type"), args.get("description"), args.get("prompt")
        name = clean_line(name) if isinstance(name, str) and name else "agent"
        task = task if isinstance(task, str) else prompt
        path = self._agents.begin(native_id, name, agent)
        if args.get("run_in_background") is True:
            self._goes_on(path)
        task = clean_line(task) if isinstance(task, str) else ""
        return AgentStarted(path, name, task, call=ident, agent=agent, source="claude")

    def _goes_on(self, path: str) -> None:
        """The subagent outlives the call that started it."""
        self._background[path] = None
        if len(self._background) > _AGENTS_AT_MOST:
            del self._background[next(iter(self._background))]

    def _path(self, parent: str, name: str | None, task: str | None, events: list[Event]) -> str:
        """The path of the subagent that a line belongs to; one never announced begins here."""
        known = self._agents.get(parent)
        if known:
            return known
        name = clean_line(name) if name else "agent"
        path = self._agents.begin(parent, name)
        call = self.call_id(clean_line(parent))
        events.append(AgentStarted(path, name, clean_line(task or ""), call=call, source="claude"))
        return path

    # Results

    def _user(self, line: wire.UserLine, raw: bytes) -> list[Event]:
        events: list[Event] = []
        parent = line.parent_tool_use_id
        agent = self._path(parent, line.subagent_type, line.task_description, events) if parent else ""
        content = line.message.content
        for block in content if type(content) is list else _blocks(content):
            if block.tool_use_id:
                self._result(block, agent, events, raw)
            elif block.text:
                text = clean_text(block.text)
                own = line.isSynthetic and not agent  # the CLI's own words, not a person's
                events.append((Notice if own else User)(text, agent=agent, source="claude"))
        return events

    def _result(self, block: wire.Block, agent: str, events: list[Event], raw: bytes) -> None:
        content, native_id, failed = block.content, block.tool_use_id, block.is_error is True
        # The line repeats the output in another form: filtering what is shown costs less than searching all of it.
        text = clean_text(content if type(content) is str else _joined(content))
        native_id = clean_line(native_id)
        code = _exit_code(text) if failed else None
        exit_code = int(code.group(1)) if code else None
        ident = self.close_call(native_id)
        shown, details = as_shown(text, raw) if not failed else (text, None)
        path = self._agents.get(block.tool_use_id) if self._delegates else ""
        if path:
            shown = as_answered(shown)
        result = ToolResult(ident, shown, details, failed, exit_code, None, native_id, agent=agent, source="claude")
        events.append(result)
        if self._plans:
            self._planned(self._tasks.ended(native_id, text), agent, events)
        if not path:
            return
        if path in self._background or goes_on(text):
            self._goes_on(path)
        else:
            events.append(AgentEnded(path, failed, agent=agent, source="claude"))

    def _planned(self, plan: list[dict[str, str]] | None, agent: str, events: list[Event]) -> None:
        if plan is not None:
            events.append(State("todo", plan, agent=agent, source="claude"))

    # Deltas

    def _stream_event(self, line: wire.StreamEvent, raw: bytes) -> list[Event]:
        event = line.event
        events: list[Event] = []
        parent = line.parent_tool_use_id
        agent = self._path(parent, None, None, events) if parent else ""
        partial = self._partial.get(agent)
        kind, delta = event.type, event.delta
        if kind == "content_block_delta":
            if partial is not None and delta is not None:
                if delta.text and not agent:
                    self._rounds[-1] = True
                events += partial.delta(event.index, delta.text or delta.thinking, delta.partial_json)
        elif kind == "message_start":
            if partial is None and len(self._partial) < _AGENTS_AT_MOST:
                partial = self._partial[agent] = PartialBlocks(self, agent)
            if partial is not None:
                partial.message_started()
            self._read_tokens(event.message, agent)
        elif kind == "message_delta":
            reason = clean_line(delta.stop_reason or "") if delta else ""
            usage = _with_read(_usage(event.usage), self._read.pop(agent, None))
            events.append(TurnEnded(usage, None, reason, agent=agent, source="claude"))
        elif partial is not None:
            if kind == "content_block_start" and event.content_block is not None:
                events += self._block_started(partial, event.index, event.content_block)
            elif kind == "content_block_stop":
                partial.block_stopped(event.index)
            elif kind == "message_stop":
                partial.message_stopped()
        return events

    def _read_tokens(self, message: Any, agent: str) -> None:
        """What the model read is said when a message begins, what it wrote when it ends."""
        try:
            usage = _usage(msgspec.convert(message, wire.Begun).usage)
        except (ValueError, RecursionError):
            return
        if usage is not None and len(self._read) < _AGENTS_AT_MOST:
            self._read[agent] = usage

    def _block_started(self, partial: PartialBlocks, index: int, block: wire.Block) -> list[Event]:
        if block.type in _CALLS:
            native, native_id = clean_line(block.name), clean_line(block.id)
            partial.call_started(index, self.call_id(native_id), wire.COMMON_NAMES.get(native, native))
        elif block.type in ("text", "thinking"):
            partial.block_started(index, thought=block.type == "thinking")
            if block.text or block.thinking:
                return partial.delta(index, block.text or block.thinking, "")
        return []

    # The run

    def _system(self, line: wire.System, raw: bytes) -> list[Event]:
        match line.subtype:
            case "init":
                if not self._begun:
                    self._begun = True
                else:
                    self._rounds = [*self._rounds[-_ROUNDS_AT_MOST:], False]
                self._read.clear()
                self._partial.clear()  # what an earlier round left open will never be closed
                session, model, cwd = clean_line(line.session_id), clean_line(line.model), clean_line(line.cwd)
                return [RunStarted(session, model, cwd, source="claude")]
            case "status" if line.status == "requesting":
                return [TurnStarted(source="claude")]
            case "api_retry":
                return self._retry(line)
            case "task_progress" if line.tool_use_id in self._open_calls:
                details = {"progress": clean_line(line.description or "")}
                return [ToolUpdate(self._open_calls[line.tool_use_id], details, source="claude")]
            case "task_notification":
                path = self._agents.get(line.tool_use_id)
                if path in self._background:
                    del self._background[path]
                    return [AgentEnded(path, line.status != "completed", _usage(line.usage), source="claude")]
            case "compact_boundary":
                return [State("compaction", {"at": "boundary"}, source="claude")]
        return []

    def _retry(self, line: wire.System) -> list[Event]:
        reason = clean_line(line.error if isinstance(line.error, str) else "")
        status = f" {line.error_status}" if line.error_status else ""
        text = f"API error{status}{f' ({reason})' if reason else ''}, retry {line.attempt} of {line.max_retries}"
        value = {"attempt": line.attempt, "of": line.max_retries, "delay": line.retry_delay_ms / 1000, "reason": reason}
        return [State("retry", value, source="claude"), Notice(text, "warning", source="claude")]

    def _failed(self, content: str | list[wire.Block], agent: str) -> list[Event]:
        text = clean_text("\n".join(block.text for block in _blocks(content) if block.text)) or "the model API failed"
        self._last_error = text
        return [Error(text, agent=agent, source="claude")]

    def _ended(self, line: wire.Result, raw: bytes) -> list[Event]:
        events: list[Event] = []
        # A background subagent opens another round before the first has its result: a result is the oldest round's.
        round_said = self._rounds[0]
        if len(self._rounds) > 1:
            del self._rounds[0]
        else:
            self._rounds[0], self._begun = False, False
        said = line.result if isinstance(line.result, str) else ""
        if line.is_error:
            text = clean_text(said) or "; ".join(clean_line(item) for item in line.errors if isinstance(item, str))
            text = text or clean_line(line.subtype)
            if text != self._last_error:
                events.append(Error(text, source="claude"))
        elif said and not round_said:
            # The answer to one of the CLI's own commands stands nowhere but here.
            events.append(Text(clean_text(said), self.new_block(), source="claude"))
        self._last_error = ""
        refused = [] if self.attended else _refused(line.permission_denials)
        events += [Notice(f"refused: {call}", "warning", source="claude") for call in refused]
        usage, reason = _usage(line.usage), clean_line(line.stop_reason or line.subtype)
        reason = REFUSED if refused and not line.is_error else reason
        events.append(RunEnded(usage, line.total_cost_usd, reason, line.is_error, source="claude"))
        return events


_HANDLERS: dict[type, Callable[[ClaudeSource, Any, bytes], list[Event]]] = {
    wire.Assistant: ClaudeSource._assistant,
    wire.UserLine: ClaudeSource._user,
    wire.StreamEvent: ClaudeSource._stream_event,
    wire.System: ClaudeSource._system,
    wire.Result: ClaudeSource._ended,
}


def _blocks(content: str | list[wire.Block]) -> list[wire.Block]:
    return [wire.Block(type="text", text=content)] if isinstance(content, str) else content


def _joined(content: Any) -> str:
    """The text of a result given as a list of parts; a part that is no text leaves its type."""
    if not isinstance(content, list):
        return ""
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, dict):
            text, kind = part.get("text"), part.get("type")
            texts.append(text if isinstance(text, str) else f"[{kind if isinstance(kind, str) else 'part'}]")
    return "\n".join(texts)


def _usage(usage: wire.TokenUsage | None) -> Usage | None:
    if usage is None:
        return None
    return Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        None,
        usage.total_tokens,
    )


def _refused(denials: Any) -> list[str]:
    """The calls that were not allowed, with nobody there to ask, in a few words each."""
    calls = []
    for denial in denials[:_REFUSED_AT_MOST] if isinstance(denials, list) else []:
        native = denial.get("tool_name") if isinstance(denial, dict) else None
        if isinstance(native, str):
            name = wire.COMMON_NAMES.get(native, native)
            calls.append(clean_line(f"{name} {preview(denial.get('tool_input'), name)}").rstrip())
    return calls


def _with_read(ended: Usage | None, began: Usage | None) -> Usage | None:
    """The tokens of a message: those it began with where its end does not give them."""
    if ended is None or began is None:
        return ended
    return replace(
        ended,
        input_tokens=ended.input_tokens or began.input_tokens,
        cache_read_tokens=ended.cache_read_tokens or began.cache_read_tokens,
        cache_write_tokens=ended.cache_write_tokens or began.cache_write_tokens,
    )


def recognises(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return b'"session_id"' in line
