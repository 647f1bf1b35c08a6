"""What Ctrl+C does to a command we started: once asks it to end, again makes it, and again leaves without waiting."""

import asyncio
from collections.abc import Callable

from sightline.exceptions import OutsideFailure
from sightline.host import CancelJob, Client, HostSession, StoredSession


class Canceller:
    """Called once for each Ctrl+C, inside the loop."""

    def __init__(
        self, session: Client | StoredSession | HostSession, job: str, leave: Callable[[], None] = lambda: None
    ) -> None:
        self.pressed = asyncio.Event()
        self._session = session
        self._job = job
        self._leave = leave
        self._times = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def __call__(self) -> None:
        self.pressed.set()
        self._times += 1
        if self._times > 2:
            self._leave()
            return
        task = asyncio.get_running_loop().create_task(self._cancel(force=self._times > 1))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _cancel(self, *, force: bool) -> None:
        try:
            await self._session.submit(CancelJob(self._job, force))
        except (OutsideFailure, OSError):  # the host is gone, and the command with it: the watcher is told so
            pass
