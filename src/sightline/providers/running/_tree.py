"""Ending a process and everything it started.

A descendant is found in any of four ways, because each alone misses some: by parentage (lost when a parent dies
first), by session (left with setsid), by the mark in its environment (lost when a program starts its children with a
clean one), and as an orphan that came to us (not known whose, when several runs are at work). Whoever was found once is
remembered, so that it cannot get away by losing its parent between two looks.
"""

import os
import signal

import psutil

from sightline.providers.running import _orphans
from sightline.providers.running._guard import MARK_VARIABLE


class ProcessTree:
    """The process with this id, its descendants, and its session. `born` is what `_orphans` said it was."""

    def __init__(self, root: int, mark: str, born: int) -> None:
        self._root = root
        self._mark = mark
        self._orphans_from = born
        self._known: set[psutil.Process] = set()
        self._asked: set[psutil.Process] = set()
        try:
            process = psutil.Process(root)
            self._born = process.create_time()
            self._known.add(process)
        except psutil.Error:
            self._born = 0.0

    def terminate(self) -> bool:
        """Ask all of them to end, those that appeared since the last time too; whether any is left."""
        self._look()
        self._send(signal.SIGTERM, self._known - self._asked)
        self._asked |= self._known
        return self.alive()

    def kill(self) -> bool:
        """End all there are now; whether there were any. The kernel takes a moment: look again after a pause."""
        self._look()
        if not self.alive():
            return False
        self._send(signal.SIGKILL, self._known)
        return True

    def alive(self) -> bool:
        """Whether any of those known is left, the dead that nobody has collected aside."""
        return any(_is_alive(process) for process in self._known)

    def _send(self, number: int, processes: set[psutil.Process]) -> None:
        for process in processes:
            try:
                process.send_signal(number)  # refuses a process that only has the same id
            except (psutil.Error, ProcessLookupError):
                continue

    def _look(self) -> None:
        children: dict[int, list[psutil.Process]] = {}
        orphans = _orphans.orphans(self._orphans_from)
        for process in psutil.process_iter():
            try:
                children.setdefault(process.ppid(), []).append(process)
                if process.pid in orphans or (process.create_time() >= self._born and self._belongs(process)):
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
