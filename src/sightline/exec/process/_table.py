"""The process table: parents, sessions and times of birth.

Reading it costs about 10 µs a process, and a host may be ending a hundred commands at once. So a caller passes how
fresh the table must be, and several share one.
"""

import os
import sys
import time

import msgspec

from sightline.exec.process._marks import MARK_VARIABLE

_DEAD = ("Z", "X")
_PROC = sys.platform == "linux"
_ENOUGH = 4096


class ProcessRow(msgspec.Struct, frozen=True):
    """One process. `born`, in ticks since the system started, distinguishes it from a later one with the same id."""

    pid: int
    parent: int
    session: int
    born: int
    state: str

    @property
    def alive(self) -> bool:
        """False for a zombie."""
        return self.state not in _DEAD


_rows: dict[int, ProcessRow] = {}
_taken = 0.0
_marks: dict[tuple[int, int], bytes] = {}


def processes(since: float) -> dict[int, ProcessRow]:
    """All there are, as seen at this time of the monotonic clock or later."""
    global _rows, _taken
    if _taken <= since:
        _taken = time.monotonic()
        _rows = _read_all()
        present = {(row.pid, row.born) for row in _rows.values()}
        for gone in _marks.keys() - present:
            del _marks[gone]
    return _rows


def process(pid: int) -> ProcessRow | None:
    """This one, as it is now. None only when there is none: that it cannot be looked at (no descriptor is free) is an
    OSError, because a process that is taken for dead would be left alive."""
    if not _PROC:
        return _ask_psutil(pid)
    try:
        file = os.open(f"/proc/{pid}/stat", os.O_RDONLY | os.O_CLOEXEC)
    except (FileNotFoundError, ProcessLookupError):
        return None
    try:
        # The name before the fields may hold anything, brackets too.
        fields = os.read(file, _ENOUGH).rpartition(b")")[2].split()
        return ProcessRow(pid, int(fields[1]), int(fields[3]), int(fields[19]), fields[0].decode())
    except (ProcessLookupError, ValueError, IndexError):
        return None
    finally:
        os.close(file)


def ignores(pid: int, signal: int) -> bool:
    """Whether it ignores a signal just now; false where that cannot be seen."""
    try:
        with open(f"/proc/{pid}/status", "rb") as file:
            _, _, rest = file.read(_ENOUGH).partition(b"SigIgn:")
        return bool(int(rest.split(maxsplit=1)[0], 16) >> (signal - 1) & 1)
    except (OSError, ValueError, IndexError):
        return False


def marks(row: ProcessRow) -> bytes:
    """The marks in its environment, inherited at birth: a cached value stays good. None of another user's process."""
    key = (row.pid, row.born)
    known = _marks.get(key)
    if known is None:
        name = MARK_VARIABLE.encode() + b"="
        variables = _read_environment(row.pid).split(b"\0")
        known = _marks[key] = next((each for each in variables if each.startswith(name)), b"")
    return known


def children(pid: int) -> list[int] | None:
    """The children of one process; None where the kernel has no list."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:
                found += map(int, file.read().split())
    except FileNotFoundError:
        return None
    except OSError:
        return found
    return found


def _read_all() -> dict[int, ProcessRow]:
    if not _PROC:
        import psutil

        pids = psutil.pids()
    else:
        pids = [int(name) for name in os.listdir("/proc") if name.isdecimal()]
    return {pid: row for pid in pids if (row := process(pid)) is not None}


def _read_environment(pid: int) -> bytes:
    try:
        if _PROC:
            with open(f"/proc/{pid}/environ", "rb") as file:
                return file.read()
        import psutil

        try:
            return b"\0".join(f"{name}={value}".encode() for name, value in psutil.Process(pid).environ().items())
        except psutil.Error:
            return b""
    except OSError:
        return b""


def _ask_psutil(pid: int) -> ProcessRow | None:
    import psutil

    try:
        found = psutil.Process(pid)
        with found.oneshot():
            state = "Z" if found.status() == psutil.STATUS_ZOMBIE else "R"
            return ProcessRow(pid, found.ppid(), os.getsid(pid), int(found.create_time() * 1000), state)
    except (psutil.Error, OSError):
        return None
