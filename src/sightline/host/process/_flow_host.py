"""A host for a flow, as a process of its own: it outlives the window it was started in.

When the flow is over it stays as long as a user is there who may ask about it. A view that only reads does not keep it.
"""

import asyncio
import socket
from contextlib import suppress

from sightline.host.flow._flow_session import FlowSession, FlowStart, flow_session
from sightline.host.process._process import detached, remove_empty_log, stop_on_signals
from sightline.host.session._life import Journal
from sightline.journal import Store

_SECONDS_BETWEEN_LOOKS = 1.0


def launch_flow(store: Store, start: FlowStart) -> str:
    """Start a flow in a host of its own. Returns the id of its session once it can be connected to."""

    async def be_host(journal: Journal, listener: socket.socket) -> None:
        over = asyncio.Event()
        stop_on_signals(over)
        async with flow_session(store, start, opening=(journal, listener)) as running:
            running.session.on_stopped = over.set
            work = asyncio.get_running_loop().create_task(_run(running, over))
            await over.wait()
        await work
        remove_empty_log(running.session.folder)

    return detached(store, be_host, cwd=start.cwd, title=start.title)


async def _run(running: FlowSession, over: asyncio.Event) -> None:
    try:
        await running.run()
        while running.is_in_use and not over.is_set():
            with suppress(TimeoutError):
                await asyncio.wait_for(over.wait(), _SECONDS_BETWEEN_LOOKS)
    finally:
        over.set()
