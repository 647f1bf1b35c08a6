"""Codex CLI: `codex exec --json`.

Rules of this wire:

- `thread.started`, `turn.started`, then items, then `turn.completed` or `turn.failed`. A turn is all the work on one
  prompt, so its end is the end of the run.
- An item has a type and an id that ties `item.started` to `item.completed`; there are no tool names. Texts and thoughts
  come whole, as `item.completed` only. A call may complete without having been started, or never complete.
- A `todo_list` stays open for the whole turn: its start and each update is one call, its completion is none.
- A `web_search` knows its query only when it completes. (It also has the key `id` twice; the last one counts.)
- A subagent is a thread. `spawn_agent` names it when it completes; `wait` reports its end and its last words. Nothing
  else of it is on the wire, and newer models' spawns are not even that.
- When the connection breaks, an `error` line reads `Reconnecting... n/m` and texts that were already sent come again
  under new ids. Any other `error` line is a failure, and `turn.failed` repeats it.
"""

import re

import msgspec
from msgspec.structs import astuple

import sightline.events as ev
from sightline.events import Event, Reasoning, Text, ToolResult, ToolUse
from sightline.providers._agents import AgentPaths
from sightline.providers._failure import hint_in, human_message
from sightline.providers._preview import preview, preview_command
from sightline.providers._provider import refused_details
from sightline.providers._resend import Resend
from sightline.providers._source import Handler, ProviderSource, first_object, is_suspect, reread
from sightline.providers.codex import _wire as wire
from sightline.providers.codex._calls import DESCRIPTIONS, OUTCOMES, Call, plan_of
from sightline.providers.codex._wire import CodexCommand, CollabCall, ItemCompleted, ItemStarted, TodoList
from sightline.text import clean_line, clean_text, clean_value

_SEARCHES_AT_MOST = 256
_ENDED = frozenset(("completed", "errored", "shutdown", "interrupted", "not_found"))
_ITEM_LINES = frozenset(("item.started", "item.updated", "item.completed"))

_decoder = msgspec.json.Decoder(wire.Line)
_decode = _decoder.decode
_other_decoder = msgspec.json.Decoder(wire.OtherItem)
_reconnecting = re.compile(r"Reconnecting\W+(\d{1,6})/(\d{1,6})", re.ASCII).match


