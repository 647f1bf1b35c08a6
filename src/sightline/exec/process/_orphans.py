"""Processes whose parent died before them: on Linux they are given to us, so that losing a parent hides none.

Rules:

- A child of ours that we did not start is an orphan. What we start for a run is noted here; whatever else this program
  starts stays in our own session, where nothing that a run started can be.
- Most orphans carry the mark of their run (see `_marks`), and that settles whose they are. One that carries none of
  ours is counted to a run that is being ended when it is younger than that run and no other run is at work; otherwise
  it may be another's, and is left alone until the last of them is being ended.
- The process that adopts an orphan must collect it when it ends. In a program of someone else's (the SDK) a child in a
  session of its own may be theirs, and its exit code theirs to read: there only those with a mark of ours are
  collected.
"""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from sightline.exec.process import _marks, _table

_PR_SET_CHILD_SUBREAPER = 36

_ours: set[int] = set()
_helpers: set[int] = set()
_at_work: set[int] = set()
_unsettled = sys.maxsize  # when the oldest was born of the runs that were ended while others were at work
_adopting: bool | None = None  # None: not requested yet
_visits = 0  # how many sessions run in a program of someone else's


@contextmanager
def as_guest() -> Iterator[None]:
    """We run in a program of someone else's: its children are not ours to collect."""
    global _visits
    _visits += 1
    try:
        yield
    finally:
        _visits -= 1


def adopt() -> None:
    """From now on orphans come to us. Requested once; a kernel that does not know it changes nothing."""
    global _adopting
    if _adopting is None:
        _adopting = sys.platform == "linux" and _become_subreaper()


def run_started(pid: int) -> int:
    """Note the first process of a run. Returns when it was born, for `orphans`; 0 when that cannot be seen."""
    global _unsettled
    if not _at_work:
        _unsettled = sys.maxsize
    _ours.add(pid)
    _at_work.add(pid)
    try:
        row = _table.process(pid)
    except OSError:
        return 0
    return 0 if row is None else row.born


def helper_started(pid: int) -> None:
    _ours.add(pid)
    _helpers.add(pid)


def run_ends(pid: int) -> None:
    """It is over or about to be: orphans may be assigned to other runs."""
    _at_work.discard(pid)


def forget(pid: int) -> None:
    """It has been collected; its number may be given to another."""
    _at_work.discard(pid)
    _ours.discard(pid)
    _helpers.discard(pid)


def is_command(child: _table.ProcessRow) -> bool:
    """Whether a child of ours is the first process of a run, or an orphan that a run left."""
    if child.pid in _ours:
        return child.pid not in _helpers
    return bool(_adopting) and child.session != os.getsid(0)


def orphans(mark: str, born_after: int) -> set[int]:
    """Those that belong to the run with this mark, and those that can only belong to runs that are being ended."""
    global _unsettled
    if not _adopting or not born_after:
        return set()
    _unsettled = min(_unsettled, born_after)
    number, found = int(mark, 16), set()
    for row in _adopted():
        limit = _marks.limit_of(row.pid)
        if limit == number or not (_at_work or _marks.is_ours(limit) or row.born < _unsettled):
            found.add(row.pid)
    return found


def any_left() -> bool:
    """Whether there may be one: when not, nothing is left of a run whose first process has ended."""
    try:
        return not _adopting or any(row.alive for row in _adopted())
    except OSError:
        return True


def collect() -> None:
    """Collect the orphans that have ended."""
    if not _adopting or not _any_ended():
        return
    try:
        ended = [row.pid for row in _adopted() if row.state == "Z" and _may_collect(row.pid)]
    except OSError:  # no descriptor is free; there will be another time
        return
    for pid in ended:
        try:
            os.waitpid(pid, os.WNOHANG)
        except ChildProcessError:
            continue


def _may_collect(pid: int) -> bool:
    return not _visits or _marks.is_ours(_marks.limit_of(pid))


def _become_subreaper() -> bool:
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _any_ended() -> bool:
    """Checked first because it costs nothing, and mostly none has."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _adopted() -> Iterator[_table.ProcessRow]:
    us, our_session = os.getpid(), os.getsid(0)
    candidates = _table.children(us)
    if candidates is None:
        candidates = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    for pid in candidates:
        row = None if pid in _ours else _table.process(pid)
        if row is not None and row.parent == us and row.session != our_session:
            yield row
