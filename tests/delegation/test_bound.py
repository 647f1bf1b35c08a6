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
        async with bound.place() as place:
            with place.given_away():
                return await child()

    assert await asyncio.wait_for(parent(), 10) == "done"
    assert bound.taken == 0


async def test_one_that_waits_for_several_gives_it_away_once() -> None:
    """And one that ends meanwhile leaves once."""
    bound = Bound(lambda: 2)
    async with bound.place() as place:
        with place.given_away(), place.given_away():
            assert bound.taken == 0
        assert bound.taken == 1
        with place.given_away():
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


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 4))
def test_no_order_of_events_holds_anything_up(seed: int, limit: int) -> None:
    """Parents with children, cancelled at random: all end, and no place is taken after that."""
    chance = random.Random(seed)

    async def play() -> None:
        bound = Bound(lambda: limit)

        async def work(depth: int) -> None:
            async with bound.place() as place:
                await asyncio.sleep(0)
                if depth < 3 and chance.random() < 0.6:
                    with place.given_away():
                        await asyncio.gather(*(work(depth + 1) for _ in range(chance.randint(1, 3))))

        tasks = [asyncio.ensure_future(work(0)) for _ in range(4)]
        for _ in range(chance.randint(0, 6)):
            await asyncio.sleep(0)
        chance.choice(tasks).cancel()
        await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 20)
        for _ in range(5):
            await asyncio.sleep(0)
        assert bound.taken == 0

    asyncio.run(play())
