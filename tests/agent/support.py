"""A whole session with the scripted model: everything real but the model's words."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

from sightline.agent import AgentSpec, RunOutcome
from sightline.conversation import Message
from sightline.events import Event
from sightline.host import NativeSession, working
from sightline.journal import SessionReader, Store
from sightline.settings import Policy, StartOptions, load
from sightline.tools import Tool

E = TypeVar("E", bound=Event)

DEADLINE = 90.0


class Lab:
    """A running session, and everything that was seen of it."""

    def __init__(self, running: NativeSession, store: Store) -> None:
        self.running = running
        self.agent = running.agent
        self.session = running.session
        self.store = store
        self.seen: list[Event] = []
        self._changed = asyncio.Event()
        self._frames = running.session.subscribe(running.first)
        self._task = asyncio.create_task(self._watch())

    async def run(self, prompt: str = "go") -> RunOutcome:
        await self.agent.prompt(prompt)
        return await self.ended()

    async def ended(self) -> RunOutcome:
        outcome = await asyncio.wait_for(self.agent.wait(), DEADLINE)
        assert outcome is not None
        self.session.flush()
        await self.until(lambda: bool(self.seen) and self.seen[-1].seq == self.session.seq)
        return outcome

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(DEADLINE):
            while not condition():
                self._changed.clear()
                await self._changed.wait()

    async def first(self, kind: type[E], where: Callable[[E], bool] = lambda event: True) -> E:
        await self.until(lambda: any(where(event) for event in self.of(kind)))
        return next(event for event in self.of(kind) if where(event))

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.seen if isinstance(event, kind)]

    @property
    def messages(self) -> list[Message]:
        return self.agent.memory.messages

    @property
    def requests(self) -> list[Any]:
        """What the scripted model was asked."""
        return self.agent.model.model.requests  # type: ignore[attr-defined]

    async def _watch(self) -> None:
        async for frame in self._frames:
            assert isinstance(frame, list), "this watcher reads fast enough"
            self.seen += frame
            self._changed.set()

    def close(self) -> None:
        self._frames.close()
        self._task.cancel()


def write_script(folder: Path, turns: list[Any], name: str = "script.json") -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(turns))
    return f"scripted:{path}"


def store_in(folder: Path) -> Store:
    return Store(folder / "home")


def kept(folder: Path, session: str) -> list[Event]:
    return list(SessionReader(store_in(folder).folder(session)).events())


@asynccontextmanager
async def lab(
    folder: Path,
    turns: list[Any],
    *,
    approval: Any = "auto",
    allow: Iterable[str] = (),
    deny: Iterable[str] = (),
    settings: Mapping[str, str] | None = None,
    attended: bool = False,
    resume: str = "",
    environ: Mapping[str, str] | None = None,
    tools: tuple[Tool[Any], ...] = (),
    model: str | None = None,
    work: Path | None = None,
) -> AsyncIterator[Lab]:
    """The workspace is `folder/work` by default. Commands run without a sandbox unless the settings say so."""
    work = work or folder / "work"
    work.mkdir(exist_ok=True)
    flags = {"permissions.sandbox": "false", **(settings or {})}
    loaded = load(work, flags=flags, environ={"SIGHTLINE_HOME": str(folder / "home")})
    spec = AgentSpec(
        cwd=work,
        settings=loaded.settings,
        policy=Policy(approval, ["exec", *allow] if approval == "auto" else list(allow), list(deny), work),
        options=StartOptions(model=write_script(folder, turns) if model is None else model, resume=resume),
        environ=dict(environ or {}),
        tools=tools,
    )
    store = store_in(folder)
    async with working(store, spec, attended=attended) as running:
        watched = Lab(running, store)
        try:
            yield watched
        finally:
            watched.close()
