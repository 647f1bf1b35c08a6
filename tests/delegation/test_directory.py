"""The directory under random orders of everything that can happen: no message lost or read twice, no agent in two
states, nothing that waits for ever."""

import asyncio
import random
import re
from collections import Counter
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.actors import Actor
from sightline.delegation._directory import AgentDirectory, SpawnRequest
from sightline.delegation._driver import DriverOutcome
from sightline.delegation._member import AgentResult, Member
from sightline.delegation._record import AgentShelf
from sightline.delegation.definitions._definition import AgentDefinition
from sightline.delegation.definitions._discovery import AgentCatalogue
from sightline.events import AgentState, Event, State, User, state_fact
from sightline.exceptions import SightlineError
from sightline.secrets import Secrets
from sightline.settings import Settings

LEGAL = {
    "": {"running"},
    "running": {"idle", "aborted", "parked"},
    "idle": {"running", "parked"},
    "parked": {"running"},
    "aborted": set(),
}


class FakeLog:
    """A session that only remembers what was published."""

    def __init__(self) -> None:
        self.id, self.folder, self.seq = "abc123", Path("/nowhere"), 0
        self.is_attended = self.has_answers = True
        self.events: list[Event] = []

    def append(self, event: Event) -> None:
        self.events.append(event)

    def __getattr__(self, name: str) -> Any:
        return lambda *args: f"{name}-1"


class FakeDriver:
    """Works until it is told to stop or finish; reads what it is sent at its steps, as the loop does."""

    def __init__(self, member: Member, read: Counter[str]) -> None:
        self.member, self._read = member, read
        self.model, self.busy, self.closed = "fake", False, False
        self._queue: list[tuple[str, str, Callable[[], bool], Callable[[], object], Callable[[], object]]] = []
        self._over: asyncio.Future[str] | None = None

    async def run(
        self, text: str, *, origin: str, force_tool: str = "", mail: str = "", on_dropped: Any = None
    ) -> DriverOutcome:
        assert not self.busy, "two runs at once"
        assert not self.closed, "a run after its end"
        self._note(text, mail)
        self.busy, self._over = True, asyncio.get_running_loop().create_future()
        try:
            stopped = await self._over
        finally:
            self.busy = False
        return DriverOutcome(text="done", stopped=stopped)

    def step(self) -> None:
        """It reads what waits for it."""
        queue, self._queue = self._queue, []
        for text, mail, unless, on_read, _ in queue:
            if not unless():
                self._note(text, mail)
                on_read()

    def finish(self) -> None:
        if self._over is not None and not self._over.done():
            self.step()
            self._over.set_result("")

    def inform(
        self,
        text: str,
        *,
        mail: str,
        unless: Callable[[], bool],
        on_read: Callable[[], object],
        on_answer: Any = None,
    ) -> None:
        assert self.busy, "nothing is announced to one that does not work"
        self._queue.append((text, mail, unless, on_read, _nothing))

    async def prompt(self, text: str, *, how: str, mail: str, on_dropped: Callable[[], object]) -> None:
        assert self.busy, "nothing is given to one that does not work"
        self._queue.append((text, mail, lambda: False, _nothing, on_dropped))

    def stop(self, reason: str) -> None:
        self._drop()
        if self._over is not None and not self._over.done():
            self._over.set_result(reason)

    def answer(self, request: str, answer: object) -> bool:
        return False

    def cancel_call(self, id: str) -> bool:
        return False

    def give_up(self) -> bool:
        return False

    async def close(self) -> None:
        assert not self.busy
        self.closed = True
        self._drop()

    def _drop(self) -> None:
        queue, self._queue = self._queue, []
        for *_, on_dropped in queue:
            on_dropped()

    def _note(self, text: str, mail: str) -> None:
        if mail and self.member.actor is not None:
            self.member.actor.observed_by("irc").publish(User(text, mail=mail))
        if found := re.match(r"\[message (m\d+) ", text):
            self._read[found[1]] += 1


class FakeMain:
    """The agent of the session: it works all the time, and reads at its steps."""

    busy = True

    def __init__(self, actor: Actor) -> None:
        self._actor = actor
        self._queue: list[tuple[str, str, Callable[[], bool], Callable[[], object]]] = []

    def inform(
        self,
        text: str,
        *,
        mail: str,
        unless: Callable[[], bool],
        on_read: Callable[[], object],
        on_answer: Any = None,
    ) -> None:
        self._queue.append((text, mail, unless, on_read))

    async def prompt(self, text: str, *, how: str, mail: str, on_dropped: Callable[[], object]) -> None:
        self._queue.append((text, mail, lambda: False, _nothing))

    def step(self) -> None:
        queue, self._queue = self._queue, []
        for text, mail, unless, on_read in queue:
            if not unless():
                self._actor.observed_by("irc").publish(User(text, mail=mail))
                on_read()


def _nothing() -> None: ...


