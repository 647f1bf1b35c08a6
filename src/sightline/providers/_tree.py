"""Ending a process and everything it started.

A descendant is found in any of three ways, because each alone misses some: by parentage (lost when a parent dies
first), by session (left with setsid), and by the mark in its environment (lost when a program starts its children with
a clean one). Whoever was found once is remembered, so that it cannot get away by losing its parent between two looks.
"""

import os
import signal

import psutil

from sightline.providers._guard import MARK_VARIABLE

# New processes may appear while the old ones are being killed; a tree that still grows after so many looks is a fork
# bomb, and not for us to beat.
_LOOKS_AT_MOST = 10


class ProcessTree:
    """The process with this id, its descendants, and its session."""

    def __init__(self, root: int, mark: str) -> None:
        self._root = root
        self._mark = mark
        self._known: set[psutil.Process] = set()
        try:
            process = psutil.Process(root)
            self._born = process.create_time()
            self._known.add(process)
        except psutil.Error:
            self._born = 0.0

    def terminate(self) -> None:
        """Ask all of them to end."""
        self._look()
        self._send(signal.SIGTERM)

    def kill(self) -> None:
        """End all of them, also those that appear meanwhile."""
        for _ in range(_LOOKS_AT_MOST):
            self._look()
            if not self.alive():
                return
            self._send(signal.SIGKILL)

    def alive(self) -> bool:
        """Whether any of those known is left, the dead that nobody has collected aside."""
        return any(_is_alive(process) for process in self._known)

    def look_again(self) -> bool:
        """Whether any is left, counting those that appeared since."""
        self._look()
        return self.alive()

    def _send(self, number: int) -> None:
        for process in self._known:
            try:
                process.send_signal(number)  # refuses a process that only has the same id
            except (psutil.Error, ProcessLookupError):
                continue

    def _look(self) -> None:
        children: dict[int, list[psutil.Process]] = {}
        for process in psutil.process_iter():
            try:
                if process.create_time() < self._born:
                    continue
                children.setdefault(process.ppid(), []).append(process)
                if self._belongs(process):
                    self._known.add(process)
            except (psutil.Error, OSError):
                continue
        pending = [process.pid for process in self._known if _is_alive(process)]
        while pending:
            for child in children.get(pending.pop(), ()):
                if child not in self._known:
                    self._known.add(child)
                    pending.append(child.pid)

    def _belongs(self, process: psutil.Process) -> bool:
        if os.getsid(process.pid) == self._root:
            return True
        try:
            return self._mark in process.environ().get(MARK_VARIABLE, "")
        except psutil.Error:  # another user's
            return False


def _is_alive(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
