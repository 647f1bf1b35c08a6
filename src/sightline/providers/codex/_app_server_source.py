"""The notifications of Codex's app-server as events.

Rules of this wire:

- One JSON message per line. Everything names its thread; threads other than the one that was prompted are subagents.
- An item has a type and an id that ties `item/started`, its deltas and `item/completed` together. The end has the whole
  of what the deltas brought, and more where some were not sent: of a command, what it printed before deltas were sent.
- A subagent's thread speaks before the call that started it has ended, which is where it is named. Its messages until
  then are held back.
- A turn is all the work on one prompt. `thread/tokenUsage/updated` follows each request to the model.
- An `error` that will be retried is marked; another one is repeated by `turn/completed`.
"""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import astuple

import sightline.events as ev
from sightline.events import Event, Reasoning, Text, ToolResult, ToolUse
from sightline.events.stamping import of_agent
from sightline.providers._agents import AgentPaths
from sightline.providers._failure import hint_in, human_message
from sightline.providers._preview import preview
from sightline.providers._source import ProviderSource
from sightline.providers.codex import _wire
from sightline.providers.codex._calls import DESCRIPTIONS, OUTCOMES, Call
from sightline.text import clean_line, clean_output, clean_text, clean_value

# The wire, as far as it is read. Fields that vary in shape are `object`: one odd field must not spoil a whole line.


class OfThread(msgspec.Struct, gc=False):
    threadId: str = ""


class CodexItem(msgspec.Struct, gc=False):
    """Of any type; each has some of these."""

    type: str
    id: str = ""
    text: str = ""
    summary: list[str] = []
    content: object = None
    command: object = ""
    aggregatedOutput: str | None = None
    exitCode: int | None = None
    durationMs: float | None = None
    status: object = ""
    changes: list[dict[str, object]] = []
    server: str = ""
    tool: object = ""
    arguments: object = None
    result: object = None
    error: object = None
    query: str | None = None
    action: object = None
    prompt: str | None = None
    receiverThreadIds: list[str] = []
    agentsStates: dict[str, _wire.CollabState] = {}
    path: object = ""


class ItemParams(OfThread, gc=False, kw_only=True):
    item: CodexItem


class CodexDelta(OfThread, gc=False, kw_only=True):
    itemId: str = ""
    delta: str = ""
    summaryIndex: int = 0
    contentIndex: int = 0


class PlanStep(msgspec.Struct, gc=False):
    step: str = ""
    status: str = "pending"


class CodexPlan(OfThread, gc=False, kw_only=True):
    plan: list[PlanStep] = []


class AppServerTokens(msgspec.Struct, gc=False):
    """In the order of `Usage`."""

    inputTokens: int | None = None
    outputTokens: int | None = None
    cachedInputTokens: int | None = None
    cacheWriteInputTokens: int | None = None
    reasoningOutputTokens: int | None = None
    totalTokens: int | None = None


class AppServerTokenUsage(msgspec.Struct, gc=False):
    last: AppServerTokens
    modelContextWindow: int | None = None


class Used(OfThread, gc=False, kw_only=True):
    tokenUsage: AppServerTokenUsage


class AppServerFailure(msgspec.Struct, gc=False):
    message: str = ""


class Failed(OfThread, gc=False, kw_only=True):
    error: AppServerFailure
    willRetry: bool = False


class CodexTurn(msgspec.Struct, gc=False):
    id: str = ""
    status: str = ""
    error: AppServerFailure | None = None


class TurnParams(OfThread, gc=False, kw_only=True):
    turn: CodexTurn


class AppServerWarning(OfThread, gc=False, kw_only=True):
    message: str = ""
    summary: str = ""
    details: str | None = None


class Rerouted(OfThread, gc=False, kw_only=True):
    toModel: str = ""


class ResolvedRequest(OfThread, gc=False, kw_only=True):
    requestId: object = None


_HELD_AT_MOST = 1024  # messages of threads that are not named yet
_SHOWN_AT_MOST = 64  # texts that have begun and not ended
_WORDS = frozenset(("agentMessage", "reasoning", "plan"))
# The prompt, which is known, and what other notifications report as well.
_SILENT = frozenset(
    ("userMessage", "hookPrompt", "functionCallOutput", "subAgentActivity", "contextCompaction", "sleep")
)
_STATUSES = {"inProgress": "in_progress"}
_TOOLS = {"spawnAgent": "spawn_agent", "sendInput": "send_input", "resumeAgent": "resume_agent"}
_ENDED = frozenset(("completed", "errored", "shutdown", "interrupted", "notFound"))


