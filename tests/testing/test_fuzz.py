"""The fuzzer: every target holds for a while, and a target that does not is found, shortened and replayed."""

import time
from random import Random

import pytest

from sightline.testing.fuzz import TARGETS, Unsound, fuzz
from sightline.testing.fuzz import _run as runner
from sightline.testing.fuzz._target import Plain

SEED = 20261116


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_nothing_raises_hangs_or_passes(target):
    """A second of each, always with the same inputs."""
    result = fuzz(target, seconds=1.0, seed=SEED)
    assert result.executions
    assert result.failures == []


def test_there_is_a_target_for_every_reader_of_what_others_write():
    """Rules, command lines, paths, escapes, archives, databases, a host's socket, HTTP and definitions of agents."""
    names = {target.name for target in TARGETS}
    expected = {"rules", "commands", "paths", "escapes", "archives", "databases", "socket", "http", "definitions"}
    assert names == expected


def test_an_input_is_the_same_every_time():
    """Seed, target and number replay it."""
    for target in TARGETS:
        first = [runner.input_of(target, SEED, index) for index in range(50)]
        assert first == [runner.input_of(target, SEED, index) for index in range(50)]
        assert len({repr(given) for given in first}) > 10


class _Broken(Plain):
    """Fails for every text with an x in it."""

    name = "broken"

    def make(self, random: Random) -> str:
        return "".join(random.choices("abcx", k=100))

    def check(self, given: str) -> None:
        if "x" in given:
            raise Unsound("an x")


def test_a_failing_input_is_found_and_made_short():
    """One character is left of a hundred; its number replays the whole input."""
    result = fuzz(_Broken(), seconds=5, seed=SEED)
    assert [(failure.given, "an x" in failure.what) for failure in result.failures] == [("'x'", True)]
    again = fuzz(_Broken(), seconds=5, seed=SEED, at=result.failures[0].index)
    assert again.failures == result.failures


class _Slow(_Broken):
    name = "slow"

    def check(self, given: str) -> None:
        while True:
            pass


class _Deaf(_Slow):
    """Makes no progress and hears no signal."""

    name = "deaf"

    def check(self, given: str) -> None:
        time.sleep(1000)


def test_an_input_that_takes_too_long_fails(monkeypatch):
    """After a second of processor time, which may take long to come together."""
    monkeypatch.setattr(runner, "_SECONDS_WITHOUT_PROGRESS", 90)
    result = fuzz(_Slow(), seconds=1, seed=SEED)
    assert "processor time" in result.failures[0].what


def test_an_input_that_makes_no_progress_ends_the_process(monkeypatch):
    """The parent ends it and says which input it was."""
    monkeypatch.setattr(runner, "_SECONDS_WITHOUT_PROGRESS", 0.5)
    result = fuzz(_Deaf(), seconds=60, seed=SEED)
    assert result.failures[0].given == repr(runner.input_of(_Deaf(), SEED, 0))


class _Greedy(_Broken):
    name = "greedy"

    def check(self, given: str) -> None:
        bytearray(8 * 1024**3)


def test_an_input_that_takes_too_much_memory_fails():
    """Two gigabytes above what the process began with."""
    assert "MemoryError" in fuzz(_Greedy(), seconds=1, seed=SEED).failures[0].what
