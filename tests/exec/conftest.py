"""The promise that no process outlives a test."""

from collections.abc import Iterator

import pytest

from .running import children_of_ours, wait_for


@pytest.fixture
def none_left() -> Iterator[None]:
    before = children_of_ours()  # a browser or an emulator stays for the tests that need one
    yield
    try:
        wait_for(lambda: children_of_ours() <= before, "no process left")
    finally:
        for process in children_of_ours() - before:
            process.kill()