class AppServerSource(ProviderSource):
    """Everything about the run of one turn, and what follows from turn to turn."""

    provider = "codex"
    thread = ""  # the one that is prompted
    _agent = ""  # whose message is being read
    _last_error = ""

    def __init__(self) -> None:
        super().__init__()
        self._agents = AgentPaths()
        self._spawning: set[str] = set()  # calls that start a subagent
        self._held: list[tuple[str, dict[str, object], bytes]] = []
        self._turns: dict[str, str] = {}  # of subagents, by their thread
        self._shown: dict[tuple[str, int], tuple[int, int]] = {}  # item and part → block, characters shown

    def notified(self, method: str, params: dict[str, object], line: bytes) -> list[Event]:
        """The events of a notification. What it holds may be anything."""
        known = _HANDLERS.get(method)
        if known is None:
            return []
        if self._spawning and len(self._held) < _HELD_AT_MOST and self._is_stranger(params.get("threadId")):
            self._held.append((method, params, line))
            return []
        shape, handler = known
        try:
            if method != _OUTPUT:
                params = clean_value(params)
            parsed: Any = msgspec.convert(params, shape)
        except (ValueError, RecursionError) as error:
            return self.unreadable(line, str(error))
        events: list[Event] = []
        path = self._path_of(parsed.threadId, events)
        if path and method == _TURN_ENDED:  # which is the end of the subagent, an event of its parent
            ended = self._agent_ended(parsed.threadId, failed=parsed.turn.status == "failed")
            return [*events, *of_agent(path.rpartition("/")[0], ended)]
        self._agent = path
        made = handler(self, parsed)
        self._agent = ""
        events += of_agent(path, made) if path else made
        if method == _COMPLETED and parsed.item.tool == "spawnAgent":
            events += self._release()
        return events

    def thread_of(self, path: str) -> tuple[str, str]:
        """The thread and the turn of a subagent that runs; empty when it does not."""
        thread = next((thread for thread in self._turns if self._agents.get(thread) == path), "")
        return thread, self._turns.get(thread, "")

    def _is_stranger(self, thread: object) -> bool:
        return isinstance(thread, str) and thread not in ("", self.thread) and thread not in self._agents

    def _release(self) -> list[Event]:
        """What was held back, once its thread is named, or no call is left that could name it."""
        held, self._held = self._held, []
        return [event for message in held for event in self.notified(*message)]

    def _on_turn_started(self, params: TurnParams) -> list[Event]:
        if self._agent:
            self._turns[params.threadId] = params.turn.id
            if len(self._turns) > _SHOWN_AT_MOST:
                del self._turns[next(iter(self._turns))]
        return []

    def _path_of(self, thread: str, events: list[Event]) -> str:
        """The path of the subagent a thread is; one that was never announced begins here."""
        if not thread or not self.thread or thread == self.thread:
            return ""
        path = self._agents.get(thread)
        if not path:
            path = self._agents.begin(thread, "agent")
            events.append(ev.AgentStarted(path, "agent"))
        return path

    def _on_text(self, delta: CodexDelta) -> list[Event]:
        return self._add_text(Text, delta.itemId, 0, delta.delta)

    def _on_thought(self, delta: CodexDelta) -> list[Event]:
        return self._add_text(Reasoning, delta.itemId, delta.summaryIndex + delta.contentIndex, delta.delta)

    def _add_text(self, kind: type[Text] | type[Reasoning], item: str, part: int, text: str) -> list[Event]:
        if not text:
            return []
        block, shown = self._shown.get((item, part), (0, 0))
        block = block or self.new_block()
        self._shown[item, part] = (block, shown + len(text))
        if len(self._shown) > _SHOWN_AT_MOST:
            del self._shown[next(iter(self._shown))]
        return [kind(text, block)]

    def _rest(self, kind: type[Text] | type[Reasoning], item: str, parts: list[str]) -> list[Event]:
        """What the end of a text has that its deltas had not."""
        events: list[Event] = []
        for number, text in enumerate(parts):
            shown = self._shown.get((item, number), (0, 0))[1]
            events += self._add_text(kind, item, number, text[shown:])
            self._shown.pop((item, number), None)
        return events

    def _on_started(self, params: ItemParams) -> list[Event]:
        item = params.item
        item.id = clean_line(item.id)
        if item.type in _WORDS or item.type in _SILENT or item.id in self._open_calls:
            return []
        if item.tool == "spawnAgent":
            self._spawning.add(item.id)
        return [self._use(item)]

    def _on_completed(self, params: ItemParams) -> list[Event]:
        item = params.item
        item.id = clean_line(item.id)
        match item.type:
            case "agentMessage" | "plan":
                return self._rest(Text, item.id, [item.text])
            case "reasoning":
                thoughts = item.content if isinstance(item.content, list) else []
                return self._rest(Reasoning, item.id, item.summary or [str(part) for part in thoughts])
            case "contextCompaction":
                return [ev.Notice("Codex compacted the conversation")]
            case kind if kind in _SILENT:
                return []
        events: list[Event] = [] if item.id in self._open_calls else [self._use(item)]
        ident = self.close_call(item.id)
        call = _call_of(item)
        content, failed = OUTCOMES[type(call)](call) if type(call) in OUTCOMES else ("", item.status == "failed")
        self._spawning.discard(item.id)
        events += self._agents_changed(item, ident)
        if item.tool == "wait":
            content = ""  # the text of a subagent was shown as its own
        code, took = item.exitCode, None if item.durationMs is None else item.durationMs / 1000
        details = _details_of(item)
        result = ToolResult(ident, content, details, failed, code, took, item.id)
        return [*events, result]

    def _use(self, item: CodexItem) -> ToolUse:
        ident, call = self.open_call(item.id), _call_of(item)
        if call is None:
            args = {"path": item.path} if item.path else item.arguments
            name, native, arg = item.type, item.type, preview(args)
        else:
            name, native, arg, args = DESCRIPTIONS[type(call)](call)
        return ToolUse(ident, clean_line(name), clean_line(native), arg, args, item.id)

    def _on_output(self, delta: CodexDelta) -> list[Event]:
        text = clean_output(delta.delta)
        ident = self._open_calls.get(clean_line(delta.itemId))
        return [ev.ToolOutput(ident, text)] if text and ident else []

    def _agents_changed(self, item: CodexItem, call: str) -> list[Event]:
        events: list[Event] = []
        if item.tool == "spawnAgent":
            for thread in item.receiverThreadIds:
                if thread not in self._agents:
                    path = self._agents.begin(thread, "agent", self._agent)
                    events.append(ev.AgentStarted(path, "agent", item.prompt or "", "", call))
        for thread, state in item.agentsStates.items():
            if state.status in _ENDED:
                events += self._agent_ended(thread, failed=state.status in ("errored", "notFound"))
        return events

    def _agent_ended(self, thread: str, *, failed: bool) -> list[Event]:
        self._turns.pop(thread, None)
        path = self._agents.end(thread)
        return [ev.AgentEnded(path, failed)] if path else []

    def _on_plan(self, params: CodexPlan) -> list[Event]:
        plan = ev.TodoState([ev.TodoTask(step.step, _STATUSES.get(step.status, step.status)) for step in params.plan])
        ident = self.open_call("")
        return [ToolUse(ident, "Todo", "update_plan", "", {"items": plan.value}), plan.as_state(), ToolResult(ident)]

    def _on_tokens(self, params: Used) -> list[Event]:
        last, window = params.tokenUsage.last, params.tokenUsage.modelContextWindow
        ended = ev.TurnEnded(ev.Usage(*astuple(last)))
        if self._agent:
            return [ended]
        return [ended, ev.ContextState(last.totalTokens, window).as_state()]

    def _on_error(self, params: Failed) -> list[Event]:
        message = params.error.message
        if params.willRetry:
            again = ev.RetryState(message).as_state()
            return [again, ev.Notice(message, "warning")]
        if not self._agent:
            self._last_error = message
        return [_error(message)]

    def _on_turn_ended(self, params: TurnParams) -> list[Event]:
        turn = params.turn
        failed = turn.status == "failed"
        self._spawning.clear()
        events = self._release()
        message = turn.error.message if turn.error is not None else ""
        if failed and (not message or message != self._last_error):
            events.append(_error(message))
        self._last_error = ""
        self._shown.clear()
        reason = "cancelled" if turn.status == "interrupted" else ""
        return [*events, ev.RunEnded(None, None, reason, failed)]

    def _on_warning(self, params: AppServerWarning) -> list[Event]:
        text = params.message or params.summary
        return [ev.Notice(text, "warning", params.details or "")] if text else []

    def _on_rerouted(self, params: Rerouted) -> list[Event]:
        return [ev.ModelState(clean_line(params.toModel)).as_state()]

    def _on_resolved(self, params: ResolvedRequest) -> list[Event]:
        return [ev.RequestResolved(clean_line(str(params.requestId)))]


