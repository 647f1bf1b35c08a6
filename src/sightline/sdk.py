"""The agent in your own program: start a session, send, iterate events, cancel.

    async with sightline.start("path/to/project", model="anthropic/claude-sonnet-4-5") as session:
        await session.send("Fix the failing test")
        async for event in session.events():
            print(event)

The session is stored like any other: `sightline sessions` lists it, `sightline attach` watches it.

What goes wrong before the agent works is raised, as a `SightlineError` with a message and a hint. What goes wrong while
it works is an `error` event and the outcome of the run.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from sightline import paths
from sightline.agent import How, RunOutcome, agent_spec
from sightline.agent.extensions._function_tool import FunctionTool, ToolFunction
from sightline.delegation import AgentResult, Member, SpawnRequest
from sightline.events import Event
from sightline.exceptions import UserMistake
from sightline.exec import as_guest
from sightline.host import NativeSession, Subscription, working
from sightline.journal import SessionReader, Store
from sightline.settings import Approval, StartOptions, Thinking
from sightline.tools import Tool
from sightline.transcript import Snapshot


class AgentHandle:
    """An agent that was started with `Session.spawn`."""

    def __init__(self, running: NativeSession, store: Store, member: Member, work: "asyncio.Task[AgentResult]") -> None:
        self._running = running
        self._store = store
        self._last = running.session.seq  # the number of the last event that was read
        self._member = member
        self._work = work
        running.session.flush()
        self._frames = running.session.subscribe(self._last)
        work.add_done_callback(self._end)

    @property
    def id(self) -> str:
        return self._member.id

    @property
    def path(self) -> str:
        """The `agent` of its events; that of an agent below it begins with it."""
        return self._member.path

    async def events(self) -> AsyncIterator[Event]:
        """Its events and those of agents below it, from its start to the end of its task. Once a handle."""
        below = f"{self.path}/"
        async for frame in self._frames:
            if isinstance(frame, Snapshot):
                frame = _after(self._store, self._running.session.id, self._last)
            for event in frame:
                if event.seq > self._last:
                    self._last = event.seq
                    if event.agent == self.path or event.agent.startswith(below):
                        yield event

    async def result(self) -> AgentResult:
        """What came of its task: its output, or why it failed or was stopped."""
        return await asyncio.shield(self._work)

    async def cancel(self) -> None:
        """End it and everything it started."""
        self._running.worker.team.directory.abort(self._member, "cancelled")
        await asyncio.wait([self._work])

    def _end(self, work: "asyncio.Task[AgentResult]") -> None:
        self._running.session.flush()
        self._frames.end()


class Session:
    """A running session. Made by `start`; used in the event loop it was made in."""

    def __init__(self, running: NativeSession, store: Store) -> None:
        self._running = running
        self._store = store
        self._last = running.first  # the number of the last event that was yielded
        self._reading: set[Subscription] = set()
        running.agent.when_idle(self._end_readers)

    @property
    def id(self) -> str:
        return self._running.session.id

    @property
    def busy(self) -> bool:
        """Whether the agent works."""
        return self._running.agent.busy

    async def send(self, text: str, *, how: How = "prompt") -> None:
        """Have the agent work on this. While it works, it joins in: now (`steer`), or afterwards (`follow_up`)."""
        await self._running.agent.prompt(text, how=how)

    async def events(self) -> AsyncIterator[Event]:
        """Every event since the last one that was yielded, each once, until the agent has nothing more to do."""
        session = self._running.session
        session.flush()
        frames = session.subscribe(self._last)
        self._reading.add(frames)
        if not self.busy:
            self._end_readers()
        try:
            async for frame in frames:
                if isinstance(frame, Snapshot):
                    frame = _after(self._store, self.id, self._last)
                for event in frame:
                    if event.seq > self._last:
                        self._last = event.seq
                        yield event
        finally:
            self._reading.discard(frames)
            frames.close()

    async def wait(self) -> RunOutcome:
        """Wait for the end of the current run; the outcome of it, or of the last one."""
        agent = self._running.agent
        outcome = await agent.wait()
        while agent.busy:
            outcome = await agent.wait()
        if outcome is None:
            raise UserMistake("nothing was sent yet", "send something first")
        return outcome

    def cancel(self) -> None:
        """Stop the agent. Its answer so far is stored."""
        self._running.agent.stop()

    def answer(self, request: str, answer: object) -> bool:
        """Answer a `request` event by its id, of any agent; false when it is no longer open."""
        directory = self._running.worker.team.directory
        return self._running.agent.requests.answer(request, answer) or directory.answer(request, answer)

    def spawn(self, agent: str, task: str, *, name: str = "", context: str = "") -> "AgentHandle":
        """Start an agent beside the one of the session, by the name of its definition."""
        team = self._running.worker.team
        member, work = team.start(SpawnRequest(agent=agent, assignment=task, name=name, context=context))
        return AgentHandle(self._running, self._store, member, work)

    def _end_readers(self) -> None:
        self._running.session.flush()
        for frames in self._reading:
            frames.end()


def _after(store: Store, session: str, last: int) -> list[Event]:
    """The events that came faster than they were read, from the journal."""
    return [event for event in SessionReader(store.folder(session)).events() if event.seq > last]


@asynccontextmanager
async def start(
    cwd: str | os.PathLike[str] = ".",
    *,
    model: str = "",
    thinking: Thinking | None = None,
    resume: str = "",
    approval: Approval | None = None,
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    settings: Mapping[str, str] | None = None,
    tools: Iterable[Tool[Any] | ToolFunction] = (),
    attended: bool = False,
) -> AsyncIterator[Session]:
    """Start a session in a folder, or resume a stored one. Leaving it stops the agent.

    `tools`: async functions, or `Tool`s; one with the name of a tool that is there takes its place.
    `attended`: you answer `request` events with `Session.answer`. Otherwise what no rule allows is refused at once.
    `settings` are by name, as `--set` has them: `{"read.default_limit": "500"}`.
    """
    folder = _folder(cwd)
    store = Store(paths.data_folder())
    options = StartOptions(
        cwd=str(folder),
        resume=store.find_conversation(resume, str(folder)) if resume else "",
        model=model,
        thinking=thinking or "",
        approval=approval or "",
        allow=list(allow),
        deny=list(deny),
        flags=dict(settings or {}),
    )
    spec = agent_spec(options, tools=[tool if isinstance(tool, Tool) else FunctionTool(tool) for tool in tools])
    with as_guest():
        async with working(store, spec, attended=attended) as running:
            yield Session(running, store)


def _folder(cwd: str | os.PathLike[str]) -> Path:
    folder = Path(cwd).resolve()
    if not folder.is_dir():
        raise UserMistake(f"no folder {folder}", "name the folder the agent is to work in")
    return folder
