"""One prompt for another provider's agent, as the command line has it run: its reader, and what is in between."""

import asyncio
import os
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from pathlib import Path

import pytest

from sightline.events import Error, Event, Text
from sightline.host.provider._reader_queue import ReaderQueue
from sightline.host.provider._run import ProviderRun
from sightline.journal import JournalWriter, Store
from sightline.providers import ProviderPrompt, get_provider, start_run
from tests.cli.fake_claude import DONE, INIT, FakeClaude, said

from .support import DEADLINE, until


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeClaude]:
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    claude = FakeClaude(tmp_path, monkeypatch)
    yield claude
    claude.close()


def a_run() -> ProviderRun:
    provider, ask = get_provider("claude"), ProviderPrompt(prompt="one")
    return ProviderRun(Store(Path(os.environ["SIGHTLINE_HOME"])), provider, ask, start_run(provider, ask))


async def read_late(run: ProviderRun, events: list[Event]) -> None:
    """A reader that takes nothing before the run is over."""
    async with aclosing(run.events()) as batches:
        events += await anext(batches)
        await until(lambda: _is_over(run), "the end of the run")
        async for batch in batches:
            events += batch


def _is_over(run: ProviderRun) -> bool:
    try:
        return run.outcome is not None
    except RuntimeError:
        return False


@pytest.mark.parametrize("full", [False, True])
async def test_a_reader_gets_all_or_is_told_what_is_missing(
    program: FakeClaude, monkeypatch: pytest.MonkeyPatch, full: bool
) -> None:
    """What it did not read in time is in the journal. Where the disk had no room for it, the run has not gone well."""
    program.plays(INIT, *[said(f"Block {number}.") for number in range(3000)], DONE)
    write = JournalWriter.write_lines

    def on_a_full_disk(self: JournalWriter, data: bytes) -> None:
        if full and b"Block 2" in data:
            raise OSError(28, "No space left on device")
        write(self, data)

    monkeypatch.setattr(JournalWriter, "write_lines", on_a_full_disk)
    run, events = a_run(), list[Event]()
    await asyncio.wait_for(read_late(run, events), DEADLINE)
    words = [event.text for event in events if isinstance(event, Text)]
    errors = [event.text for event in events if isinstance(event, Error)]
    if not full:
        assert words == [f"Block {number}." for number in range(3000)]
        assert errors == []
    else:
        assert len(words) < 3000
        assert any("could not be stored and are not shown" in error or "are not stored" in error for error in errors)
    assert run.outcome.exit_code == int(full)


async def test_a_run_nobody_reads_any_more_is_ended(program: FakeClaude) -> None:
    """With its process; its session is complete and no host is left."""
    program.plays(INIT, said("Words."), "WAIT go", DONE)
    run = a_run()
    async with aclosing(run.events()) as batches:
        async for batch in batches:
            if any(isinstance(event, Text) for event in batch):
                break
    assert run.outcome.exit_code == 130
    assert os.listdir(f"{os.environ['SIGHTLINE_HOME']}/run") == []


# From the one task to the other


async def _all(items: AsyncGenerator[int, None]) -> list[int]:
    return [item async for item in items]


async def _put(queue: ReaderQueue[int], many: int, put: list[int]) -> None:
    for number in range(many):
        await queue.put(number)
        put.append(number)
    queue.end()


async def test_a_queue_is_read_in_order_and_to_its_end() -> None:
    queue: ReaderQueue[int] = ReaderQueue()
    put: list[int] = []
    _, read = await asyncio.wait_for(asyncio.gather(_put(queue, 100, put), _all(queue.read())), DEADLINE)
    assert read == put == list(range(100))


async def test_a_reader_that_is_behind_is_waited_for_until_it_is_released() -> None:
    """What was put before and after is still there for it."""
    queue: ReaderQueue[int] = ReaderQueue()
    put: list[int] = []
    writing = asyncio.create_task(_put(queue, 100, put))
    for _ in range(1000):
        await asyncio.sleep(0)
    assert len(put) < 10
    assert not writing.done()
    queue.release()
    await asyncio.wait_for(writing, DEADLINE)
    assert await asyncio.wait_for(_all(queue.read()), DEADLINE) == list(range(100))
