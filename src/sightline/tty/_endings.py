"""Whatever happens to the program, the terminal is given back.

- The end of the interpreter (atexit), an exception nobody caught (before its traceback is printed, so that it can be
  read), and the signals that end a program: SIGTERM, SIGHUP, SIGQUIT. SIGINT is Python's own: it is an exception.
- A signal that was ignored when we came stays ignored; one that had a handler gets it called afterwards.
- Other signals (stop, continue, resize) are only passed on, to whoever gave a reaction.
- Nothing helps against SIGKILL and `os._exit`: the shell's `reset` does.
- A forked child inherits all this but must not touch the terminal: only the process that took it gives it back.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from types import FrameType, TracebackType

_ENDING = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Endings:
    """From `install` to `remove`, `restore` is called before any end; it must be safe to call at any moment."""

    def __init__(self, restore: Callable[[], None], reactions: Mapping[signal.Signals, Callable[[], None]]) -> None:
        self._restore = restore
        self._reactions = reactions
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
        before = self._before.get(name, signal.SIG_DFL)
        self._end()
        self.remove()
        if callable(before):
            before(number, frame)
        else:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)

    def _uncaught(self, kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        self._end()
        self._hook(kind, error, trace)

    def _end(self) -> None:
        if os.getpid() == self._process:
            self._restore()
