"""The output of a job, byte for byte, from its artifact: what is there, or also what comes until it ends.

The host reports how much is in the artifact, so nothing is polled.
"""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import aclosing

from sightline.events import ToolOutput
from sightline.exceptions import UserMistake
from sightline.host import Client, Frame, StoredSession, attach, follow
from sightline.journal import ArtifactReader, Store
from sightline.transcript import Snapshot, TranscriptCall
from sightline.views.plain._drawing import text_of
from sightline.views.plain._ending import JobEnd, ending_in
from sightline.views.plain._figures import size_words
from sightline.views.plain._output import write_patiently
from sightline.views.plain._palette import Palette
from sightline.views.plain._terminal import PlainTerminal, is_terminal
from sightline.views.plain.terminal_block import TerminalBlock

_PART = 256 * 1024


def show_logs(store: Store, job: str, palette: Palette, *, follow: bool, labelled: bool) -> int:
    """Write what a job has printed; with `follow` until it ends, and then its exit code is ours."""
    return asyncio.run(_logs(store, job, palette, follow, labelled))


async def _logs(store: Store, job: str, palette: Palette, follow: bool, labelled: bool) -> int:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    reader = store.artifact(job)
    if reader.missing and not store.is_running(job.partition("-")[0]):
        raise UserMistake(f"the output of {job} was deleted", "`sightline attach` shows what is left of it")
    try:
        if is_terminal(1):
            with PlainTerminal(1) as terminal:
                block = TerminalBlock(*terminal.size, palette, labelled=labelled)
                return await _shown(_Shown(reader, terminal, block), store, job, follow=follow)
        return await _shown(_Raw(reader), store, job, follow=follow)
    except asyncio.CancelledError:
        return 130
    finally:
        reader.close()


class _Raw:
    """Every byte, each stream to its own descriptor."""

    def __init__(self, reader: ArtifactReader) -> None:
        self._reader = reader
        self._done = 0

    async def advance(self, end: int) -> None:
        for run in self._reader.streams(self._done, end):
            offset, stop = run.offset, run.offset + run.size
            while offset < stop and (data := self._reader.read(offset, min(_PART, stop - offset))):
                await write_patiently(2 if run.stream == "stderr" else 1, data)
                offset += len(data)
        self._done = max(end, self._done)

    async def close(self) -> None:
        pass


class _Shown:
    """What a terminal may be shown of it."""

    def __init__(self, reader: ArtifactReader, terminal: PlainTerminal, block: TerminalBlock) -> None:
        self._reader = reader
        self._terminal = terminal
        self._block = block
        self._done = 0

    async def advance(self, end: int) -> None:
        self._block.resize(*self._terminal.size)
        for stream, text in text_of(self._reader, self._done, end):
            await self._terminal.write(self._block.feed(text, stream))
        self._done = max(end, self._done)

    async def close(self) -> None:
        await self._terminal.write(self._block.end())


async def _shown(output: _Raw | _Shown, store: Store, job: str, *, follow: bool) -> int:
    ending = await _followed(output, store, job, await attach(store, job.partition("-")[0])) if follow else None
    size = store.artifact(job).size
    await output.advance(size)
    await output.close()
    listed = store.index.jobs().get(job)
    if listed is not None and listed.bytes > size:
        what = f"note: {size_words(listed.bytes - size)} more was printed; it was not stored, or was deleted"
        await write_patiently(2, f"{what}\n".encode())
    if not follow:
        return 0
    return 1 if ending is None else ending.exit_code


async def pass_bytes(store: Store, job: str, client: Client | StoredSession) -> JobEnd | None:
    """Every byte of a job to our own stdout and stderr, until it ends."""
    reader = store.artifact(job)
    try:
        raw = _Raw(reader)
        ending = await _followed(raw, store, job, client)
        await raw.advance(reader.size)
    finally:
        reader.close()
    return ending


async def _followed(output: _Raw | _Shown, store: Store, job: str, watched: Client | StoredSession) -> JobEnd | None:
    async with aclosing(follow(store, watched.session, attached=watched)) as frames:
        return await _until_ended(frames, job, output)


async def _until_ended(frames: AsyncIterator[Frame], job: str, output: _Raw | _Shown) -> JobEnd | None:
    async for frame in frames:
        await output.advance(_reached(frame, job))
        ending = ending_in(frame, job)
        if ending is not None:
            return ending
    return None


def _reached(frame: Frame, job: str) -> int:
    """How far the output of a job has got, as this frame has it."""
    if isinstance(frame, Snapshot):
        return max(
            (entry.received for entry in frame.entries if isinstance(entry, TranscriptCall) and entry.id == job),
            default=0,
        )
    return max((e.offset + e.size for e in frame if isinstance(e, ToolOutput) and e.id == job), default=0)
