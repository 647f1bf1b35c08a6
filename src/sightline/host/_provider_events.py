"""What a provider tells, told as a session's own.

Rules:

- A provider counts its calls, blocks, subagents and requests anew with every prompt. Here they get names that are new
  in the session.
- What a call prints is in its artifact before it is told.
- Words and arguments that come in pieces are masked as if they came whole: what may be the beginning of a secret waits
  for the next piece; words also for whatever else the same agent does, arguments for their call. Those of several calls
  may come in turns.
- What the user says meanwhile does not split a text: it comes when the text that is being written is over.
- Nothing stays open when a run is over: calls, subagents and requests that had no end get one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from sightline.agent import MaskedStream, Secrets
from sightline.events import (
    AgentEnded,
    AgentStarted,
    Event,
    Reasoning,
    Request,
    RequestResolved,
    RunEnded,
    RunStarted,
    State,
    Text,
    ToolArgs,
    ToolOutput,
    ToolResult,
    ToolUpdate,
    ToolUse,
    User,
)
from sightline.host._asked import carried, forget
from sightline.host._masked_output import MaskedOutput
from sightline.host._session import Session
from sightline.text import clean_output

_OPEN_AT_MOST = 4096  # of calls, and of subagents
# Fields with what a provider, its model or its tools say.
_TOLD = frozenset(
    {"text", "content", "delta", "arg", "args", "details", "choices", "value", "hint", "task", "answer", "raw"}
)
# What comes in pieces: the field with the piece.
_IN_PIECES: dict[type, str] = {Text: "text", Reasoning: "text", ToolArgs: "delta"}
_STOPPED = "stopped before it ended; what it had done by then is unknown"


class Retelling:
    """The events of one run."""

    def __init__(
        self,
        session: Session,
        prompt: str,
        agents: dict[str, int],
        on_run: Callable[[RunStarted], None],
        secrets: Secrets,
        *,
        begun: bool = False,
    ) -> None:
        """`agents`: how many subagents of each name the session has had. `begun`: that the run began was told."""
        self._session = session
        self._secrets = secrets
        self._prompt = prompt.strip()
        self._counts = agents
        self._on_run = on_run
        self._calls: dict[str, str] = {}  # theirs → ours, as long as they are open
        self._outputs: dict[str, _Output] = {}  # by our id
        self._paths: dict[str, str] = {}  # of every subagent there was
        self._open_agents: dict[str, str] = {}  # ours → our path of its parent
        self._agent_calls: dict[str, str] = {}  # our id of the call that started it → theirs
        self._blocks: dict[str, tuple[int, int]] = {}  # of each agent the last: theirs, ours
        self._block = 0  # the last of all, ours
        self._requests: dict[str, str] = {}  # ours → theirs
        self._foretold: dict[str, str] = {}  # the last call that was asked about and not told yet: theirs, ours
        # What comes in pieces, words of an agent or arguments of its call: the last, and what may wait for the next.
        self._pieces: dict[tuple[str, str], tuple[Event, MaskedStream]] = {}
        self._in_text: tuple[type, int] | None = None  # of the root agent: what is being written, their block
        self._said: list[User] = []  # meanwhile
        self.running = begun

    @property
    def said(self) -> list[User]:
        """What the user said that waits for the end of a text."""
        return self._said

    def say(self, event: User) -> None:
        """The user says something to the run that goes on."""
        if self._in_text is not None:
            self._said = [*self._said, event]
        else:
            self._publish(event)

    def _note_text(self, event: Event) -> None:
        if event.agent or isinstance(event, State):
            return
        now = (type(event), event.block) if isinstance(event, Text | Reasoning) else None
        if now is None or now != self._in_text:
            self._release()
        self._in_text = now

    def _release(self) -> None:
        said, self._said = self._said, []
        for event in said:
            self._publish(event)

    def tell(self, events: Sequence[Event]) -> None:
        for event in events:
            if event.agent:
                event = replace(event, agent=self._path(event.agent))
            self._note_text(event)
            handler = _HANDLERS.get(type(event))
            told: Event | None = event if handler is None else handler(self, event)
            if told is not None:
                self._publish(told)

    def _publish(self, event: Event) -> None:
        """Without secrets, wherever in it they are."""
        if self._secrets.is_empty:
            self._session.publish(event)
            return
        self._end_what_is_over(event)
        if type(event) in _IN_PIECES:
            key = event.agent, event.id if isinstance(event, ToolArgs) else ""
            stream = self._pieces[key][1] if key in self._pieces else self._secrets.stream()
            self._pieces[key] = event, stream
            piece = _IN_PIECES[type(event)]
            said = getattr(event, piece)
            if (text := stream.feed(said)) or not said or isinstance(event, ToolArgs):  # that there is a call is news
                self._session.publish(replace(event, **{piece: text}))
        else:
            self._session.publish(self._masked(event))

    def _end_what_is_over(self, event: Event) -> None:
        words = self._pieces.get((event.agent, ""))
        if words is not None and not _goes_on(words[0], event):
            self._end_pieces((event.agent, ""))
        if isinstance(event, ToolUse | ToolResult) and (event.agent, event.id) in self._pieces:
            self._end_pieces((event.agent, event.id))

    def _end_pieces(self, key: tuple[str, str]) -> None:
        event, stream = self._pieces.pop(key)
        if text := stream.end():
            self._session.publish(replace(event, **{_IN_PIECES[type(event)]: text}))

    def _masked(self, event: Event) -> Event:
        fields = {name: getattr(event, name) for name in event.__struct_fields__}
        masked = {name: self._secrets.masked_value(value) for name, value in fields.items() if name in _TOLD}
        return replace(event, **masked)

    def native_request(self, request: str) -> str:
        """The provider's name of a request that is open; empty when it is not."""
        return self._requests.get(request, "")

    def native_agent(self, call: str) -> str:
        """The provider's path of the subagent that a call started; empty where it started none."""
        return self._agent_calls.get(call, "")

    def close(self) -> None:
        """Give everything that is open an end."""
        for key in list(self._pieces):
            self._end_pieces(key)
        self._release()
        for request in list(self._requests):
            forget(self._session.folder, request)
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
            # A number no other block has, though nothing of this one, or of the one before, may have been told yet.
            ours = self._block = max(self._session.seq, self._block) + 1
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
        output = self._outputs.get(call)
        if output is None:
            output = self._outputs[call] = _Output(self._session, call, self._secrets)
        output.write(replace(event, id=call), data)
        return None

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
        call = self._calls.get(event.call, "")
        if call and len(self._agent_calls) < _OPEN_AT_MOST:
            self._agent_calls[call] = event.path
        return replace(event, path=ours, call=call)

    def _on_agent_ended(self, event: AgentEnded) -> Event:
        path = self._path(event.path)
        self._open_agents.pop(path, None)
        return replace(event, path=path)

    def _on_request(self, event: Request) -> Event:
        ours = f"request-{self._session.seq + 1}"
        self._requests[ours] = event.id
        details: Any = event.details
        call = details.get("call") if isinstance(details, dict) else ""
        if isinstance(call, str) and call:
            details = {**details, "call": self._calls.get(call) or self._foretell(call)}
        if event.what == "approval" and isinstance(details, dict):
            details = carried(self._secrets.masked_value(details), self._session.folder, ours)
        return replace(event, id=ours, details=details)

    def _foretell(self, theirs: str) -> str:
        """Our id of a call that is asked about before it is told."""
        self._foretold = {theirs: self._session.new_call()}
        return self._foretold[theirs]

    def _on_resolved(self, event: RequestResolved) -> Event | None:
        ours = next((ours for ours, theirs in self._requests.items() if theirs == event.id), "")
        self._requests.pop(ours, None)
        forget(self._session.folder, ours)
        return replace(event, id=ours) if ours else None

    def _on_run_started(self, event: RunStarted) -> Event | None:
        """Of a run that goes on only what is new in it is taken: it began when it was asked for."""
        if event.agent:
            return event
        self._on_run(event)
        known, self.running = self.running, True
        return None if known else event

    def _on_run_ended(self, event: RunEnded) -> Event:
        if not event.agent:
            self.running = False
            if event.is_error or event.exit_code is not None or event.stop_reason in ("cancelled", "timeout"):
                self.close()  # nothing more comes of it
        return event

    def _call(self, theirs: str) -> str:
        ours = self._calls.get(theirs)
        if ours is None:
            if len(self._calls) >= _OPEN_AT_MOST:
                del self._calls[next(iter(self._calls))]
            ours = self._calls[theirs] = self._foretold.pop(theirs, "") or self._session.new_call()
        return ours

    def _path(self, theirs: str) -> str:
        return self._paths.get(theirs, theirs)

    def _close_output(self, call: str) -> None:
        output = self._outputs.pop(call, None)
        if output is not None:
            output.close()


def _goes_on(event: Event, after: Event) -> bool:
    """Whether it is the next piece of the same words."""
    return isinstance(event, Text | Reasoning) and type(after) is type(event) and after.block == event.block


class _Output:
    """What one call prints."""

    def __init__(self, session: Session, call: str, secrets: Secrets) -> None:
        self._session = session
        self._call = call
        self._artifact = session.artifact_for(call)
        self._shown = MaskedOutput(secrets, lambda: session.read_artifact(call), session.publish)

    def write(self, event: ToolOutput, data: bytes) -> None:
        offset = self._artifact.size
        self._artifact.write(event.stream, data)
        # As the journal reads it back from the artifact, so that live and replayed cannot differ.
        content = clean_output(data.decode())
        self._shown.tell(replace(event, content=content, offset=offset, dropped=0, size=len(data)))

    def close(self) -> None:
        self._shown.end()
        self._session.flush()
        self._artifact.close()
        self._session.forget_artifact(self._call)


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
