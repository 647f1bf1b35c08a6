"""`python -m sightline.testing.fidelity --count 100000 [--seed S] [--emulator xterm] [--replay FILE]`."""

import argparse
import random
import sys
import time
from pathlib import Path

import msgspec

from sightline.testing.emulators import KINDS
from sightline.testing.fidelity._reduce import Failure, failure_of
from sightline.testing.fidelity._stress import Report, stress
from sightline.testing.fidelity._world import Case


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m sightline.testing.fidelity", description=__doc__)
    parser.add_argument("--count", type=int, default=3000, help="operations to run (default 3000)")
    parser.add_argument("--seed", type=int, help="the first case's seed (default: a new one)")
    parser.add_argument("--emulator", action="append", choices=KINDS, help="only this one; may be given again")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="run one case again, as printed when it failed")
    arguments = parser.parse_args()
    if arguments.replay is not None:
        return _replay(msgspec.json.decode(arguments.replay.read_bytes(), type=Case))
    seed = arguments.seed if arguments.seed is not None else random.randrange(1_000_000_000)
    began = time.monotonic()
    report = stress(arguments.count, seed, arguments.emulator or KINDS, _Progress(arguments.count))
    _print_report(report, seed, time.monotonic() - began)
    return 130 if report.interrupted else 1 if report.failures else 0


def _replay(case: Case) -> int:
    failure = failure_of(case)
    if failure is None:
        print(f"seed {case.seed} on {case.world.emulator}: {len(case.operations)} operations, no divergence")
        return 0
    _print_failure(case, failure)
    return 1


class _Progress:
    """A line on a terminal, a line every ten seconds elsewhere."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._began = time.monotonic()
        self._printed = self._began
        self._live = sys.stderr.isatty()

    def __call__(self, report: Report) -> None:
        now = time.monotonic()
        if now - self._printed < (0.2 if self._live else 10):
            return
        self._printed = now
        speed = report.operations / (now - self._began)
        left = max(0, self._count - report.operations) / max(1, speed)
        line = f"{report.operations:,} of {self._count:,} operations, {speed:,.0f}/s, {left:,.0f} s left"
        print(f"\r{line}\x1b[K" if self._live else line, end="" if self._live else "\n", file=sys.stderr, flush=True)


def _print_report(report: Report, seed: int, seconds: float) -> None:
    if sys.stderr.isatty():
        print("\r\x1b[K", end="", file=sys.stderr)
    for outcome in report.failures:
        assert outcome.failure is not None
        _print_failure(outcome.case, outcome.failure)
    print(f"operations  {report.operations:,} in {seconds:,.0f} s" + (", interrupted" if report.interrupted else ""))
    print(f"seeds       {seed} to {seed + report.cases - 1}")
    print(f"emulators   {_counts(report.by_emulator)}")
    print(f"worlds      {report.cases:,} with {len(report.sizes)} sizes; {_counts(report.by_layout)}")
    print(f"kinds       {_counts(report.by_operation)}")
    print(f"divergences {len(report.failures)}")


def _counts(counter: dict[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in sorted(counter.items(), key=lambda item: -item[1]))


def _print_failure(case: Case, failure: Failure) -> None:
    print(f"seed {case.seed} on {case.world.emulator}, operation {failure.at + 1} of {len(case.operations)}")
    print(failure.detail)
    print("to run it again, save this line and give it to --replay:")
    print(msgspec.json.encode(case).decode())


if __name__ == "__main__":
    sys.exit(main())
