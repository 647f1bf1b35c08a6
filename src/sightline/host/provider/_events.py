"""A provider's events, translated into those of a session.

Rules:

- A provider counts its calls, blocks, subagents and requests anew with every prompt. Here they get ids that are new in
  the session, and each subagent is an actor of its own.
- A message of the user does not split a text: it is published when the text that is being written ends.
- Nothing stays open when a run is over: calls, subagents and requests that had no end get one.
"""

from collections.abc import Callable, Sequence
from typing import Any

from msgspec.structs import replace

from sightline.actors import Actor
from sightline.events import (
    AgentEnded,
    AgentStarted,
    Event,
    MailChanged,
    MailSent,
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

_OPEN_AT_MOST = 4096  # of calls, and of subagents


class Translation:
    """The events of one run."""

    def __init__(
        self, actor: Actor, prompt: str, on_run: Callable[[RunStarted], None], *, is_running: bool = False
    ) -> None:
        """`actor`: the provider's own agent. `is_running`: that the run began was published already."""
        self._actor = actor
        self._prompt = prompt.strip()
        self._on_run = on_run
        self._actors = {"": actor}  # by their path of every agent there was
        self._parents: dict[str, str] = {}  # of open subagents: their path → their path of the parent
        self._calls: dict[str, str] = {}  # theirs → ours, as long as they are open
        self._agent_calls: dict[str, str] = {}  # our id of the call that started it → theirs
        self._blocks: dict[str, tuple[int, int]] = {}  # of each agent the last: theirs, ours
        self._requests: dict[str, str] = {}  # ours → theirs
        self._announced: dict[str, str] = {}  # the last call with a request before it began: theirs, ours
        self._in_text: tuple[type, int] | None = None  # of the root agent: what is being written, their block
        self._waiting: list[User] = []  # messages of the user
        self.is_running = is_running

    @property
    def waiting(self) -> list[User]:
        """Messages of the user that wait for the end of a text."""
        return self._waiting

    def add_user_message(self, event: User) -> None:
        """A message of the user to the current run."""
        if self._in_text is not None:
            self._waiting = [*self._waiting, event]
        else:
            self._actor.observed_by("person").publish(event)

    def publish(self, events: Sequence[Event]) -> None:
        for event in events:
            self._note_text(event)
            handler = _HANDLERS.get(type(event))
            translated: Event | None = event if handler is None else handler(self, event)
            if translated is not None:
                self._of(event.agent).publish(translated)

    def native_request(self, request: str) -> str:
        """The provider's id of a request that is open; empty when it is not."""
        return self._requests.get(request, "")

    @property
    def open_requests(self) -> list[str]:
        """Our ids of them."""
        return list(self._requests)

    def native_agent(self, call: str) -> str:
        """The provider's path of the subagent that a call started; empty where it started none."""
        return self._agent_calls.get(call, "")

    def close(self) -> None:
        """Give everything that is open an end."""
        self._release()
        for actor in self._actors.values():  # the root first, with its subagents; then those never announced
            actor.close()
        self._requests.clear()
        self._calls.clear()

    def _of(self, theirs: str) -> Actor:
        """The actor of an agent. A subagent that was never announced keeps its path, below that of the provider."""
        if theirs not in self._actors:
            path = f"{self._actor.path}/{theirs}" if self._actor.path else theirs
            actor = Actor(self._actor.log, self._actor.source, self._actor.secrets, path)
            if len(self._actors) >= _OPEN_AT_MOST:
                return actor
            self._actors[theirs] = actor
        return self._actors[theirs]

    def _note_text(self, event: Event) -> None:
        if event.agent or isinstance(event, State):
            return
        now = (type(event), event.block) if isinstance(event, Text | Reasoning) else None
        if now is None or now != self._in_text:
            self._release()
        self._in_text = now

    def _release(self) -> None:
        waiting, self._waiting = self._waiting, []
        for event in waiting:
            self._actor.observed_by("person").publish(event)

    def _on_user(self, event: User) -> Event | None:
        """Some repeat the prompt, which was published before."""
        return None if not event.agent and event.text.strip() == self._prompt else replace(event, mail="")

    def _on_mail(self, event: MailSent | MailChanged) -> None:
        """The messages of a session are this one's own: a program sends none by itself."""

    def _on_words(self, event: Text | Reasoning) -> Event:
        theirs, ours = self._blocks.get(event.agent, (-1, 0))
        if event.block != theirs:
            ours = self._actor.new_block()
            self._blocks[event.agent] = (event.block, ours)
        return replace(event, block=ours)

    def _on_call(self, event: ToolUse | ToolArgs | ToolUpdate | ToolOutput) -> Event:
        return replace(event, id=self._call(event.id))

    def _on_result(self, event: ToolResult) -> Event:
        call = self._call(event.id)
        del self._calls[event.id]
        return replace(event, id=call)

    def _on_agent_started(self, event: AgentStarted) -> None:
        name = event.path.rpartition("/")[2]
        name = name.rpartition("-")[0] or name
        parent = event.path.rpartition("/")[0] or event.agent
        call = self._calls.get(event.call, "")
        child = self._of(parent).child(name, task=event.task, model=event.model, call=call, title=event.name)
        if len(self._actors) < _OPEN_AT_MOST:
            self._actors[event.path] = child
            self._parents[event.path] = parent
        if call and len(self._agent_calls) < _OPEN_AT_MOST:
            self._agent_calls[call] = event.path

    def _on_agent_ended(self, event: AgentEnded) -> None:
        parent = self._parents.pop(event.path, event.agent)
        self._of(parent).end_child(self._of(event.path), is_error=event.is_error, usage=event.usage)

    def _on_request(self, event: Request) -> Event:
        ours = self._actor.new_request()
        self._requests[ours] = event.id
        details: Any = event.details
        call = details.get("call") if isinstance(details, dict) else ""
        if isinstance(call, str) and call:
            details = {**details, "call": self._calls.get(call) or self._announce(call)}
        return replace(event, id=ours, details=details)

    def _announce(self, theirs: str) -> str:
        """Our id of a call that has a request before it begins."""
        self._announced = {theirs: self._actor.new_call()}
        return self._announced[theirs]

    def _on_resolved(self, event: RequestResolved) -> Event | None:
        ours = next((ours for ours, theirs in self._requests.items() if theirs == event.id), "")
        self._requests.pop(ours, None)
        return replace(event, id=ours) if ours else None

    def _on_run_started(self, event: RunStarted) -> Event | None:
        """Of a run that has begun only the new fields are used: its start was published with its prompt."""
        if event.agent:
            return event
        self._on_run(event)
        known, self.is_running = self.is_running, True
        return None if known else event

    def _on_run_ended(self, event: RunEnded) -> Event:
        if not event.agent:
            self.is_running = False
            if event.is_error or event.exit_code is not None or event.stop_reason in ("cancelled", "timeout"):
                self.close()  # nothing more comes of it
        return event

    def _call(self, theirs: str) -> str:
        ours = self._calls.get(theirs)
        if ours is None:
            if len(self._calls) >= _OPEN_AT_MOST:
                del self._calls[next(iter(self._calls))]
            ours = self._calls[theirs] = self._announced.pop(theirs, "") or self._actor.new_call()
        return ours


_HANDLERS: dict[type, Callable[[Translation, Any], Event | None]] = {
    User: Translation._on_user,
    MailSent: Translation._on_mail,
    MailChanged: Translation._on_mail,
    Text: Translation._on_words,
    Reasoning: Translation._on_words,
    ToolUse: Translation._on_call,
    ToolArgs: Translation._on_call,
    ToolUpdate: Translation._on_call,
    ToolOutput: Translation._on_call,
    ToolResult: Translation._on_result,
    AgentStarted: Translation._on_agent_started,
    AgentEnded: Translation._on_agent_ended,
    Request: Translation._on_request,
    RequestResolved: Translation._on_resolved,
    RunStarted: Translation._on_run_started,
    RunEnded: Translation._on_run_ended,
}