def _error(message: str) -> ev.Error:
    text = human_message(clean_text(message)) or "codex reported an error"
    return ev.Error(text, hint_in(message))


_OUTPUT, _COMPLETED, _TURN_ENDED = "item/commandExecution/outputDelta", "item/completed", "turn/completed"
_HANDLERS: dict[str, tuple[type, Callable[[AppServerSource, Any], list[Event]]]] = {
    "item/started": (ItemParams, AppServerSource._on_started),
    _COMPLETED: (ItemParams, AppServerSource._on_completed),
    "item/agentMessage/delta": (CodexDelta, AppServerSource._on_text),
    "item/reasoning/summaryTextDelta": (CodexDelta, AppServerSource._on_thought),
    "item/reasoning/textDelta": (CodexDelta, AppServerSource._on_thought),
    _OUTPUT: (CodexDelta, AppServerSource._on_output),
    "turn/plan/updated": (CodexPlan, AppServerSource._on_plan),
    "thread/tokenUsage/updated": (Used, AppServerSource._on_tokens),
    "turn/started": (TurnParams, AppServerSource._on_turn_started),
    _TURN_ENDED: (TurnParams, AppServerSource._on_turn_ended),
    "error": (Failed, AppServerSource._on_error),
    "warning": (AppServerWarning, AppServerSource._on_warning),
    "configWarning": (AppServerWarning, AppServerSource._on_warning),
    "deprecationNotice": (AppServerWarning, AppServerSource._on_warning),
    "model/rerouted": (Rerouted, AppServerSource._on_rerouted),
    "serverRequest/resolved": (ResolvedRequest, AppServerSource._on_resolved),
}


