"""The way to a host, when whoever looks has gone: nothing goes on reading for them."""

import asyncio
from pathlib import Path
from typing import Any

from sightline.events import Event, Notice, Text
from sightline.journal import Store
from sightline.views.console.session._link import AT_ONCE, Link, _parts
from tests.agent.support import lab
from tests.host.support import until


def reading() -> list[Any]:
    return [task for task in asyncio.all_tasks() if task.get_coro().__qualname__ == "Client._read"]  # type: ignore[union-attr]


async def test_one_that_is_left_while_it_connects_reads_nothing(tmp_path: Path) -> None:
    """The session was switched before its host had answered: what it tells is of no interest any more."""
    async with lab(tmp_path, []) as here:
        frames: list[Any] = []
        link = Link(here.store, on_frame=frames.append)
        following = asyncio.create_task(link.follow(here.session.id))
        link.close()
        await asyncio.wait_for(following, 10)
        await until(lambda: not reading(), "the end of reading")
        assert not frames


async def test_one_that_is_cancelled_reads_nothing(tmp_path: Path) -> None:
    """The program ends in the middle of what a host tells."""
    async with lab(tmp_path, []) as here:
        frames: list[Any] = []
        link = Link(here.store, on_frame=frames.append)
        following = asyncio.create_task(link.follow(here.session.id))
        await until(lambda: frames, "what the host tells first")
        assert reading()
        following.cancel()
        await asyncio.wait([following])
        await until(lambda: not reading(), "the end of reading")


async def test_a_host_that_is_ending_is_waited_for(tmp_path: Path) -> None:
    """It has no socket any more and still holds its session: resumed at that moment, the session gets a new host."""
    store = Store(tmp_path / "data")
    ending = store.create()
    ended: list[str] = []
    link = Link(store, on_end=ended.append)
    connecting = asyncio.create_task(link.connect(ending.folder.name))
    done, _ = await asyncio.wait([connecting], timeout=0.1)
    assert not done
    ending.close()
    assert await asyncio.wait_for(connecting, 10) is False
    assert not ended


async def test_what_is_left_while_it_connects_is_left(tmp_path: Path) -> None:
    async with lab(tmp_path, []) as here:
        link = Link(here.store)
        link.close()
        assert await link.connect(here.session.id)
        await until(lambda: not reading(), "the end of reading")


async def test_what_begins_much_is_handed_on_in_parts() -> None:
    """So many blocks to a frame; words that go on count for nothing, and nothing is left out."""
    told: list[Event] = [Notice(str(number)) for number in range(2 * AT_ONCE + 5)]
    assert [len(part) async for part in _parts(told)] == [AT_ONCE, AT_ONCE, 5]  # type: ignore[arg-type]
    mixed: list[Event] = [*told[:AT_ONCE], *(Text("word") for _ in range(1000)), *told[AT_ONCE:]]
    parts = [part async for part in _parts(mixed)]
    assert [len(part) for part in parts] == [AT_ONCE + 1000, AT_ONCE, 5]  # type: ignore[arg-type]
    assert [event for part in parts for event in part] == mixed  # type: ignore[union-attr]
