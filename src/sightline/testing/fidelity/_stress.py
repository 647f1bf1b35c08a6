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
    with ProcessPoolExecutor(processes, initializer=_worker) as pool:
        running: dict[Future[Outcome], Case] = {}
        planned = 0
        try:
            while True:
                while planned < count and len(running) < processes + 2 and not report.failures:
                    case = next(waiting)
                    planned += len(case.operations)
                    running[pool.submit(run_case, case)] = case
                if not running:
                    break
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    report.add(future.result(), running.pop(future))
                progress(report)
        except KeyboardInterrupt:
            report.interrupted = True
            pool.shutdown(wait=True, cancel_futures=True)
    return report


def _worker() -> None:
    # Ctrl+C reaches the whole group: a worker ends its case, and its emulators with it.
    signal.signal(signal.SIGINT, lambda number, frame: _enough.append(True))


_enough: list[bool] = []  # in a worker: whether there was a Ctrl+C


def _has_enough() -> bool:
    return bool(_enough)
