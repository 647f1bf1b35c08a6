"""From a sequence that fails to a short one that fails by the same rule."""

from collections.abc import Callable, Iterator

import msgspec

from sightline.testing.emulators import EmulatorMissing
from sightline.testing.fidelity._divergence import Divergence
from sightline.testing.fidelity._operations import Operation
from sightline.testing.fidelity._session import run
from sightline.testing.fidelity._world import Case

_MOST_RUNS = 400


class Failure(msgspec.Struct, frozen=True):
    """Which rule broke, or which exception came out, and where."""

    rule: str
    detail: str
    at: int


class _Enough(Exception):
    """The case is not run to its end."""


def failure_of(case: Case, is_enough: Callable[[], bool] = lambda: False) -> Failure | None:
    """Run a case, or a part of it; how it failed, if it did."""
    at = 0

    def applied(index: int) -> None:
        nonlocal at
        at = index
        if is_enough():
            raise _Enough

    try:
        run(case, applied)
    except Divergence as divergence:
        return Failure(divergence.rule, str(divergence), at)
    except _Enough:
        return None
    except EmulatorMissing:
        raise
    except Exception as error:
        return Failure(type(error).__name__, _traced(error), at)
    return None


def _traced(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error)[-4:])


def reduce(case: Case, failure: Failure, fails: Callable[[Case], Failure | None] = failure_of) -> tuple[Case, Failure]:
    """Take operations out, and make those that stay smaller, as long as it fails by the same rule."""
    case = msgspec.structs.replace(case, operations=case.operations[: failure.at + 1])
    runs = 0
    changed = True
    while changed and runs < _MOST_RUNS:
        changed = False
        for smaller in _smaller(case):
            runs += 1
            found = fails(smaller)
            if found is not None and found.rule == failure.rule:
                case = msgspec.structs.replace(smaller, operations=smaller.operations[: found.at + 1])
                failure, changed = found, True
                break
            if runs >= _MOST_RUNS:
                break
    return case, failure


def _smaller(case: Case) -> Iterator[Case]:
    """Cases with less in them, the boldest first."""
    operations = case.operations
    part = max(1, len(operations) // 2)
    while True:
        for start in range(len(operations) - part, -1, -part):
            yield _with(case, operations[:start] + operations[start + part :])
        if part == 1:
            break
        part //= 2
    for index, operation in enumerate(operations):
        for simpler in _simpler(operation):
            yield _with(case, [*operations[:index], simpler, *operations[index + 1 :]])


def _simpler(operation: Operation) -> Iterator[Operation]:
    if operation.frames > 1:
        yield msgspec.structs.replace(operation, frames=1)
    if operation.size > 1:
        yield msgspec.structs.replace(operation, size=operation.size // 2)


def _with(case: Case, operations: list[Operation]) -> Case:
    return msgspec.structs.replace(case, operations=operations)
