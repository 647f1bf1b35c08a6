"""Asking again: when, how long to wait, and that a wait can be cancelled."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from sightline.conversation import AssistantMessage
from sightline.models import Done, ErrorKind, ModelError, Piece, Retrying, TextDelta
from sightline.models.http._retry import retried, retry_after
from sightline.settings import RetrySettings
from tests.models.serving import Naps

DONE = Done(AssistantMessage([]))
RETRY = RetrySettings(attempts=3, base_ms=1000, cap_ms=60_000)


def failing(kind: ErrorKind = "overloaded", *, retryable: bool = True, after: float | None = None) -> ModelError:
    return ModelError(kind, "Overloaded", retryable=retryable, retry_after=after)


class Attempts:
    """Plays one list of pieces and errors after the other."""

    def __init__(self, *plays: list[Piece | ModelError]) -> None:
        self.plays = list(plays)
        self.made = 0
        self.closed = 0

    async def __call__(self) -> AsyncGenerator[Piece, None]:
        self.made += 1
        try:
            for piece in self.plays[min(self.made, len(self.plays)) - 1]:
                if isinstance(piece, ModelError):
                    raise piece
                yield piece
        finally:
            self.closed += 1


async def pieces_of(attempts: Attempts, naps: Naps, retry: RetrySettings = RETRY, chance: float = 1.0) -> list[Piece]:
    return [piece async for piece in retried(attempts, retry, sleep=naps, chance=lambda: chance)]


async def test_each_wait_is_told_and_doubles() -> None:
    """The wait is a piece that comes before it, and says how often and how long."""
    naps, attempts = Naps(), Attempts([failing()], [failing()], [failing()], [TextDelta(0, "Hi"), DONE])
    assert await pieces_of(attempts, naps) == [
        Retrying(1, 3, 1.0, "Overloaded"),
        Retrying(2, 3, 2.0, "Overloaded"),
        Retrying(3, 3, 4.0, "Overloaded"),
        TextDelta(0, "Hi"),
        DONE,
    ]
    assert naps.slept == [1.0, 2.0, 4.0]


async def test_chance_shortens_a_wait_to_half_of_it_at_most() -> None:
    """Many that failed together do not come back together."""
    naps = Naps()
    await pieces_of(Attempts([failing()], [DONE]), naps, chance=0.0)
    assert naps.slept == [0.5]


@pytest.mark.parametrize(
    ("asked", "waits"),
    [(7.0, [7.0]), (60.0, [60.0]), (0.0, [1.0]), (None, [1.0]), (60.5, None), (86_400.0, None)],
)
async def test_the_word_of_the_server(asked: float | None, waits: list[float] | None) -> None:
    """It is waited for as long as it asks, and not at all when that is longer than the cap."""
    naps, attempts = Naps(), Attempts([failing("rate_limit", after=asked)], [DONE])
    if waits is None:
        with pytest.raises(ModelError):
            await pieces_of(attempts, naps)
        assert naps.slept == []
    else:
        await pieces_of(attempts, naps)
        assert naps.slept == waits


async def test_a_wait_is_never_longer_than_the_cap() -> None:
    """Doubling ends at the cap, however many attempts are allowed."""
    naps = Naps()
    with pytest.raises(ModelError):
        await pieces_of(Attempts([failing()]), naps, RetrySettings(attempts=2000, base_ms=1000, cap_ms=5000))
    assert naps.slept[:4] == [1.0, 2.0, 4.0, 5.0]
    assert max(naps.slept) == 5.0
    assert len(naps.slept) == 2000


@pytest.mark.parametrize("attempts", [0, 1, 3])
async def test_it_gives_up(attempts: int) -> None:
    """After as many attempts as are allowed beyond the first, the error itself comes out."""
    tries = Attempts([failing()])
    with pytest.raises(ModelError, match="Overloaded"):
        await pieces_of(tries, Naps(), RetrySettings(attempts=attempts))
    assert tries.made == attempts + 1


async def test_what_asking_again_cannot_help() -> None:
    """An error that is not retryable comes out at once."""
    tries, naps = Attempts([failing("auth", retryable=False)]), Naps()
    with pytest.raises(ModelError):
        await pieces_of(tries, naps)
    assert (tries.made, naps.slept) == (1, [])


async def test_an_answer_that_began_is_not_asked_for_again() -> None:
    """Nothing is shown twice: a stream cut after its first piece is the caller's to deal with."""
    tries = Attempts([TextDelta(0, "Hi"), failing("cut")])
    pieces = retried(tries, RETRY, sleep=Naps())
    assert await anext(pieces) == TextDelta(0, "Hi")
    with pytest.raises(ModelError):
        await anext(pieces)
    assert tries.made == 1


async def test_cancelled_in_a_wait() -> None:
    """A wait of a minute ends at once."""
    tries = Attempts([failing(after=60.0)], [DONE])
    waiting = asyncio.Event()

    async def run() -> None:
        async for piece in retried(tries, RETRY):
            assert isinstance(piece, Retrying)
            waiting.set()

    task = asyncio.create_task(run())
    await asyncio.wait_for(waiting.wait(), 60)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(task, 60)
    assert tries.made == 1


async def test_closing_closes_the_attempt() -> None:
    """Who stops listening stops the request."""
    tries = Attempts([TextDelta(0, "Hi"), DONE])
    async with aclosing(retried(tries, RETRY)) as pieces:
        await anext(pieces)
        assert tries.closed == 0
    assert tries.closed == 1


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": " 1.5 "}, 1.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Thu, 01 Jan 1970 00:01:40 GMT"}, 90.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:01 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "²"}, None),
        ({"retry-after": "9" * 400}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_how_a_server_asks_for_a_wait(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds or a date; nonsense is no wish."""
    assert retry_after(headers, now=lambda: 10.0) == seconds
