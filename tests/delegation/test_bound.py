"""How many agents work at once: never more than the bound, nobody waits for ever, and it may change."""

import asyncio
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.delegation._bound import Bound


async def test_so_many_and_no_more() -> None:
    bound, most, now = Bound(lambda: 3), 0, 0

    async def work() -> None:
        nonlocal most, now
        async with bound.place():
            now += 1
            most = max(most, now)
            await asyncio.sleep(0)
            now -= 1

    await asyncio.gather(*(work() for _ in range(20)))
    assert (most, bound.taken) == (3, 0)


async def test_a_larger_bound_lets_those_in_that_wait() -> None:
    limit, over = 1, asyncio.Event()
    bound = Bound(lambda: limit)

    async def work() -> None:
        async with bound.place():
            await over.wait()

    working = [asyncio.ensure_future(work()) for _ in range(3)]
    await asyncio.sleep(0)
    assert bound.taken == 1
    limit = 3
    bound.refresh()
    await asyncio.sleep(0)
    assert bound.taken == 3
    over.set()
    await asyncio.gather(*working)


async def test_one_that_waits_for_another_gives_its_place_away() -> None:
    """With one place alone: a parent and the child it waits for both come to their end."""
    bound = Bound(lambda: 1)

    async def child() -> str:
        async with bound.place():
            return "done"

    async def parent() -> str:
        async with bound.place() as place, place.given_away():
            return await child()

    assert await asyncio.wait_for(parent(), 10) == "done"
    assert bound.taken == 0


async def test_one_that_waits_for_several_gives_it_away_once() -> None:
    """And one that ends meanwhile leaves once."""
    bound = Bound(lambda: 2)
    async with bound.place() as place:
        async with place.given_away(), place.given_away():
            assert bound.taken == 0
        assert bound.taken == 1
        async with place.given_away():
            place.leave()
        assert bound.taken == 0
    assert bound.taken == 0


async def test_one_that_is_cancelled_while_it_waits_leaves_no_hole() -> None:
    bound, over = Bound(lambda: 1), asyncio.Event()

    async def work() -> None:
        async with bound.place():
            await over.wait()

    first, second, third = (asyncio.ensure_future(work()) for _ in range(3))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    over.set()
    await asyncio.wait_for(asyncio.gather(first, third), 10)
    assert bound.taken == 0


async def test_one_that_returns_waits_for_a_place_like_any_other() -> None:
    """It had its message before the other was done: with one place they do not work at once."""
    bound, message, over = Bound(lambda: 1), asyncio.Event(), asyncio.Event()
    steps: list[str] = []

    async def waits() -> None:
        async with bound.place() as place:
            async with place.given_away():
                await message.wait()
            steps.append("returned")

    async def works() -> None:
        async with bound.place():
            message.set()
            await over.wait()
            steps.append("worked")

    both = [asyncio.ensure_future(waits()), asyncio.ensure_future(works())]
    for _ in range(10):
        await asyncio.sleep(0)
    assert (steps, bound.taken) == ([], 1)
    over.set()
    await asyncio.wait_for(asyncio.gather(*both), 10)
    assert (steps, bound.taken) == (["worked", "returned"], 0)


async def test_two_that_wait_for_each_other_hold_nobody_up() -> None:
    """Each has what the other waits for, and there is one place."""
    bound, first, second = Bound(lambda: 1), asyncio.Event(), asyncio.Event()

    async def work(mine: asyncio.Event, others: asyncio.Event) -> None:
        async with bound.place() as place:
            mine.set()
            async with place.given_away():
                await others.wait()

    await asyncio.wait_for(asyncio.gather(work(first, second), work(second, first)), 10)
    assert bound.taken == 0


async def test_one_that_is_stopped_does_not_wait_for_a_place() -> None:
    """Neither while it waits for another, nor while it waits to return; what it held is counted once."""
    bound, message, over = Bound(lambda: 1), asyncio.Event(), asyncio.Event()

    async def waits(event: asyncio.Event) -> None:
        async with bound.place() as place, place.given_away():
            await event.wait()

    async def works() -> None:
        async with bound.place():
            await over.wait()

    away, returns = asyncio.ensure_future(waits(asyncio.Event())), asyncio.ensure_future(waits(message))
    working = asyncio.ensure_future(works())
    for _ in range(5):
        await asyncio.sleep(0)
    message.set()
    for _ in range(5):
        await asyncio.sleep(0)
    for each in (away, returns):
        each.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(each, 10)
    assert bound.taken == 1
    over.set()
    await working
    assert bound.taken == 0


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_no_order_of_events_holds_anything_up(seed: int, limit: int) -> None:
    """Parents with children, cancelled at random: all end, no place is taken after that, and of those that were not
    stopped no more work than there are places."""
    chance = random.Random(seed)

    async def play() -> None:
        bound, stopped = Bound(lambda: limit), False

        async def work(depth: int) -> None:
            async with bound.place() as place:
                await asyncio.sleep(0)
                if depth < 3 and chance.random() < 0.6:
                    async with place.given_away():
                        await asyncio.gather(*(work(depth + 1) for _ in range(chance.randint(1, 3))))
                assert bound.taken <= limit or stopped

        tasks = [asyncio.ensure_future(work(0)) for _ in range(4)]
        for _ in range(chance.randint(0, 6)):
            await asyncio.sleep(0)
        stopped = True
        chance.choice(tasks).cancel()
        ends = await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        assert not [end for end in ends if isinstance(end, Exception)]
        for _ in range(5):
            await asyncio.sleep(0)
        assert bound.taken == 0

    asyncio.run(play())
