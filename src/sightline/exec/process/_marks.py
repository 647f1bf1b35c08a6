"""Marks by which descendants of a run are recognised when parentage and session are lost.

Every run has a mark, a short hexadecimal number, and its first process carries it twice; children inherit both:

- in the environment, after the marks of the runs around it. Lost by a program that is started with a clean one.
- on Linux as its soft limit on file locks (RLIMIT_LOCKS), which no kernel since 2.4 looks at and everyone may read.
  Lost only by a program that sets that limit itself, and not given where the limit is in use or may not be set.

The limit is our own while a run is being started. Code between fork and exec is unsafe beside threads, and setting it
after the start is too late: a shell can have made its first orphan within a millisecond.
"""

import os
import re
import resource
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

# Holds the marks of all the runs a process descends from.
MARK_VARIABLE = "SIGHTLINE_RUN"

_RLIMIT_LOCKS = 10
_RUNS = 1 << 24  # that one program can distinguish
_HEXADECIMAL = re.compile(rb"[0-9a-f]{1,32}").fullmatch

_one_at_a_time = threading.Lock()
_tag = _issued = _issuer = 0


def new_mark() -> str:
    """One no other run has. A program that was forked begins anew, so that it never repeats what its parent gave."""
    global _tag, _issued, _issuer
    if _issuer != os.getpid():
        _tag, _issued, _issuer = int.from_bytes(os.urandom(4), "big") | 1 << 32, 0, os.getpid()
    _issued += 1
    return f"{_tag * _RUNS + _issued % _RUNS:x}"


def marked_environment(environment: Mapping[str, str], cwd: str, mark: str) -> dict[str, str]:
    """With the mark by which descendants are found, and a PWD that agrees with the folder."""
    marked = {**environment, MARK_VARIABLE: ":".join(filter(None, (environment.get(MARK_VARIABLE), mark)))}
    if cwd:
        marked["PWD"] = os.path.abspath(cwd)
    return marked


@contextmanager
def limit(mark: str) -> Iterator[None]:
    """What is started inside inherits the mark that a clean environment does not take away."""
    with _one_at_a_time:
        before = _set_limit(int(mark, 16))
        try:
            yield
        finally:
            if before is not None:
                _set_limit(before)


def _set_limit(number: int) -> int | None:
    """What it was before; None where it cannot be set."""
    if sys.platform != "linux":
        return None
    try:
        before, hard = resource.getrlimit(_RLIMIT_LOCKS)
        if hard == resource.RLIM_INFINITY:
            resource.setrlimit(_RLIMIT_LOCKS, (number, hard))
            return before
    except (OSError, ValueError):
        pass
    return None


def limit_of(pid: int) -> int:
    """What stands there; 0 where nothing does."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            _, _, rest = file.read().partition(b"Max file locks")
        return int(rest.split(maxsplit=1)[0])
    except (OSError, ValueError, IndexError):
        return 0


def of_process(pid: int) -> frozenset[int]:
    """All the marks a process carries, of whatever program; OSError when they cannot be read."""
    name = MARK_VARIABLE.encode() + b"="
    with open(f"/proc/{pid}/environ", "rb") as file:
        entries = [entry.removeprefix(name) for entry in file.read().split(b"\0") if entry.startswith(name)]
    limit = limit_of(pid)
    found = {int(mark, 16) for entry in entries for mark in entry.split(b":") if _HEXADECIMAL(mark)}
    return frozenset(found | ({limit} if limit // _RUNS >> 32 == 1 else set()))


def is_ours(limit: int) -> bool:
    """Whether a run of this very program was given it."""
    return _issuer == os.getpid() and limit // _RUNS == _tag
