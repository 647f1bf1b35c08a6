"""Restoring the terminal on every end of the program.

- The end of the interpreter (atexit), an uncaught exception (before its traceback is printed, so that it can be read),
  and the signals that end a program: SIGTERM, SIGHUP, SIGQUIT. SIGINT is Python's own: it is an exception.
- A signal comes in the middle of anything, of a frame too. Where there is a loop, it finishes its current callback, and
  then the end begins (`postpone`). A second signal, or a loop that does not come to it, ends at once.
- A signal that was ignored before stays ignored; one that had a handler gets it called afterwards.
- Other signals (stop, continue, resize) are only passed on, to their reactions.
- Nothing helps against SIGKILL and `os._exit`: the shell's `reset` does. Only the alternate screen, which that does not
  leave, has a guard (`_screen_guard`).
- A forked child inherits all this but must not touch the terminal: only the process that took it restores it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import time
from _thread import start_new_thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType, TracebackType

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_SECONDS_FOR_THE_LOOP = 1.0
_GLANCE = 0.05


class Endings:
    """From `install` to `remove`, `restore` is called before any end: with True when the program is at rest, with False
    in the middle of anything, where it must be safe. `is_restoring`: whether it is in progress. `postpone` calls
    something soon, at rest; it returns false where it cannot."""

    def __init__(
        self,
        restore: Callable[[bool], None],
        reactions: Mapping[signal.Signals, Callable[[], None]],
        postpone: Callable[[Callable[[], None]], bool],
        is_restoring: Callable[[], bool],
    ) -> None:
        self._restore = restore
        self._reactions = reactions
        self._postpone = postpone
        self._is_restoring = is_restoring
        self._awaited = False  # a signal came, and the loop has to handle it
        self._process = 0
        self._before: dict[signal.Signals, object] = {}
        self._hook: Callable[[type[BaseException], BaseException, TracebackType | None], object] = sys.excepthook

    def install(self) -> None:
        self._process = os.getpid()
        self._hook, sys.excepthook = sys.excepthook, self._uncaught
        atexit.register(self._end)
        for number in (*_ENDING, *self._reactions):
            self._listen(number)

    def remove(self) -> None:
        if sys.excepthook == self._uncaught:
            sys.excepthook = self._hook
        atexit.unregister(self._end)
        for number, before in self._before.items():
            if signal.getsignal(number) == self._signalled:
                signal.signal(number, before)  # type: ignore[arg-type]
        self._before = {}

    def _listen(self, number: signal.Signals) -> None:
        if number in _ENDING and signal.getsignal(number) == signal.SIG_IGN:
            return
        try:
            self._before[number] = signal.signal(number, self._signalled)
        except ValueError:  # only the main thread may listen to signals
            return

    def _signalled(self, number: int, frame: FrameType | None) -> None:
        name = signal.Signals(number)
        if name in self._reactions:
            if os.getpid() == self._process:
                self._reactions[name]()
            return
        ours = os.getpid() == self._process
        if ours and not self._awaited and self._postpone(lambda: self._end_by(name, None, at_rest=True)):
            self._awaited = True
            start_new_thread(self._insist, (number,))
        else:
            self._end_by(name, frame, at_rest=False)

    def _insist(self, number: int) -> None:
        """In a thread: interrupt a loop that is stuck, but not one that is restoring the terminal."""
        until = time.monotonic() + _SECONDS_FOR_THE_LOOP
        while self._awaited and (time.monotonic() < until or self._is_restoring()):
            time.sleep(_GLANCE)
        if self._awaited:
            os.kill(os.getpid(), number)

    def _end_by(self, name: signal.Signals, frame: FrameType | None, *, at_rest: bool) -> None:
        self._awaited = False
        before = self._before.get(name, signal.SIG_DFL)
        self._end(at_rest=at_rest)
        self.remove()
        if callable(before):
            before(name, frame)
        else:
            signal.signal(name, signal.SIG_DFL)
            os.kill(os.getpid(), name)

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._end()
        self._hook(kind, error, trace)

    def _end(self, *, at_rest: bool = True) -> None:
        if os.getpid() == self._process:
            self._restore(at_rest)
