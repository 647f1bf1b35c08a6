"""A run of a channel: what its bounded queue does when nobody reads, and when the end comes while it is full."""

import asyncio
from contextlib import aclosing

import pytest

from sightline.events import Event, RunEnded, Text
from sightline.providers._channel_run import _BATCHES_AT_MOST, ChannelRun


async def _nothing() -> None:
    pass


def run_that_never_stops() -> ChannelRun:
    return ChannelRun("fake", "S1", _nothing, _nothing)


async def filled(run: ChannelRun, *, beyond: int = 0) -> "asyncio.Task[None]":
    """As many batches as are taken without anybody reading, and a task that puts the rest and the end."""
    batches: list[list[Event]] = [[Text(f"{number} ", 1)] for number in range(_BATCHES_AT_MOST + beyond)]

    async def put_all() -> None:
        for batch in batches:
            await run.put(batch)
        await run.put([RunEnded()])

    task = asyncio.get_running_loop().create_task(put_all())
    for _ in range(_BATCHES_AT_MOST + beyond + 10):
        await asyncio.sleep(0)
    return task


@pytest.mark.parametrize("beyond", [-1, 0, 1, 50])
async def test_the_end_is_read_however_full_it_was(beyond: int) -> None:
    """Nothing is lost when the end waits for room, though who reads never pauses."""
    run = run_that_never_stops()
    putting = await filled(run, beyond=beyond)
    async with asyncio.timeout(30):
        events = [event async for batch in run.events() for event in batch]
        await putting
    assert "".join(event.text for event in events[:-1]) == "".join(f"{n} " for n in range(_BATCHES_AT_MOST + beyond))
    assert events[-1] == RunEnded(source="fake")


async def test_who_puts_waits_to_be_read() -> None:
    """A provider that is faster than what shows it is not kept in memory."""
    run = run_that_never_stops()
    putting = await filled(run, beyond=50)
    assert not putting.done()
    assert not run.over
    async with asyncio.timeout(30):
        async for _ in run.events():
            pass
        await putting


async def test_a_run_nobody_reads_any_more_holds_nobody_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who leaves its events ends it; the channel that fills it goes on."""
    monkeypatch.setattr("sightline.providers._channel_run._SECONDS_TO_STOP", 0.05)
    run = run_that_never_stops()
    putting = await filled(run, beyond=50)
    async with asyncio.timeout(30):
        async with aclosing(run.events()) as batches:
            await anext(batches)
        await putting
    assert run.over
