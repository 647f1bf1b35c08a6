"""The program on a pty, before an emulator that shows what it writes and a witness that reads it."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from sightline.testing.emulators import XtermEmulator
from sightline.testing.monkey._stage import SIGHTLINE
from sightline.testing.monkey._witness import Witness

_AT_ONCE = 65536
_SCROLLBACK = 3000


class Glass:
    """One run of it, from its start until it has ended."""

    def __init__(
        self, *words: str, folder: Path, environment: Mapping[str, str], columns: int = 80, rows: int = 24
    ) -> None:
        self.emulator = XtermEmulator(columns, rows, _SCROLLBACK)
        self.witness = Witness()
        self.master, slave = os.openpty()
        self.before = _without_echo(slave)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [SIGHTLINE, *words],
            cwd=folder,
            env={**environment, "TERM": "xterm-256color"},
            stdin=slave,
            stdout=slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        self._slave = slave  # open, so that what was written last can be read when it has ended
        os.set_blocking(self.master, False)

    @property
    def ended(self) -> bool:
        return self.process.poll() is not None

    @property
    def modes(self) -> list[object]:
        return termios.tcgetattr(self._slave)

    def press(self, keys: bytes) -> None:
        """All of it, reading meanwhile: neither side may wait for the other."""
        while keys and not self.ended:
            readable, writable, _ = select.select([self.master], [self.master], [], 0.05)
            if readable:
                self._read()
            if writable:
                keys = keys[os.write(self.master, keys[:4096]) :]

    def resize(self, columns: int, rows: int) -> None:
        self.pump(0)
        self.emulator.resize(columns, rows)
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def pump(self, seconds: float) -> bool:
        """Show what is written, for so long. Whether there was anything."""
        until = time.monotonic() + seconds
        found = False
        while select.select([self.master], [], [], max(0.0, until - time.monotonic()))[0] and self._read():
            found = True
            if time.monotonic() >= until:
                break
        return found

    def until(self, condition: Callable[[list[str]], object], seconds: float) -> bool:
        """Wait for the screen to be like this. Whether it became so."""
        deadline = time.monotonic() + seconds
        while True:
            if condition(self.emulator.screen()):
                return True
            if time.monotonic() > deadline or (self.ended and not self._read()):
                return False
            if select.select([self.master], [], [], 0.02)[0]:
                self._read()

    def close(self) -> None:
        if not self.ended:
            self.process.kill()
        self.process.wait()
        self.emulator.close()
        os.close(self._slave)
        os.close(self.master)

    def _read(self) -> bool:
        try:
            data = os.read(self.master, _AT_ONCE)
        except BlockingIOError:
            return False
        self.emulator.write(data)
        self.witness.feed(data)
        if answers := self.emulator.replies():
            self._answer(answers)
        return bool(data)

    def _answer(self, answers: bytes) -> None:
        try:
            os.write(self.master, answers)
        except BlockingIOError:
            pass  # a terminal that cannot answer just now; it may as well be one that never does


def _without_echo(terminal: int) -> list[object]:
    """Keys pressed while the program has given the terminal back are not echoed."""
    modes = termios.tcgetattr(terminal)
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(terminal, termios.TCSANOW, modes)
    return termios.tcgetattr(terminal)
