"""What a provider tells, told as a session's own.

Rules:

- A provider counts its calls, blocks, subagents and requests anew with every prompt. Here they get names that are new
  in the session.
- What a call prints is in its artifact before it is told.
- Nothing stays open when a run is over: calls, subagents and requests that had no end get one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from sightline.agent import Secrets
from sightline.events import (
    AgentEnded,
    AgentStarted,
    Event,
    Reasoning,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    User,
)
from sightline.host._session import Session
from sightline.journal import Artifact
from sightline.text import clean_output

_OPEN_AT_MOST = 4096  # of calls, and of subagents
# Fields with what a provider, its model or its tools say.
_TOLD = frozenset(
    {"text", "content", "delta", "arg", "args", "details", "choices", "value", "hint", "task", "answer", "raw"}
)
_STOPPED = "stopped before it ended; what it had done by then is not known"


class Retelling:
    """The events of one run."""

    def __init__(
        self,
        session: Session,
        prompt: str,
        agents: dict[str, int],
        on_run: Callable[[RunStarted], None],
        secrets: Secrets,
    ) -> None:
        """`agents`: how many subagents of each name the session has had."""
        self._session = session
        self._secrets = secrets
        self._prompt = prompt.strip()
        self._counts = agents
        self._on_run = on_run
        self._calls: dict[str, str] = {}  # theirs → ours, as long as they are open
        self._outputs: dict[str, Artifact] = {}  # by our id
        self._paths: dict[str, str] = {}  # of every subagent there was
        self._open_agents: dict[str, str] = {}  # ours → our path of its parent
        self._blocks: dict[str, tuple[int, int]] = {}  # of each agent the last: theirs, ours
        self._requests: dict[str, str] = {}  # ours → theirs
        self.ended = False

    def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.agent:
                event = replace(event, agent=self._path(event.agent))
            handler = _HANDLERS.get(type(event))
            told: Event | None = event if handler is None else handler(self, event)
            if told is not None:
                self._session.publish(self._masked(told))

    def _masked(self, event: Event) -> Event:
        """Without secrets, wherever in it they are."""
        if self._secrets.any is None:
            return event
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        masked = {name: self._secrets.masked_value(value) for name, value in fields.items() if name in _TOLD}
        return replace(event, **masked)

    def native_request(self, request: str) -> str:
        """The provider's name of a request that is open; empty when it is not."""
        return self._requests.get(request, "")

    def close(self) -> None:
        """Give everything that is open an end."""
        for request in list(self._requests):
            self._session.publish(RequestResolved(request))
        self._requests.clear()
        for call in list(self._calls.values()):
            self._close_output(call)
            self._session.publish(ToolResult(call, _STOPPED, {"ended": "stopped"}, True))
        self._calls.clear()
        for path, parent in reversed(self._open_agents.items()):
            self._session.publish(AgentEnded(path, True, agent=parent))
        self._open_agents.clear()

    def _on_user(self, event: User) -> Event | None:
        """Some say the prompt again, which was told before they were asked."""
        return None if not event.agent and event.text.strip() == self._prompt else event

    def _on_words(self, event: Text | Reasoning) -> Event:
        theirs, ours = self._blocks.get(event.agent, (-1, 0))
        if event.block != theirs:
            ours = self._session.seq + 1  # its own number: no other block has it
            self._blocks[event.agent] = (event.block, ours)
        return replace(event, block=ours)

    def _on_call(self, event: ToolUse | ToolArgs | ToolUpdate) -> Event:
        return replace(event, id=self._call(event.id))

    def _on_output(self, event: ToolOutput) -> Event | None:
        call = self._call(event.id)
        if event.stream == "status":
            return replace(event, id=call)
        data = event.content.encode("utf-8", "replace")
        if not data:
            return None
        artifact = self._outputs.get(call)
        if artifact is None:
            artifact = self._outputs[call] = self._session.artifact_for(call)
        offset = artifact.size
        artifact.write(event.stream, data)
        # As the journal reads it back from the artifact, so that live and replayed cannot differ.
        return replace(event, id=call, content=clean_output(data.decode()), offset=offset, dropped=0, size=len(data))

    def _on_result(self, event: ToolResult) -> Event:
        call = self._call(event.id)
        del self._calls[event.id]
        self._close_output(call)
        return replace(event, id=call)

    def _on_agent_started(self, event: AgentStarted) -> Event:
        parent, _, last = event.path.rpartition("/")
        name = last.rpartition("-")[0] or last
        ours = f"{self._path(parent)}/{name}" if parent else name
        self._counts[ours] = self._counts.get(ours, 0) + 1
        ours = f"{ours}-{self._counts[ours]}"
        if len(self._paths) < _OPEN_AT_MOST:
            self._paths[event.path] = ours
        self._open_agents[ours] = event.agent
        return replace(event, path=ours, call=self._calls.get(event.call, ""))

    def _on_agent_ended(self, event: AgentEnded) -> Event:
        path = self._path(event.path)
        self._open_agents.pop(path, None)
        return replace(event, path=path)

    def _on_request(self, event: Request) -> Event:
        ours = f"request-{self._session.seq + 1}"
        self._requests[ours] = event.id
        details: Any = event.details
        if isinstance(details, dict) and details.get("call") in self._calls:
            details = {**details, "call": self._calls[details["call"]]}
        return replace(event, id=ours, details=details)

    def _on_resolved(self, event: RequestResolved) -> Event | None:
        ours = next((ours for ours, theirs in self._requests.items() if theirs == event.id), "")
        self._requests.pop(ours, None)
        return replace(event, id=ours) if ours else None

    def _on_run_started(self, event: RunStarted) -> Event:
        if not event.agent:
            self.ended = False
            self._on_run(event)
        return event

    def _on_run_ended(self, event: RunEnded) -> Event:
        if not event.agent:
            self.ended = True
            if event.is_error or event.exit_code is not None or event.stop_reason in ("cancelled", "timeout"):
                self.close()  # nothing more comes of it
        return event

    def _call(self, theirs: str) -> str:
        ours = self._calls.get(theirs)
        if ours is None:
            if len(self._calls) >= _OPEN_AT_MOST:
                del self._calls[next(iter(self._calls))]
            ours = self._calls[theirs] = self._session.new_call()
        return ours

    def _path(self, theirs: str) -> str:
        return self._paths.get(theirs, theirs)

    def _close_output(self, call: str) -> None:
        artifact = self._outputs.pop(call, None)
        if artifact is not None:
            self._session.flush()
            artifact.close()
            self._session.forget_artifact(call)


_HANDLERS: dict[type, Callable[[Retelling, Any], Event | None]] = {
    User: Retelling._on_user,
    Text: Retelling._on_words,
    Reasoning: Retelling._on_words,
    ToolUse: Retelling._on_call,
    ToolArgs: Retelling._on_call,
    ToolUpdate: Retelling._on_call,
    ToolOutput: Retelling._on_output,
    ToolResult: Retelling._on_result,
    AgentStarted: Retelling._on_agent_started,
    AgentEnded: Retelling._on_agent_ended,
    Request: Retelling._on_request,
    RequestResolved: Retelling._on_resolved,
    RunStarted: Retelling._on_run_started,
    RunEnded: Retelling._on_run_ended,
}
