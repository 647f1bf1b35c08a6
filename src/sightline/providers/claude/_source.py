"""Claude Code: `claude -p --output-format stream-json --verbose`.

Rules of this wire:

- One JSON object per line, distinguished by `type` and, for `system`, by `subtype`.
- An `assistant` line holds one finished content block; blocks of one model message share `message.id`. A `user` line
  holds tool results, or text the CLI put in itself.
- With partial messages every block comes twice: as `stream_event` deltas and then as a full `assistant` line, which
  normally arrives just before the block's `content_block_stop`. The deltas are shown; the full line adds the rest.
- When a stream breaks, what was sent as deltas is not taken back. The block comes again as a full line (or, from the
  start, as deltas of a new message) and may carry another message id.
- Lines of a subagent name the call that started it in `parent_tool_use_id`. A subagent in the background outlives its
  call; its end is a `task_notification`, after which the CLI opens another round with a second `init` and `result`.
- A failed request is a `<synthetic>` assistant line and a `result` with `is_error`, whatever its `subtype`.
"""

import re
from functools import cached_property

import msgspec
from msgspec.structs import replace

import sightline.events as ev
from sightline.events import Event, Reasoning, Text, ToolResult, ToolUse
from sightline.events.stamping import of_agent
from sightline.providers._agents import AgentPaths
from sightline.providers._plan import plan_from
from sightline.providers._preview import preview, shown_args
from sightline.providers._provider import REFUSED
from sightline.providers._source import Handler, ProviderSource, converted, remember, reread
from sightline.providers.claude import _wire as wire
from sightline.providers.claude._partial import PartialBlocks
from sightline.providers.claude._reading import as_answered, as_shown, in_background
from sightline.providers.claude._wire import Line
from sightline.text import clean_line, clean_text

_TASKS_AT_MOST = 256
_created = re.compile(r"Task #(\w{1,32}) created").match

Plan = list[ev.TodoTask]


class Tasks:
    """The plan, put together from the calls that change it; each method returns it when the call did.

    Older versions write the whole plan each time (`TodoWrite`). Newer ones add a task (`TaskCreate`), learn its number
    from the call's result, and change it by that number (`TaskUpdate`).
    """

    def __init__(self) -> None:
        self._tasks: dict[str, ev.TodoTask] = {}
        self._pending: dict[str, str] = {}  # call that adds a task → what is to be done

    def called(self, native: str, native_id: str, args: object) -> Plan | None:
        if not isinstance(args, dict):
            return None
        if native == "TodoWrite":
            return plan_from(args)
        if native == "TaskCreate":
            subject = args.get("subject")
            if isinstance(subject, str) and len(self._pending) < _TASKS_AT_MOST:
                self._pending[native_id] = subject
            return None
        return self._updated(args)

    def ended(self, native_id: str, text: str) -> Plan | None:
        """A call has its result; one that added a task has its number there."""
        subject = self._pending.pop(native_id, None)
        number = _created(text)
        if subject is None or number is None or len(self._tasks) >= _TASKS_AT_MOST:
            return None
        self._tasks[number[1]] = ev.TodoTask(subject, "pending")
        return list(self._tasks.values())

    def _updated(self, args: dict[str, object]) -> Plan | None:
        number = str(args.get("taskId"))
        task = self._tasks.get(number)
        if task is None:
            return None
        status, subject = args.get("status"), args.get("subject")
        if status == "deleted":
            del self._tasks[number]
        else:
            text = subject if isinstance(subject, str) else task.text
            self._tasks[number] = ev.TodoTask(text, status if isinstance(status, str) else task.status)
        return list(self._tasks.values())


_CALLS = frozenset(("tool_use", "server_tool_use", "mcp_tool_use"))
_DELEGATES = frozenset(("Agent", "Task"))
_AGENTS_AT_MOST = 1024
_ROUNDS_AT_MOST = 64
_REFUSED_AT_MOST = 20
_decoder = msgspec.json.Decoder(Line)
_decode = _decoder.decode
_type_decoder = msgspec.json.Decoder(wire.LineType)
_exit_code = re.compile(r"Exit code (\d{1,9})\b").match


