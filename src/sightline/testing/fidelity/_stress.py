"""Many cases, in several processes, until enough operations were run or one failed."""

import itertools
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait

import msgspec

from sightline.testing.emulators import Kind
from sightline.testing.fidelity._reduce import Failure, failure_of, reduce
from sightline.testing.fidelity._world import Case, make_case

SHORTEST, LONGEST = 60, 150
_ROUND: tuple[Kind, ...] = ("xterm", "ghostty", "xterm", "ghostty", "xterm", "ghostty", "xterm", "tmux")
"""tmux takes the most time for an operation and gets the fewest."""

_LOOKED_AFTER = 0.2  # seconds between two looks whether the user has enough


class Outcome(msgspec.Struct, frozen=True):
    """A case that ran; with a failure, the shortest case that was found to fail in the same way."""

    case: Case
    operations: int
    failure: Failure | None = None


class Report(msgspec.Struct):
    """What was run."""

    operations: int = 0
    cases: int = 0
    by_operation: Counter[str] = msgspec.field(default_factory=Counter)
    by_emulator: Counter[str] = msgspec.field(default_factory=Counter)
    by_layout: Counter[str] = msgspec.field(default_factory=Counter)
    sizes: set[tuple[int, int]] = msgspec.field(default_factory=set)
    failures: list[Outcome] = msgspec.field(default_factory=list)
    interrupted: bool = False

    def add(self, outcome: Outcome, full: Case) -> None:
        self.operations += outcome.operations
        self.cases += 1
        self.by_operation.update(operation.do for operation in full.operations[: outcome.operations])
        self.by_emulator[full.world.emulator] += outcome.operations
        self.by_layout[full.world.layout] += outcome.operations
        self.sizes.add((full.world.columns, full.world.rows))
        if outcome.failure is not None:
            self.failures.append(outcome)


def case_of(seed: int, emulator: Kind) -> Case:
    """The same world and sequence for the same seed, always."""
    return make_case(seed, emulator, random.Random(seed).randint(SHORTEST, LONGEST))


def cases(seed: int, emulators: Sequence[Kind]) -> Iterator[Case]:
    """Without end, from this seed on."""
    order = [emulator for emulator in _ROUND if emulator in emulators]
    for number, emulator in zip(itertools.count(seed), itertools.cycle(order), strict=False):
        yield case_of(number, emulator)


def run_case(case: Case) -> Outcome:
    """Run one, and shorten it when it fails: that takes hundreds of runs, so not when the user has enough."""
    failure = failure_of(case, _has_enough)
    if failure is None:
        return Outcome(case, len(case.operations))
    done = failure.at + 1
    if _has_enough():
        return Outcome(case, done, failure)
    return Outcome(*_shortened(case, failure, done))


def _shortened(case: Case, failure: Failure, done: int) -> tuple[Case, int, Failure]:
    shorter, failure = reduce(case, failure)
    return shorter, done, failure


def stress(
    count: int,
    seed: int,
    emulators: Sequence[Kind],
    progress: Callable[[Report], None] = lambda report: None,
    processes: int = max(1, min(2, os.cpu_count() or 1)),
) -> Report:
    """Run cases until `count` operations were applied, one failed, or the user had enough."""
    report = Report()
    waiting = cases(seed, emulators)
    # Ctrl+C reaches the whole group, and may come while a worker is being started: each process takes note of it, ends
    # its case, and its emulators with it. An exception there would leave workers behind that nobody has work for.
    before = signal.signal(signal.SIGINT, lambda number, frame: _enough.append(True))
    try:
        with ProcessPoolExecutor(processes) as pool:
            running: dict[Future[Outcome], Case] = {}
            planned = 0
            while True:
                while planned < count and len(running) < processes + 2 and not (report.failures or _has_enough()):
                    case = next(waiting)
                    planned += len(case.operations)
                    running[pool.submit(run_case, case)] = case
                if not running or _has_enough():
                    break
                for future in wait(running, _LOOKED_AFTER, return_when=FIRST_COMPLETED).done:
                    report.add(future.result(), running.pop(future))
                progress(report)
            report.interrupted = _has_enough()
            pool.shutdown(wait=True, cancel_futures=True)
    finally:
        signal.signal(signal.SIGINT, before)
        _enough.clear()
    return report


_enough: list[bool] = []  # whether there was a Ctrl+C; a worker inherits the list and the handler that fills it


def _has_enough() -> bool:
    return bool(_enough)