class CodexSource(ProviderSource):
    provider = "codex"
    _settled = 0  # the last block before a call that was carried out
    _plan: ev.TodoState | None = None
    _last_error = ""
    _searches: tuple[str, ...] = ()  # begun, query not known yet

    # There from the first text, thought or subagent.
    _words: Resend | None = None
    _thoughts: Resend | None = None
    _agents: AgentPaths | None = None

    def parse_events(self, line: bytes) -> list[Event]:
        try:
            parsed = _decode(line)
        except (ValueError, RecursionError) as error:
            if (parsed := reread(line, _decoder)) is None:
                return self._other_item(line) or self.unreadable(line, str(error))
        kind = type(parsed)
        if kind is ItemCompleted:
            item = parsed.item
            return _COMPLETED[type(item)](self, item, line)
        if kind is ItemStarted or kind is wire.ItemUpdated:
            item = parsed.item
            return _STARTED[type(item)](self, item, line)
        return _HANDLERS[kind](self, parsed, line)

    def end_events(self) -> list[Event]:
        searches, self._searches = self._searches, ()
        return [self._use(wire.WebSearch(ident), b"") for ident in searches]

    def _message(self, item: wire.AgentMessage, line: bytes) -> list[Event]:
        text = item.text
        if (0x5C in line or 0x7F in line or not line.isascii()) and is_suspect(line):  # mostly spares a call
            text = clean_text(text)
        if not text:
            return []
        words = self._words
        if words is None:
            words = self._words = Resend()
        elif words.expecting:
            return self._resent(text, Text, words)
        self._blocks_seen = block = self._blocks_seen + 1
        words.show(text, block)
        return [Text(text, block)]

    def _thought(self, item: wire.Thought, line: bytes) -> list[Event]:
        text = clean_text(item.text)
        if not text:
            return []
        thoughts = self._thoughts
        if thoughts is None:
            thoughts = self._thoughts = Resend()
        elif thoughts.expecting:
            return self._resent(text, Reasoning, thoughts)
        block = self.new_block()
        thoughts.show(text, block)
        return [Reasoning(text, block)]

    def _resent(self, text: str, kind: type[Text] | type[Reasoning], texts: Resend) -> list[Event]:
        """A text after a broken stream: it may be one that was shown, or continue it."""
        rest, repeats = texts.rest(text)
        return self.show_rest(texts, text, rest, texts.continues, repeats=repeats, kind=kind)

    def _nothing(self, item: object, line: bytes) -> list[Event]:
        return []

    def _warned(self, item: wire.CodexWarning, line: bytes) -> list[Event]:
        return [ev.Notice(clean_text(item.message), "warning")]

    def _command_started(self, item: CodexCommand, line: bytes) -> list[Event]:
        native_id, command = item.id, item.command
        if native_id in self._open_calls:
            return []
        arg = preview_command(command)
        if not (type(command) is str and command.isprintable()) and is_suspect(line):
            command = clean_value(command)
        if not native_id.isprintable():
            native_id = clean_line(native_id)
        ident = self.open_call(native_id)
        return [ToolUse(ident, "Bash", "command_execution", arg, {"command": command}, native_id)]

    def _call_started(self, item: Call, line: bytes) -> list[Event]:
        if item.id in self._open_calls:
            return []
        return [self._use(item, line, opens=True)]

    def _search_started(self, item: wire.WebSearch, line: bytes) -> list[Event]:
        if item.query:
            return self._call_started(item, line)
        if item.id not in self._searches:
            self._searches = (*self._searches, item.id)[-_SEARCHES_AT_MOST:]
        return []

    def _use(self, item: Call, line: bytes, *, opens: bool = False) -> ToolUse:
        name, native, arg, args = DESCRIPTIONS[type(item)](item)
        native_id = clean_line(item.id)
        # A command's own words are few; its line may hold all it printed.
        plain = type(item) is CodexCommand and type(item.command) is str and item.command.isprintable()
        if not plain and is_suspect(line):
            args = clean_value(args)
        ident = self.open_call(native_id if opens else "")
        return ToolUse(ident, name, native, arg, args, native_id)

    def _command_completed(self, item: CodexCommand, line: bytes) -> list[Event]:
        native_id, content, code = item.id, item.aggregated_output or "", item.exit_code
        ident = self._open_calls.get(native_id)
        if ident is None or code != 0:
            return self._call_completed(item, line)
        del self._open_calls[native_id]
        if is_suspect(line):
            content = clean_text(content)
        self._settled = self._blocks_seen
        failed = item.status != "completed" and OUTCOMES[CodexCommand](item)[1]
        return [ToolResult(ident, content, None, failed, code, None, native_id)]

    def _call_completed(self, item: Call, line: bytes) -> list[Event]:
        native_id, code = clean_line(item.id), None
        ident = self._open_calls.pop(native_id, "")
        events: list[Event] = []
        if not ident:
            if item.id in self._searches:
                self._searches = tuple(search for search in self._searches if search != item.id)
            events.append(use := self._use(item, line))
            ident = use.id
        content, failed = OUTCOMES[type(item)](item)
        if type(item) is CollabCall:
            events += self._agents_changed(item, ident)
        elif type(item) is CodexCommand:
            code = item.exit_code
        content = clean_text(content)
        declined = isinstance(item, CodexCommand | wire.FileChange | wire.McpCall) and item.status == "declined"
        details = refused_details() if declined else None
        events.append(ToolResult(ident, content, details, failed, code, None, native_id))
        self._settled = self._blocks_seen
        return events

    def _other_item(self, raw: bytes) -> list[Event]:
        """An item of a type this version does not know; shown as a call if it looks like one, else nothing."""
        line = reread(raw, _other_decoder)
        if line is None:
            return []
        item = line.item
        native_id, native, status = item.get("id"), item.get("type"), item.get("status")
        if line.type not in _ITEM_LINES or not (isinstance(native_id, str) and isinstance(status, str)):
            return []
        native, native_id = clean_line(native) if isinstance(native, str) else "", clean_line(native_id)
        if not native:
            return []
        events: list[Event] = []
        if native_id not in self._open_calls:
            args = {key: field for key, field in item.items() if key not in ("id", "type", "status")}
            ident, arg = self.open_call(native_id), preview(args)
            events.append(ToolUse(ident, native, native, arg, clean_value(args), native_id))
        if line.type == "item.completed":
            failed = status not in ("completed", "in_progress")
            ident = self.close_call(native_id)
            events.append(ToolResult(ident, is_error=failed, native_id=native_id))
        return events

    def _planned(self, item: TodoList, line: bytes) -> list[Event]:
        self._plan = plan_of(item)
        use = self._use(item, line)
        result = ToolResult(use.id, native_id=use.native_id)
        return [use, self._plan.as_state(), result]

    def _plan_completed(self, item: TodoList, line: bytes) -> list[Event]:
        """The turn is about to end. This repeats the last plan, which is shown only if it never was."""
        if self._plan is None:
            return self._planned(item, line)
        plan = plan_of(item)
        return [] if plan == self._plan else [plan.as_state()]

    def _agents_changed(self, item: wire.CollabCall, call: str) -> list[Event]:
        events: list[Event] = []
        agents = self._agents
        if agents is None:
            agents = self._agents = AgentPaths()
        if item.tool == "spawn_agent":
            for thread in item.receiver_thread_ids:
                if thread not in agents:
                    path, task = agents.begin(thread, "agent"), clean_text(item.prompt or "")
                    events.append(ev.AgentStarted(path, "agent", task, call=call))
        for thread, state in item.agents_states.items():
            if state.status in _ENDED and thread in agents:
                failed = state.status in ("errored", "not_found")
                events.append(ev.AgentEnded(agents.end(thread), failed))
        return events

    def _thread_started(self, parsed: wire.ThreadStarted, line: bytes) -> list[Event]:
        events = self.end_events() if self._searches else []  # of a run that was killed
        if self._calls_seen or self._blocks_seen:  # item ids begin again with every thread
            self._open_calls.clear()
            self._forget_turn()
        events.append(ev.RunStarted(clean_line(parsed.thread_id)))
        return events

    def _turn_started(self, parsed: wire.CodexTurnStarted, line: bytes) -> list[Event]:
        return [ev.TurnStarted()]

    def _turn_completed(self, parsed: wire.TurnCompleted, line: bytes) -> list[Event]:
        events = self.end_events() if self._searches else []
        self._forget_turn()
        events.append(ev.RunEnded(None if parsed.usage is None else ev.Usage(*astuple(parsed.usage))))
        return events

    def _turn_failed(self, parsed: wire.TurnFailed, line: bytes) -> list[Event]:
        events = self.end_events()
        message = parsed.error.message if parsed.error else ""
        if message != self._last_error or not message:
            events.append(_error(message))
        self._forget_turn()
        return [*events, ev.RunEnded(is_error=True)]

    def _failed(self, parsed: wire.CodexErrorLine, line: bytes) -> list[Event]:
        message = parsed.message
        retry = _reconnecting(message) if message.startswith("Reconnecting") else None
        if retry is None:
            self._last_error = message
            return [_error(message)]
        attempt = int(retry.group(1))  # counted anew for every response
        for texts in (self._words, self._thoughts):
            if texts is not None:
                texts.broke(self._settled, once_more=attempt > 1)
        text = clean_text(message)
        again = ev.RetryState(text, attempt, int(retry.group(2)))
        return [again.as_state(), ev.Notice(text, "warning")]

    def _forget_turn(self) -> None:
        if self._words is not None:
            self._words.settle()
        if self._thoughts is not None:
            self._thoughts.settle()
        self._searches = ()
        self._plan = None
        self._last_error = ""


