"""A real agent in a real session, hosted by the test: everything is as it is for a person, but the model's words."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from sightline.agent import AgentSpec
from sightline.events import Delegation, DelegationItem, Event
from sightline.host import NativeSession, working
from sightline.journal import Store
from sightline.settings import Policy, StartOptions, load
from sightline.tools import Outcome, Tool, ToolContext

DEADLINE = 90.0


class _Steps(msgspec.Struct):
    chain: list[dict[str, str]]


class Hand(Tool[_Steps]):
    """Hands its steps to agents that are none: the first runs until it is told to `go` on."""

    name = "hand_over"
    description = "Hand work to agents."
    params = _Steps

    def __init__(self) -> None:
        self.go = asyncio.Event()

    async def execute(self, params: _Steps, context: ToolContext) -> Outcome:
        context.update(_told(params, ["running", "pending"], "1"))
        await self.go.wait()
        return Outcome(text="both are done", details=_told(params, ["ok", "error"], None))


def _told(params: _Steps, statuses: list[Any], active: str | None) -> dict[str, Any]:
    items = [
        DelegationItem(str(n), step["agent"], step["task"], status, f"preview {n}")
        for n, (step, status) in enumerate(zip(params.chain, statuses, strict=True), 1)
    ]
    return Delegation("chain", items, active).as_details()


class AgentHost:
    """The session, and what was seen of it in this process."""

    def __init__(self, running: NativeSession, hand: Hand) -> None:
        self.agent = running.agent
        self.go = hand.go.set
        self.session = running.session
        self.seen: list[Event] = []

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.seen if isinstance(event, kind)]

    async def watch(self) -> None:
        async for frame in self.session.subscribe(0):
            if isinstance(frame, list):
                self.seen += frame


@asynccontextmanager
async def agent_host(folder: Path, turns: list[Any], *, attended: bool = True) -> AsyncIterator[AgentHost]:
    """In the store the server serves. Nothing is allowed but to write in the folder: a command has to be asked for."""
    script = folder.parent / "script.json"
    script.write_text(json.dumps(turns))
    hand = Hand()
    loaded = load(folder, flags={"permissions.sandbox": "false"}, environ=dict(os.environ))
    spec = AgentSpec(
        cwd=folder,
        settings=loaded.settings,
        policy=Policy("auto", [], [], folder),
        options=StartOptions(model=f"scripted:{script}"),
        tools=(hand,),
    )
    store = Store(Path(os.environ["SIGHTLINE_HOME"]))
    async with working(store, spec, attended=attended) as running:
        host = AgentHost(running, hand)
        watching = asyncio.create_task(host.watch())
        try:
            yield host
        finally:
            watching.cancel()
