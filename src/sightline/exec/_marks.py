"""How descendants of a run are recognised when parentage and session no longer tell.

Every run has a mark, a short hexadecimal number, and its first process carries it twice; children inherit both:

- in the environment, after the marks of the runs around it. Lost by a program that is started with a clean one.
- on Linux as its soft limit on file locks (RLIMIT_LOCKS), which no kernel since 2.4 looks at and anybody may read.
  Lost only by a program that sets that limit itself, and not given where the limit is in use or may not be set.

The limit is set right after the start: code between fork and exec is unsafe beside threads, and what a program starts
in its first fraction of a millisecond has the environment.
"""

import os
import sys
from collections.abc import Mapping

# Holds the marks of all the runs a process descends from.
MARK_VARIABLE = "SIGHTLINE_RUN"

_RLIMIT_LOCKS = 10
_RUNS = 1 << 24  # that one program can tell apart

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


def set_limit(pid: int, mark: str) -> None:
    """Give a process we just started the mark that a clean environment does not take away."""
    if sys.platform != "linux":
        return
    import resource

    try:
        _, hard = resource.prlimit(pid, _RLIMIT_LOCKS)
        if hard == resource.RLIM_INFINITY:
            resource.prlimit(pid, _RLIMIT_LOCKS, (int(mark, 16), hard))
    except (OSError, ValueError):  # already gone, another user's, or a kernel that does not let us
        return


def limit_of(pid: int) -> int:
    """What stands there; 0 where nothing does."""
    try:
        with open(f"/proc/{pid}/limits", "rb") as file:
            _, _, rest = file.read().partition(b"Max file locks")
        return int(rest.split(maxsplit=1)[0])
    except (OSError, ValueError, IndexError):
        return 0


def is_ours(limit: int) -> bool:
    """Whether a run of this very program was given it."""
    return _issuer == os.getpid() and limit // _RUNS == _tag
