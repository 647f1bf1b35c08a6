"""Agents of one session, below each other, without models: what each may do and what each publishes."""

import asyncio
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from sightline.actors import Actor
from sightline.agent.conversation._memory import Memory
from sightline.agent.loop._requests import UserRequests
from sightline.agent.permissions._permissions import SessionPermissions
from sightline.agent.permissions._session_rules import SessionRules
from sightline.events import Event, Request, RequestResolved
from sightline.journal import Entry, EntryPlace, SessionTree
from sightline.secrets import Secrets
from sightline.settings import Approval, Policy, Settings
from sightline.tools import Need
from tests.agent.support import DEADLINE

E = TypeVar("E", bound=Event)


class SessionInMemory:
    """What an actor needs of a session, for tests without calls."""

    id = "memory"
    is_attended = True

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.has_answers = True
        self.published: list[Event] = []
        self.entries: list[Entry] = []
        self._agents: dict[str, int] = {}
        self._requests = 0

    @property
    def seq(self) -> int:
        return len(self.published)

    def append(self, event: Event) -> None:
        self.published.append(event)

    def store_entry(self, entry: Entry) -> EntryPlace | None:
        self.entries.append(entry)
        return None

    def new_request(self) -> str:
        self._requests += 1
        return f"request-{self._requests}"

    def new_agent(self, path: str) -> str:
        self._agents[path] = self._agents.get(path, 0) + 1
        return f"{path}-{self._agents[path]}"


class AgentOfTest:
    """One agent: its own path, requests and permissions. `parent` is None for the root."""

    def __init__(
        self,
        log: SessionInMemory,
        actor: Actor,
        parent: "AgentOfTest | None",
        cap: Approval | None,
        rules: SessionRules,
    ) -> None:
        self.log = log
        self.actor = actor
        self.parent = parent
        self.cap = cap
        self.requests = UserRequests(actor)
        self.rules = rules
        memory = Memory(log, SessionTree(log.folder / "journal.jsonl"))
        if parent is not None:
            self.permissions = parent.permissions.for_agent(actor, self.requests, memory, cap=cap)
        else:
            self.permissions = SessionPermissions(
                rules, actor=actor, requests=self.requests, memory=memory, settings=Settings, sandbox=True
            )

    def child(self, cap: Approval | None = None) -> "AgentOfTest":
        return AgentOfTest(self.log, self.actor.child("Explore"), self, cap, self.rules)

    def verdict(self, need: Need) -> str:
        return self.permissions.policy.decide(need).verdict

    async def asks(self, need: Need, call: str = "c") -> "asyncio.Task[None]":
        """A call that needs this: done, or waiting for the user."""
        task = asyncio.create_task(self.permissions.approvals.ask("tool", call, [need], {}))
        await turn()
        return task

    def of(self, kind: type[E]) -> list[E]:
        """What was published under its path."""
        return [event for event in self.log.published if isinstance(event, kind) and event.agent == self.actor.path]

    @property
    def open_requests(self) -> list[Request]:
        resolved = {event.id for event in self.of(RequestResolved)}
        return [event for event in self.of(Request) if event.id not in resolved]

    def answers(self, answer: Any) -> None:
        """The user answers the one request that is open."""
        (request,) = self.open_requests
        assert self.requests.answer(request.id, answer)

    async def close(self) -> None:
        await self.permissions.close()
        await self.requests.close()


def root_of(folder: Path, level: Approval, allow: Iterable[str] = (), deny: Iterable[str] = ()) -> AgentOfTest:
    """The root of a session in this folder; the workspace is `work` in it."""
    work = folder / "work"
    work.mkdir(exist_ok=True)
    (folder / "journal.jsonl").touch()
    log = SessionInMemory(folder)
    rules = SessionRules(Policy(level, allow, deny, work))
    return AgentOfTest(log, Actor(log, "agent", Secrets({})), None, None, rules)  # type: ignore[arg-type]


async def ended(task: "asyncio.Task[None]") -> None:
    """A call that was decided by now: returns when it was allowed, else raises."""
    await asyncio.wait_for(task, DEADLINE)


async def turn() -> None:
    """Whatever was answered has gone on by then."""
    for _ in range(3):
        await asyncio.sleep(0)