class Room:
    """A directory with fake drivers, and what became of each message."""

    async def _never(self, *given: object) -> Any:
        raise AssertionError("no agent here is isolated")

    def __init__(self, folder: Path, limit: int) -> None:
        self.log, self.read = FakeLog(), Counter[str]()
        definition = AgentDefinition(name="a", description="d", prompt="p", spawns=("b",), source="bundled")
        other = AgentDefinition(name="b", description="d", prompt="p", spawns=("a",), source="bundled")
        catalogue = AgentCatalogue(agents={"a": definition, "b": other})
        from msgspec.structs import replace

        base = Settings()
        given = replace(base, task=replace(base.task, max_concurrency=limit, idle_seconds=0, max_depth=3))
        root = Actor(self.log, "agent", Secrets({}))  # type: ignore[arg-type]
        self.main = FakeMain(root)
        self.directory = AgentDirectory(
            root,
            AgentShelf(folder),
            settings=lambda: given,
            catalogue=lambda: catalogue,
            isolate=self._never,
            hand_in=self._never,
            open_driver=self._open,
            root_reader=self.main,
        )
        self.tasks: list[asyncio.Task[AgentResult]] = []
        self.sent: dict[str, str] = {}  # by message, its reader

    async def _open(self, member: Member, resumed: bool) -> FakeDriver:
        await asyncio.sleep(0)
        return FakeDriver(member, self.read)

    def spawn(self, parent: Member | None) -> None:
        agent = "b" if parent is not None and parent.record.definition.name == "a" else "a"
        try:
            member = self.directory.allocate(SpawnRequest(agent=agent, assignment="work"), parent)
        except SightlineError:
            return
        self.tasks.append(asyncio.ensure_future(self.directory.work(member, _carried_out, "c1")))

    def send(self, sender: Member | None, to: str) -> None:
        sent = self.directory.send_to(sender, [to], "hello")
        if sent.receipts[0].outcome != "failed":
            self.sent[sent.id] = sent.receipts[0].to

    def published(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for event in self.log.events:
            fact = state_fact(event) if isinstance(event, State) else None
            if isinstance(fact, AgentState):
                states = found.setdefault(event.agent, [""])
                if states[-1] != fact.state:
                    states.append(fact.state)
        return found


async def _carried_out(member: Member) -> AgentResult:
    assert member.driver is not None
    outcome = await member.driver.run(member.record.assignment, origin="task")
    return AgentResult(id=member.id, agent="a", output=outcome.text, aborted=member.reason or outcome.stopped)


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4), st.integers(5, 60))
def test_no_order_of_events_breaks_it(tmp_path_factory: Any, seed: int, limit: int, steps: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path_factory.mktemp("room")

    async def play() -> None:
        room = Room(folder, limit)
        directory = room.directory
        for _ in range(steps):
            members = directory.members
            one = chance.choice(members) if members else None
            match chance.choice(
                ("spawn", "spawn", "child", "send", "send", "step", "finish", "park", "stop", "cancel", "turn")
            ):
                case "spawn" if len(members) < 12:
                    room.spawn(None)
                case "child" if one is not None and one.state == "running" and one.driver is not None:
                    room.spawn(one)
                case "send" if one is not None:
                    room.send(chance.choice([None, *[m for m in members if m is not one]]), one.id)
                case "step" if one is not None and isinstance(one.driver, FakeDriver) and one.driver.busy:
                    one.driver.step()
                case "finish" if one is not None and isinstance(one.driver, FakeDriver):
                    one.driver.finish()
                case "park" if one is not None:
                    await directory.park(one)
                case "stop" if one is not None:
                    directory.stop(one)
                case "cancel" if room.tasks:
                    chance.choice(room.tasks).cancel()
                case "turn":
                    for _ in range(chance.randint(1, 8)):
                        await asyncio.sleep(0)
            assert directory.bound.taken >= 0
        if chance.random() < 0.3:  # the session ends in the middle of it
            await asyncio.wait_for(directory.close(), 30)
            for task in room.tasks:
                task.cancel()
        async with asyncio.timeout(30):  # nothing waits for ever
            while directory.busy or not all(task.done() for task in room.tasks):
                for member in directory.members:
                    if isinstance(member.driver, FakeDriver):
                        member.driver.finish()
                await asyncio.sleep(0.001)
        for ended in await asyncio.gather(*room.tasks, return_exceptions=True):
            assert isinstance(ended, AgentResult | asyncio.CancelledError), ended
            assert isinstance(ended, asyncio.CancelledError) or "bug" not in ended.error, ended
        unread = Counter(mail.id for member in directory.members for mail in member.mailbox.peek())
        aborted = {member.id for member in directory.members if member.state == "aborted"}
        for mail, reader in room.sent.items():
            times = room.read[mail] + unread[mail]
            assert times == 1 or (times == 0 and reader in aborted), (mail, reader, times)
        assert not [mail for mail, times in room.read.items() if times > 1]
        await asyncio.wait_for(directory.close(), 30)
        for path, states in room.published().items():
            steps_taken = list(pairwise(states))
            assert all(after in LEGAL[before] for before, after in steps_taken), (path, states)
        assert directory.bound.taken == 0
        assert not directory.busy

    asyncio.run(play())
