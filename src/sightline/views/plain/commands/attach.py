"""Watching a job, or a session, on a terminal: earlier output, then live output. Leaving never ends it.

The watcher gets everything from the host and owns nothing: it may be stopped, killed or come back at any time.
"""

import asyncio
import errno
import os
import signal
from collections.abc import Callable
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING

from sightline.host import Client, StoredSession, attach, follow
from sightline.journal import Store, session_of
from sightline.secrets import secrets_here
from sightline.settings import load
from sightline.views.plain._drawing import JobDrawing
from sightline.views.plain._ending import JobEnd
from sightline.views.plain._output import write_message, write_text
from sightline.views.plain._palette import Palette
from sightline.views.plain._terminal import PlainTerminal
from sightline.views.plain.terminal_block import TerminalBlock

if TYPE_CHECKING:
    from sightline.secrets import Secrets

DETACHED = 130
_TERMINAL_GONE = 129


def show_attached(store: Store, id: str, palette: Palette, *, labelled: bool) -> int:
    """Watch it to its end; Ctrl+C detaches."""
    return asyncio.run(_attached(store, id, palette, labelled))


async def _attached(store: Store, id: str, palette: Palette, labelled: bool) -> int:
    job = id if session_of(id) else ""
    watched = await attach(store, session_of(id) or id)
    secrets = secrets_here(load(Path.cwd()).settings)
    watcher = Watcher(store, watched, palette, job=job, headings=True, labelled=labelled, secrets=secrets)
    watcher.on_interrupt = watcher.leave
    ending = await watcher.watch(after=None)
    if watcher.left:
        write_text(2, f"{palette.dim}detached, still running. Attach with: sightline attach {id}{palette.reset}\n")
        return DETACHED
    if ending is not None:
        write_text(2, f"{ending.line(palette)}\n")
        return ending.exit_code
    if watcher.worst is None:
        write_message(2, "note", f"nothing was run in session {id} yet")
    return watcher.worst or 0


class Watcher:
    """One terminal on one session. `on_interrupt` is what Ctrl+C and a termination do."""

    def __init__(
        self,
        store: Store,
        watched: Client | StoredSession,
        palette: Palette,
        *,
        job: str,
        headings: bool,
        labelled: bool,
        secrets: "Secrets | None" = None,
    ) -> None:
        """`secrets`: masked in the earlier output of an agent's commands; the user's own command may show them."""
        self.left = False
        self.on_interrupt: Callable[[], None] = self.leave
        self._store = store
        self._watched = watched
        self._job = job
        self._terminal = PlainTerminal(1)
        block = TerminalBlock(*self._terminal.size, palette, labelled=labelled)
        self._drawing = JobDrawing(store, block, palette, job=job, headings=headings, secrets=secrets)
        self._task: asyncio.Task[None] | None = None
        self._suspending: asyncio.Task[None] | None = None

    @property
    def worst(self) -> int | None:
        """Of all the jobs: 0 when every one of them ended well; the code of the only one; else 1. None without jobs."""
        codes = [ending.exit_code for ending in self._drawing.endings.values()]
        if not codes:
            return None
        return codes[0] if len(codes) == 1 else int(any(codes))

    async def watch(self, after: int | None) -> JobEnd | None:
        """Until what is watched has ended, or we left. How the job ended, when it is one."""
        loop = asyncio.get_running_loop()
        self._task = loop.create_task(self._draw_all(after))
        with self._terminal:
            self._listen(loop)
            try:
                await asyncio.wait([self._task])
                if not self._task.cancelled():
                    self._task.result()
                await self._close()
            except OSError as error:
                if error.errno != errno.EIO:
                    raise
                raise SystemExit(_TERMINAL_GONE) from None  # the terminal is gone; the job is not
            finally:
                self._watched.close()
        return self._drawing.endings.get(self._job)

    def leave(self) -> None:
        self.left = True
        if self._task is not None:
            self._task.cancel()

    async def _close(self) -> None:
        """What is left to draw is a few rows, but a terminal that takes nothing is not waited for."""
        try:
            async with asyncio.timeout(1):
                await self._terminal.write(self._drawing.block.end())
        except TimeoutError:
            pass

    async def _draw_all(self, after: int | None) -> None:
        frames = follow(self._store, self._watched.session, after, attached=self._watched)
        async with aclosing(frames):
            async for frame in frames:
                for text in self._drawing.draw(frame):
                    await self._terminal.write(text)
                if self._is_over():
                    return

    def _is_over(self) -> bool:
        if self._job:
            return self._job in self._drawing.endings
        return not self._drawing.running

    def _listen(self, loop: asyncio.AbstractEventLoop) -> None:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, lambda: self.on_interrupt())
        loop.add_signal_handler(signal.SIGWINCH, lambda: self._drawing.block.resize(*self._terminal.size))
        loop.add_signal_handler(signal.SIGTSTP, self._suspend_soon)
        loop.add_signal_handler(signal.SIGCONT, self._terminal.hush)

    def _suspend_soon(self) -> None:
        self._suspending = asyncio.get_running_loop().create_task(self._suspend())

    async def _suspend(self) -> None:
        """Stop, with the terminal as the shell expects it; the job does not notice. Returns when we are continued."""
        loop = asyncio.get_running_loop()
        await self._terminal.settle()
        await self._close()
        self._terminal.restore()
        loop.remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend_soon)
        self._terminal.hush()
        self._drawing.block.resize(*self._terminal.size)
