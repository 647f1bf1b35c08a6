"""Running one target for its budget, in a process of its own, and what came of it."""

import mmap
import os
import pickle
import resource
import select
import signal
import struct
import time
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from types import FrameType
from typing import Any

import msgspec

from sightline.testing.fuzz._reduce import reduced
from sightline.testing.fuzz._target import Target, Unsound

CPU_SECONDS = 1.0  # of one input
_SECONDS_WITHOUT_PROGRESS = 60.0  # waiting included: another machine's load must not look like a hang
_MEMORY = 2 * 1024**3  # of address space, above what the process has at its start
_MOST_FAILURES = 5
_TRACE = 1500

_COUNT = struct.Struct("=q")


class Failure(msgspec.Struct, frozen=True):
    """`given` is the input made shorter, as a literal; `index` replays the whole one."""

    index: int
    given: str
    what: str


class Result(msgspec.Struct, frozen=True):
    name: str
    executions: int
    seconds: float
    failures: list[Failure]


class TooSlow(Unsound):
    """An input that took too much of the processor."""


def input_of(target: Target, seed: int, index: int) -> Any:
    """The same one every time."""
    return target.make(Random(f"{seed}:{target.name}:{index}"))


def fuzz(target: Target, *, seconds: float, seed: int, at: int | None = None) -> Result:
    """Inputs one after the other until the time is over, or the one numbered `at` alone."""
    progress = mmap.mmap(-1, _COUNT.size)
    reader, writer = os.pipe()
    started = time.monotonic()
    child = os.fork()
    if child == 0:
        os.close(reader)
        _in_child(target, progress, writer, seconds, seed, at)
    os.close(writer)
    failures, is_stuck = _followed(child, reader, progress)
    index = _COUNT.unpack_from(progress)[0]
    if is_stuck:
        failures.append(
            Failure(index, repr(input_of(target, seed, index)), "it makes no progress, or its process died")
        )
    executed = index + 1 if at is None else 1
    return Result(target.name, executed, time.monotonic() - started, failures)


def _followed(child: int, reader: int, progress: mmap.mmap) -> tuple[list[Failure], bool]:
    """What the process reports; whether it had to be ended, or ended without a report."""
    received, last, since = b"", -1, time.monotonic()
    try:
        while True:
            ready, _, _ = select.select([reader], [], [], 0.2)
            if ready:
                part = os.read(reader, 65536)
                if not part:
                    break
                received += part
            count = _COUNT.unpack_from(progress)[0]
            if count != last:
                last, since = count, time.monotonic()
            elif time.monotonic() - since > _SECONDS_WITHOUT_PROGRESS:
                os.kill(child, signal.SIGKILL)
                break
    finally:
        os.close(reader)
    os.waitpid(child, 0)
    return (pickle.loads(received), False) if received else ([], True)


def _in_child(target: Target, progress: mmap.mmap, writer: int, seconds: float, seed: int, at: int | None) -> None:
    code = 1
    try:
        with _bounded_memory():
            failures = _failures(target, progress, seconds, seed, at)
        with os.fdopen(writer, "wb") as out:
            out.write(pickle.dumps(failures))
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def _failures(target: Target, progress: mmap.mmap, seconds: float, seed: int, at: int | None) -> list[Failure]:
    found: dict[str, Failure] = {}
    target.open()
    try:
        deadline = time.monotonic() + seconds
        index = at or 0
        while at is not None or time.monotonic() < deadline:
            _COUNT.pack_into(progress, 0, index)
            given = input_of(target, seed, index)
            error = failure_of(target, given)
            if error is not None and _kind(error) not in found:
                found[_kind(error)] = _failure(target, index, given, error)
            if at is not None or len(found) >= _MOST_FAILURES:
                break
            index += 1
    finally:
        target.close()
    return list(found.values())


def _failure(target: Target, index: int, given: Any, error: BaseException) -> Failure:
    short = reduced(given, lambda part: _kind(failure_of(target, part)) == _kind(error))
    what = "".join(traceback.format_exception(error))[-_TRACE:]
    return Failure(index, repr(short), what)


def failure_of(target: Target, given: Any) -> BaseException | None:
    try:
        with _processor_time(CPU_SECONDS):
            target.check(given)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return error
    return None


def _kind(error: BaseException | None) -> str:
    """Failures of one kind count once: what was raised, and where."""
    if error is None:
        return ""
    frames = traceback.extract_tb(error.__traceback__)
    where = "" if isinstance(error, TooSlow) or not frames else f"{frames[-1].filename}:{frames[-1].lineno}"
    return f"{type(error).__name__} {where} {error if isinstance(error, Unsound) else ''}"


@contextmanager
def _processor_time(seconds: float) -> Iterator[None]:
    """Of this process alone, so that a busy machine is no failure."""

    def over(number: int, frame: FrameType | None) -> None:
        raise TooSlow(f"more than {seconds:g} s of processor time")

    before = signal.signal(signal.SIGVTALRM, over)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


@contextmanager
def _bounded_memory() -> Iterator[None]:
    with open("/proc/self/statm") as statm:
        used = int(statm.read().split()[0]) * resource.getpagesize()
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (used + _MEMORY, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, before)
