"""Whether a process was started by a command: one of this program's, or one of another host's.

Rules:

- Parentage decides first. Orphans come to us (see `_orphans`), so what a command of ours started stays below us however
  often its parents end, and nothing it does to itself changes that.
- What a command of another host started is known by the marks that it and its living ancestors carry, in the
  environment or as a limit, beyond those we carry ourselves: a host may itself have been started by a command.
- What cannot be read counts as started by a command, except ancestors of another user: those carry no marks of ours.
"""

import os

from sightline.exec.process import _marks, _orphans, _table

_MOST_ANCESTORS = 1000


def descends_from_command(pid: int) -> bool:
    """Whether the process, or one it descends from, is a command's. The answer holds only while the process lives."""
    ours = _marks.of_process(os.getpid())
    for _ in range(_MOST_ANCESTORS):
        if pid in (0, os.getpid()):  # 0: above the first process we can see
            return False
        try:
            row = _table.process(pid)
            if row is None or not _marks.of_process(pid) <= ours:
                return True
        except PermissionError:
            return False
        except OSError:
            return True
        if row.parent == os.getpid() and _orphans.is_command(row):
            return True
        pid = _visible_parent(row)
    return True


def _visible_parent(row: _table.ProcessRow) -> int:
    """0 when the system hides other users' processes and the parent is one of them."""
    while _table.process(row.parent) is None:
        now = _table.process(row.pid)
        if now is None or now.parent == row.parent:
            return 0
        row = now
    return row.parent