class ClaudeSource(ProviderSource):
    provider = "claude"
    attended = False  # a user answers, who knows what was refused
    _begun = False  # the first of the rounds below
    _agent = ""  # whose line is being read
    _last_error = ""
    _plans = _delegates = False  # whether it ever did

    def __init__(self) -> None:
        super().__init__()
        self._partial: dict[str, PartialBlocks] = {}  # agent path → blocks that arrive as deltas
        self._read: dict[str, ev.Usage] = {}  # agent path → what its message under way began with
        self._rounds = [False]  # for each round without a result yet, whether it had any text

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
        """Whether a subagent runs although the call that started it has returned."""
        return self._delegates and bool(self._background)

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            parsed = _decode(line)
        except (ValueError, RecursionError) as error:
            if (parsed := reread(line, _decoder)) is None:
                return [] if _is_silent(line) else self.unreadable(line, str(error))
        if parsed.parent_tool_use_id:
            return self._of_subagent(parsed, line)
        return _HANDLERS[type(parsed)](self, parsed, line)

    def _of_subagent(self, parsed: wire.OfAgent, raw: bytes) -> list[Event]:
        """A line of a subagent's. One that was never announced begins here."""
        parent, begun = parsed.parent_tool_use_id or "", []
        path = self._agents.get(parent)
        if not path:
            name = clean_line(parsed.subagent_type or "") or "agent"
            path, call = self._agents.begin(parent, name), self.call_id(clean_line(parent))
            begun.append(ev.AgentStarted(path, name, clean_line(parsed.task_description or ""), call=call))
        self._agent = path
        events = of_agent(path, _HANDLERS[type(parsed)](self, parsed, raw))
        self._agent = ""
        return [*begun, *events]

    def _assistant(self, line: wire.Assistant, raw: bytes) -> list[Event]:
        events: list[Event] = []
        message = line.message
        if line.error and message.model == "<synthetic>":
            return self._failed(message.content)
        content = message.content
        for block in content if type(content) is list else _blocks(content):
            kind = block.type
            if kind == "text":
                self._text(block.text, events)
            elif kind in _CALLS:
                self._call(block, raw, events)
            elif kind == "thinking":
                self._thought(block.thinking, events)
            elif block.tool_use_id:
                self._result(block, raw, events)
        return events

    def _text(self, text: str, events: list[Event]) -> None:
        if not text:
            return
        if not self._agent:
            self._rounds[-1] = True
        partial = self._partial.get(self._agent)
        if partial is not None:
            events += partial.full_text(text)
            return
        text = clean_text(text)
        if text:
            events.append(Text(text, self.new_block()))

    def _thought(self, text: str, events: list[Event]) -> None:
        partial = self._partial.get(self._agent)
        if partial is not None:
            events += partial.full_thought(text)
        elif text:
            events.append(Reasoning(clean_text(text), self.new_block()))

    def _call(self, block: wire.ContentBlock, raw: bytes, events: list[Event]) -> None:
        native, native_id = clean_line(block.name), clean_line(block.id)
        name = wire.COMMON_NAMES.get(native, native)
        args, arg = shown_args(block.input, name, raw)
        # A call whose arguments were seen being written has its id already.
        ident = (self._open_calls.get(native_id) if self._partial else None) or self.open_call(native_id)
        events.append(ToolUse(ident, name, native, arg, args, native_id))
        if native in _DELEGATES and isinstance(args, dict):
            events.append(self._agent_started(block.id, ident, args))
        elif name == "Todo":
            self._planned(self._tasks.called(native, native_id, args), events)

    def _agent_started(self, native_id: str, ident: str, args: dict[str, object]) -> ev.AgentStarted:
        name, task, prompt = args.get("subagent_type"), args.get("description"), args.get("prompt")
        name = clean_line(name) if isinstance(name, str) and name else "agent"
        task = task if isinstance(task, str) else prompt
        path = self._agents.begin(native_id, name, self._agent)
        if args.get("run_in_background") is True:
            self._add_background(path)
        task = clean_line(task) if isinstance(task, str) else ""
        return ev.AgentStarted(path, name, task, call=ident)

    def _add_background(self, path: str) -> None:
        """The subagent outlives the call that started it."""
        remember(self._background, path, None, _AGENTS_AT_MOST)

    def _user(self, line: wire.UserLine, raw: bytes) -> list[Event]:
        events: list[Event] = []
        content = line.message.content
        for block in content if type(content) is list else _blocks(content):
            if block.tool_use_id:
                self._result(block, raw, events)
            elif block.text:
                text = clean_text(block.text)
                own = line.isSynthetic and not self._agent  # text of the CLI, not of the user
                events.append((ev.Notice if own else ev.User)(text))
        return events

    def _result(self, block: wire.ContentBlock, raw: bytes, events: list[Event]) -> None:
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
        result = ToolResult(ident, shown, details, failed, exit_code, None, native_id)
        events.append(result)
        if self._plans:
            self._planned(self._tasks.ended(native_id, text), events)
        if not path:
            return
        if path in self._background or in_background(text):
            self._add_background(path)
        else:
            events.append(ev.AgentEnded(path, failed))

    def _planned(self, plan: list[ev.TodoTask] | None, events: list[Event]) -> None:
        if plan is not None:
            events.append(ev.TodoState(plan).as_state())

    def _stream_event(self, line: wire.StreamEvent, raw: bytes) -> list[Event]:
        event = line.event
        events: list[Event] = []
        partial = self._partial.get(self._agent)
        kind, delta = event.type, event.delta
        if kind == "content_block_delta":
            if partial is not None and delta is not None:
                if delta.text and not self._agent:
                    self._rounds[-1] = True
                events += partial.delta(event.index, delta.text or delta.thinking, delta.partial_json)
        elif kind == "message_start":
            if partial is None and len(self._partial) < _AGENTS_AT_MOST:
                partial = self._partial[self._agent] = PartialBlocks(self)
            if partial is not None:
                partial.message_started()
            self._read_tokens(event.message)
        elif kind == "message_delta":
            reason = clean_line(delta.stop_reason or "") if delta else ""
            usage = _with_read(_usage(event.usage), self._read.pop(self._agent, None))
            events.append(ev.TurnEnded(usage, None, reason))
        elif partial is not None:
            if kind == "content_block_start" and event.content_block is not None:
                events += self._block_started(partial, event.index, event.content_block)
            elif kind == "content_block_stop":
                partial.block_stopped(event.index)
            elif kind == "message_stop":
                partial.message_stopped()
        return events

    def _read_tokens(self, message: object) -> None:
        """The tokens read are reported when a message begins, those written when it ends."""
        start = converted(message, wire.MessageStart)
        usage = None if start is None else _usage(start.usage)
        if usage is not None and len(self._read) < _AGENTS_AT_MOST:
            self._read[self._agent] = usage

    def _block_started(self, partial: PartialBlocks, index: int, block: wire.ContentBlock) -> list[Event]:
        if block.type in _CALLS:
            native, native_id = clean_line(block.name), clean_line(block.id)
            partial.call_started(index, self.call_id(native_id), wire.COMMON_NAMES.get(native, native))
        elif block.type in ("text", "thinking"):
            partial.block_started(index, thought=block.type == "thinking")
            if block.text or block.thinking:
                return partial.delta(index, block.text or block.thinking, "")
        return []

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
                return [ev.RunStarted(session, model, cwd)]
            case "status" if line.status == "requesting":
                return [ev.TurnStarted()]
            case "api_retry":
                return self._retry(line)
            case "task_progress" if line.tool_use_id in self._open_calls:
                details = {"progress": clean_line(line.description or "")}
                return [ev.ToolUpdate(self._open_calls[line.tool_use_id], details)]
            case "task_notification":
                path = self._agents.get(line.tool_use_id)
                if path in self._background:
                    del self._background[path]
                    return [ev.AgentEnded(path, line.status != "completed", _usage(line.usage))]
            case "compact_boundary":
                return [ev.CompactionState(at="boundary").as_state()]
        return []

    def _retry(self, line: wire.System) -> list[Event]:
        reason = clean_line(line.error if isinstance(line.error, str) else "")
        status = f" {line.error_status}" if line.error_status else ""
        text = f"API error{status}{f' ({reason})' if reason else ''}, retry {line.attempt} of {line.max_retries}"
        again = ev.RetryState(reason, line.attempt, line.max_retries, line.retry_delay_ms / 1000)
        return [again.as_state(), ev.Notice(text, "warning")]

    def _failed(self, content: str | list[wire.ContentBlock]) -> list[Event]:
        text = clean_text("\n".join(block.text for block in _blocks(content) if block.text)) or "the model API failed"
        self._last_error = text
        return [ev.Error(text)]

    def _ended(self, line: wire.ClaudeResult, raw: bytes) -> list[Event]:
        events: list[Event] = []
        # A background subagent opens another round before the first has its result: a result is the oldest round's.
        round_has_text = self._rounds[0]
        if len(self._rounds) > 1:
            del self._rounds[0]
        else:
            self._rounds[0], self._begun = False, False
        result = line.result if isinstance(line.result, str) else ""
        if line.is_error:
            text = clean_text(result) or "; ".join(clean_line(item) for item in line.errors if isinstance(item, str))
            text = text or clean_line(line.subtype)
            if text != self._last_error:
                events.append(ev.Error(text))
        elif result and not round_has_text:
            # The answer to one of the CLI's own commands stands nowhere but here.
            events.append(Text(clean_text(result), self.new_block()))
        self._last_error = ""
        refused = [] if self.attended else _refused(line.permission_denials)
        events += [ev.Notice(f"refused: {call}", "warning") for call in refused]
        usage, reason = _usage(line.usage), clean_line(line.stop_reason or line.subtype)
        reason = REFUSED if refused and not line.is_error else reason
        events.append(ev.RunEnded(usage, line.total_cost_usd, reason, line.is_error))
        return events