# Items, which are mostly those of `codex exec` under other names


def _call_of(item: CodexItem) -> Call | None:
    """The same call as an item of `codex exec`; None for a type that has none."""
    status = _STATUSES.get(item.status, item.status) if isinstance(item.status, str) else ""
    match item.type:
        case "commandExecution":
            return _wire.CodexCommand(item.id, item.command, item.aggregatedOutput, item.exitCode, status)
        case "fileChange":
            return _wire.FileChange(
                item.id, [_wire.CodexFileChange(_path(change), _kind(change)) for change in item.changes], status
            )
        case "mcpToolCall":
            tool = item.tool if isinstance(item.tool, str) else ""
            return _wire.McpCall(item.id, item.server, tool, item.arguments, item.result, item.error, status)
        case "webSearch":
            return _wire.WebSearch(item.id, item.query, item.action)
        case "collabAgentToolCall":
            tool = _TOOLS.get(item.tool, item.tool) if isinstance(item.tool, str) else ""
            return _wire.CollabCall(item.id, tool, item.receiverThreadIds, item.prompt, item.agentsStates, status)
    return None


def _details_of(item: CodexItem) -> dict[str, object] | None:
    """What a view can draw: the diff of a change to files."""
    diff = diff_of(item.changes)
    if item.type != "fileChange" or not diff:
        return None
    return ev.DiffFact(path=_path(item.changes[0]), diff=diff).as_details()


def diff_of(changes: list[dict[str, object]]) -> str:
    """One unified diff of them all. Of a file that is new or removed the wire has its text instead."""
    return "".join([_diff(change) for change in changes])


def _diff(change: dict[str, object]) -> str:
    path, kind, text = _path(change), _kind(change), change.get("diff")
    if not isinstance(text, str) or not text:
        return ""
    before, after = ("/dev/null" if kind == "add" else path), ("/dev/null" if kind == "delete" else path)
    if kind in ("add", "delete"):
        lines = text.removesuffix("\n").split("\n")
        sign, count = ("+", f"-0,0 +1,{len(lines)}") if kind == "add" else ("-", f"-1,{len(lines)} +0,0")
        text = f"@@ {count} @@\n" + "".join([f"{sign}{line}\n" for line in lines])
    end = "" if text.endswith("\n") else "\n"
    return f"--- {before}\n+++ {after}\n{text}{end}"


def _path(change: dict[str, object]) -> str:
    path = change.get("path")
    return path if isinstance(path, str) else ""


def _kind(change: dict[str, object]) -> str:
    kind = change.get("kind")
    kind = kind.get("type") if isinstance(kind, dict) else kind
    return kind if isinstance(kind, str) else ""