_STARTED: dict[type, Handler[CodexSource]] = {
    wire.AgentMessage: CodexSource._nothing,
    wire.Thought: CodexSource._nothing,
    wire.CodexWarning: CodexSource._nothing,
    wire.CodexCommand: CodexSource._command_started,
    wire.FileChange: CodexSource._call_started,
    wire.McpCall: CodexSource._call_started,
    wire.WebSearch: CodexSource._search_started,
    wire.CollabCall: CodexSource._call_started,
    wire.TodoList: CodexSource._planned,
}
_COMPLETED: dict[type, Handler[CodexSource]] = {
    wire.AgentMessage: CodexSource._message,
    wire.Thought: CodexSource._thought,
    wire.CodexWarning: CodexSource._warned,
    wire.CodexCommand: CodexSource._command_completed,
    wire.FileChange: CodexSource._call_completed,
    wire.McpCall: CodexSource._call_completed,
    wire.WebSearch: CodexSource._call_completed,
    wire.CollabCall: CodexSource._call_completed,
    wire.TodoList: CodexSource._plan_completed,
}
_HANDLERS: dict[type, Handler[CodexSource]] = {
    wire.ThreadStarted: CodexSource._thread_started,
    wire.CodexTurnStarted: CodexSource._turn_started,
    wire.TurnCompleted: CodexSource._turn_completed,
    wire.TurnFailed: CodexSource._turn_failed,
    wire.CodexErrorLine: CodexSource._failed,
}


def _error(message: str) -> ev.Error:
    return ev.Error(human_message(message) or "codex reported an error", hint_in(message))


def recognises(head: bytes) -> bool:
    line = first_object(head)
    kind = line.get("type")
    if not isinstance(kind, str):
        return False
    return kind.startswith(("thread.", "turn.", "item.")) or (kind == "error" and line.keys() == {"type", "message"})