_HANDLERS: dict[type, Handler[ClaudeSource]] = {
    wire.Assistant: ClaudeSource._assistant,
    wire.UserLine: ClaudeSource._user,
    wire.StreamEvent: ClaudeSource._stream_event,
    wire.System: ClaudeSource._system,
    wire.ClaudeResult: ClaudeSource._ended,
}


def _blocks(content: str | list[wire.ContentBlock]) -> list[wire.ContentBlock]:
    return [wire.ContentBlock(type="text", text=content)] if isinstance(content, str) else content


def _joined(content: object) -> str:
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


def _usage(usage: wire.ClaudeTokenUsage | None) -> ev.Usage | None:
    if usage is None:
        return None
    return ev.Usage(
        usage.input_tokens,
        usage.output_tokens,
        usage.cache_read_input_tokens,
        usage.cache_creation_input_tokens,
        None,
        usage.total_tokens,
    )


def _refused(denials: object) -> list[str]:
    """The calls that were refused without a user to ask, in a few words each."""
    calls = []
    for denial in denials[:_REFUSED_AT_MOST] if isinstance(denials, list) else []:
        native = denial.get("tool_name") if isinstance(denial, dict) else None
        if isinstance(native, str):
            name = wire.COMMON_NAMES.get(native, native)
            calls.append(clean_line(f"{name} {preview(denial.get('tool_input'), name)}").rstrip())
    return calls


def _with_read(ended: ev.Usage | None, began: ev.Usage | None) -> ev.Usage | None:
    """The tokens of a message: those it began with where its end does not give them."""
    if ended is None or began is None:
        return ended
    return replace(
        ended,
        input_tokens=ended.input_tokens or began.input_tokens,
        cache_read_tokens=ended.cache_read_tokens or began.cache_read_tokens,
        cache_write_tokens=ended.cache_write_tokens or began.cache_write_tokens,
    )


def _is_silent(line: bytes) -> bool:
    head = reread(line, _type_decoder)
    return head is not None and head.type in wire.SILENT


def recognises(line: bytes) -> bool:
    try:
        msgspec.json.decode(line, type=Line)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return False
    return b'"session_id"' in line
