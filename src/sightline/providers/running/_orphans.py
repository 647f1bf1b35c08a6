"""Processes whose parent died before them: on Linux they are given to us, so that losing a parent hides nobody.

Rules:

- A child of ours that we did not start is an orphan. What we start for a run is noted here; whatever else this program
  starts stays in our own session, where nothing that a run started can be.
- An orphan does not say whose it was. It is counted to a run that is being ended when it is younger than that run and
  no other run is at work; otherwise it may be another's, and is left alone until the last of them is being ended.
- Whoever is given an orphan must collect it when it ends.
"""

import os
import sys
from collections.abc import Iterator

_PR_SET_CHILD_SUBREAPER = 36

_ours: set[int] = set()
_at_work: set[int] = set()
_unsettled = sys.maxsize  # when the oldest was born of the runs that were ended while others were at work
_adopting: bool | None = None  # None: not asked for yet


def adopt() -> None:
    """From now on orphans come to us. Asked for once; a kernel that does not know it changes nothing."""
    global _adopting
    if _adopting is None:
        _adopting = sys.platform == "linux" and _become_subreaper()


def run_started(pid: int) -> int:
    """Note the first process of a run. Returns when it was born, for `orphans`."""
    global _unsettled
    if not _at_work:
        _unsettled = sys.maxsize
    helper_started(pid)
    _at_work.add(pid)
    stat = _stat(pid)
    return 0 if stat is None else stat.born


def helper_started(pid: int) -> None:
    _ours.add(pid)


def run_ends(pid: int) -> None:
    """It is over or about to be: it no longer keeps others from what may be theirs."""
    _at_work.discard(pid)


def forget(pid: int) -> None:
    """It has been collected; its number may be given to another."""
    _at_work.discard(pid)
    _ours.discard(pid)


def orphans(born_after: int) -> set[int]:
    """Those that can only belong to runs that are being ended."""
    global _unsettled
    if not _adopting or not born_after:
        return set()
    _unsettled = min(_unsettled, born_after)
    return set() if _at_work else {pid for pid, stat in _adopted() if stat.born >= _unsettled}


def collect() -> None:
    """Let go of the orphans that have ended."""
    if not _adopting or not _somebody_ended():
        return
    for pid, stat in _adopted():
        if stat.state == "Z":
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue


class _Stat:
    """The few fields of /proc/PID/stat that are of use here. The name before them may hold anything, brackets too."""

    def __init__(self, line: bytes) -> None:
        fields = line.rpartition(b")")[2].split()
        self.state = fields[0].decode()
        self.parent, self.session = int(fields[1]), int(fields[3])
        self.born = int(fields[19])  # in ticks since the system started: no clock can be set back here


def _become_subreaper() -> bool:
    import ctypes

    try:
        return bool(ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)
    except (OSError, AttributeError):
        return False


def _somebody_ended() -> bool:
    """Asked first because it costs nothing, and mostly nobody has."""
    try:
        return os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
    except ChildProcessError:
        return False


def _adopted() -> Iterator[tuple[int, _Stat]]:
    us, our_session = os.getpid(), os.getsid(0)
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) in _ours:
            continue
        stat = _stat(int(name))
        if stat is not None and stat.parent == us and stat.session != our_session:
            yield int(name), stat


def _stat(pid: int) -> _Stat | None:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return _Stat(file.read())
    except (OSError, ValueError, IndexError):
        return None
