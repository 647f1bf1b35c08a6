"""The promise that no process outlives a test."""

from collections.abc import Iterator

import pytest

from .running import descendants, started_since, wait_for


@pytest.fixture
def none_left() -> Iterator[None]:
    before = descendants()
    yield
    try:
        wait_for(lambda: not started_since(before), "no process left")
    finally:
        for process in started_since(before):
            process.kill()
