"""Ending a process and everything it started.

A descendant is found in any of four ways, because each alone misses some: by parentage (lost when a parent dies
first), by session (left with setsid), by the mark in its environment (lost when a program starts its children with a
clean one), and as an orphan that came to us and carries the mark as a limit (Linux). A process that was found
once is remembered, so that it cannot get away by losing its parent between two looks.

What gets away: on Linux a process that has left its parent, its session and its environment and was given, or gave
itself, another limit (a root shell behind `sudo` may), while other runs are at work; elsewhere one that has left the
first three.
"""

import asyncio
import contextlib
import os
import signal
import time

from sightline.exec.process import _orphans, _table

_SECONDS_TO_DIE = 1.0  # after SIGKILL: the kernel may be busy, or the process stuck in it
_PAUSE = 0.02
_LONGEST_PAUSE = 0.5  # between two looks for one that takes the signal


Member = tuple[int, int]  # id and birth: the id alone may be another's by now


class ProcessTree:
    """The process with this id, its descendants, and its session. `born`: from `_orphans`."""

    def __init__(self, root: int, mark: str, born: int) -> None:
        self._root = root
        self._mark = mark
        self._born = born
        self._known: set[Member] = {(root, born)}
        self._signalled: set[Member] = set()
        self.heard = False  # whether one of them did not ignore the signal
        self._look_after = time.monotonic()
        self._blind = False

    def terminate(self) -> bool:
        """Send SIGTERM to all, those that appeared since the last time too; whether any is left."""
        self._look()
        self._ask(self._known - self._signalled)
        self._signalled |= self._known
        return self.alive()

    def ask_again(self) -> None:
        """Signal all again. A signal that all ignore (a sandbox being set up does) is lost; once one has heard it, new
        processes are part of its winding up."""
        self._look_after = time.monotonic()
        self._signalled.clear()
        self.terminate()

    def kill(self) -> bool:
        """End all there are now; whether there were any. The kernel takes a moment: look again after a pause."""
        self._look()
        if not self.alive():
            return False
        self._send(signal.SIGKILL, self._known)
        self._look_after = time.monotonic()
        return True

    def alive(self) -> bool:
        """Whether any of those known is left, zombies aside."""
        return any(_is_alive(member) for member in self._known)

    def all_seen_dead(self) -> None:
        """From now on none of those known can start another, so one more look, later than this, settles it."""
        self._look_after = time.monotonic()

    def _ask(self, members: set[Member]) -> None:
        attentive = [member for member in members if _is_alive(member) and not _ignores(member)]
        self._send(signal.SIGTERM, members)
        # One that ignores it by now may have begun to before it came.
        self.heard = self.heard or any(not _ignores(member) for member in attentive)

    def _send(self, number: int, members: set[Member]) -> None:
        if self._blind:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._root, number)
        # The oldest first: a shell that sees its child end before its own signal would continue with its next line.
        for member in sorted(members, key=lambda member: member[::-1]):
            try:
                if _is_alive(member):
                    os.kill(member[0], number)
            except (ProcessLookupError, PermissionError):
                continue

    def _look(self) -> None:
        """A table that another tree's look read since serves too, so that ending many at once costs little."""
        try:
            self._look_at_all()
            self._blind = False
        except OSError:  # no descriptor is free: what is in the group of the first process can still be reached
            self._blind = True

    def _look_at_all(self) -> None:
        orphans = _orphans.orphans(self._mark, self._born)
        children: dict[int, list[Member]] = {}
        for row in _table.processes(self._look_after).values():
            children.setdefault(row.parent, []).append((row.pid, row.born))
            if row.pid in orphans or (row.born >= self._born and self._belongs(row)):
                self._known.add((row.pid, row.born))
        pending = [member for member in self._known if _is_alive(member)]
        while pending:
            for child in children.get(pending.pop()[0], ()):
                if child not in self._known:
                    self._known.add(child)
                    pending.append(child)

    def _belongs(self, row: _table.ProcessRow) -> bool:
        return row.session == self._root or self._mark.encode() in _table.marks(row)


class TreeEnd:
    """The end of a tree: SIGTERM first, SIGKILL after the grace, at once when it is hurried."""

    def __init__(self, tree: ProcessTree, grace: float) -> None:
        self._tree = tree
        self._grace = grace

    def hurry(self) -> None:
        self._grace = 0.0

    async def run(self) -> None:
        """Done when all are gone. Also when this is cancelled, because the program is shutting down, none is left."""
        began = time.monotonic()
        again = pause = _PAUSE
        try:
            if self._grace:
                self._tree.terminate()
            while await self._any_left():
                passed = time.monotonic() - began
                if passed >= self._grace:
                    break
                if not self._tree.heard and passed >= again:
                    self._tree.ask_again()
                    pause = min(2 * pause, _LONGEST_PAUSE)
                    again = passed + pause
                await asyncio.sleep(min(_PAUSE, self._grace - passed))
        finally:
            await self._kill()

    async def _any_left(self) -> bool:
        if self._tree.alive():
            return True
        self._tree.all_seen_dead()
        await asyncio.sleep(_PAUSE / 4)  # time for others that are ending theirs to take the look we can share
        return self._tree.terminate()

    async def _kill(self) -> None:
        """End all of them, also those that appear meanwhile, and see them gone."""
        deadline = time.monotonic() + _SECONDS_TO_DIE
        while self._tree.kill() and time.monotonic() < deadline:  # noqa: ASYNC110, there is no event for the death of others' children
            await asyncio.sleep(_PAUSE / 2)


def _is_alive(member: Member) -> bool:
    try:
        row = _table.process(member[0])
    except OSError:
        return _exists(member[0])
    return row is not None and member[1] in (0, row.born) and row.alive


def _ignores(member: Member) -> bool:
    return _table.ignores(member[0], signal.SIGTERM)


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
