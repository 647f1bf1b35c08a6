"""The promise that no process outlives a test."""

import os
import signal
from collections.abc import Iterator

import pytest

from .running import children_of_ours, wait_for


@pytest.fixture
def none_left() -> Iterator[None]:
    yield
    try:
        wait_for(lambda: not children_of_ours(), "no process left", 5)
    finally:
        for pid in children_of_ours():
            os.kill(pid, signal.SIGKILL)
