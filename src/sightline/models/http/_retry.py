"""Retries: when, how often, and how long to wait before.

- A retryable error is retried, and only while nothing of the answer has been passed on.
- A wait that the server requests is observed; one of more than `cap_ms` is not waited for. Without
  a request the wait doubles each time, with some chance in it so that many who failed together do not return together.
- Each wait is announced (`Retrying`) before it begins, and ends at once when it is cancelled.
"""

import asyncio
import random
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing

from sightline.models._api import ModelError, Piece, Retrying
from sightline.settings import RetrySettings

Attempt = Callable[[], AsyncGenerator[Piece, None]]
Sleep = Callable[[float], Awaitable[object]]

_LONGEST_DOUBLING = 30  # powers of two; beyond it every cap is reached


async def retried(
    attempt: Attempt, retry: RetrySettings, *, sleep: Sleep = asyncio.sleep, chance: Callable[[], float] = random.random
) -> AsyncGenerator[Piece, None]:
    """The pieces of the first attempt that begins to answer."""
    failures = 0
    while True:
        begun = False
        try:
            async with aclosing(attempt()) as pieces:
                async for piece in pieces:
                    begun = True
                    yield piece
            return
        except ModelError as error:
            failures += 1
            if begun or not error.retryable or failures > retry.attempts:
                raise
            seconds = _wait(error.retry_after, failures, retry, chance)
            if seconds is None:
                raise
            waiting = Retrying(failures, retry.attempts, seconds, error.message)
        yield waiting
        await sleep(seconds)


def _wait(requested: float | None, failures: int, retry: RetrySettings, chance: Callable[[], float]) -> float | None:
    """Seconds; None: longer than we wait."""
    cap = retry.cap_ms / 1000
    if requested:
        return requested if requested <= cap else None
    doubled: float = min(cap, retry.base_ms / 1000 * 2 ** min(failures - 1, _LONGEST_DOUBLING))
    return doubled * (1 + chance()) / 2


def retry_after(headers: Mapping[str, str], now: Callable[[], float] = time.time) -> float | None:
    """Seconds a server requested: `retry-after-ms`, or `retry-after` as seconds or as a date; None when it did not."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("retry-after", "").strip()
    seconds = _number(value)
    if seconds is not None or not value:
        return seconds
    from email.utils import parsedate_to_datetime

    try:
        return max(0.0, parsedate_to_datetime(value).timestamp() - now())
    except (ValueError, TypeError, OverflowError):
        return None


def _number(text: str) -> float | None:
    text = text.strip()
    if len(text) > 20 or not text.isascii() or not text.replace(".", "", 1).isdigit():
        return None
    return float(text)
