"""Programs on a real pseudo-terminal, with the test as the terminal they run in."""

import contextlib
import fcntl
import os
import select
import signal
import struct
import subprocess
import sys
import termios
import time

DEADLINE = 90.0

# The child makes the pty its controlling terminal, as a shell's program has one.
_PROLOGUE = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from sightline.tty.terminal._terminal import Terminal
"""


class PtyChild:
    """A Python program on a pty. `answers` are what the terminal says to what it is asked."""

    def __init__(self, program, *, answers=None, environment=None, size=(80, 24), prologue=_PROLOGUE):
        self.master, self.slave = os.openpty()
        self.resize(*size)
        self.before = termios.tcgetattr(self.slave)
        self.written = b""
        self._answered = 0
        self._answers = answers or {}
        self._process = subprocess.Popen(
            [sys.executable, "-c", prologue + program],
            stdin=self.slave,
            stdout=self.slave,
            stderr=self.slave,
            start_new_session=True,
            env={"PATH": os.environ["PATH"], "TERM": "xterm-256color", **(environment or {})},
        )

    @property
    def pid(self):
        return self._process.pid

    def resize(self, columns, rows):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def type(self, data):
        os.write(self.master, data)

    def signal(self, number):
        os.kill(self.pid, number)

    def until(self, text):
        """Play the terminal until the program wrote this."""
        self.until_true(lambda: text in self.written, text)

    def until_true(self, condition, what, *, reading=True):
        """Wait for something; a terminal that does not read meanwhile is a slow one."""
        deadline = time.monotonic() + DEADLINE
        while not condition():
            assert time.monotonic() < deadline, f"waited for {what!r} in vain; written so far: {self.written!r}"
            if reading:
                self.pump(0.05)
            else:
                time.sleep(0.01)

    def pump(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            with contextlib.suppress(OSError):
                self.written += os.read(self.master, 65536)
            self._answer()

    def _answer(self):
        """In the order asked, as terminals do."""
        while True:
            found = [
                (self.written.find(query, self._answered), -len(query), query)
                for query in self._answers
                if query in self.written[self._answered :]
            ]
            if not found:
                return
            position, _, query = min(found)
            self._answered = position + len(query)
            os.write(self.master, self._answers[query])

    def wait(self):
        """The exit code; everything written is read."""
        self.until_true(lambda: self._process.poll() is not None, "the end")
        while select.select([self.master], [], [], 0)[0]:
            self.pump(0)
        return self._process.returncode

    def until_ended_unread(self):
        """Wait for the end as a terminal that reads nothing any more."""
        self.until_true(lambda: self._process.poll() is not None, "the end", reading=False)

    def attributes(self):
        return termios.tcgetattr(self.slave)

    def close(self):
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.pid, signal.SIGKILL)
        self._process.wait()
        os.close(self.master)
        os.close(self.slave)


@contextlib.contextmanager
def on_pty(program, **options):
    child = PtyChild(program, **options)
    try:
        yield child
    finally:
        child.close()


DA1 = b"\x1b[c"
XTERM = {DA1: b"\x1b[?64;1;2;4;22c"}
KITTY = {
    b"\x1b[?u": b"\x1b[?0u",
    b"\x1b]11;?\x1b\\": b"\x1b]11;rgb:ffff/ffff/ffff\x1b\\",
    b"\x1b[?2026$p": b"\x1b[?2026;2$y",
    b"\x1b[?2048$p": b"\x1b[?2048;2$y",
    b"\x1b[?2031$p": b"\x1b[?2031;2$y",
    b"\x1b[?996n": b"\x1b[?997;2n",
    b"\x1b]99;i=sightline:p=?;\x1b\\": b"\x1b]99;i=sightline:p=?;p=title,body\x1b\\",
    b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\": b"\x1b_Gi=31;OK\x1b\\",
    b"\x1b[16t": b"\x1b[6;20;10t",
    DA1: b"\x1b[?62;c",
}

LOOP = """
import asyncio
async def main():
    terminal = Terminal()
    with terminal:
        loop = asyncio.get_running_loop()
        done = loop.create_future()
        def show(event):
            terminal.write(f"<{event}|{getattr(event, 'text', '')!r}>")
            if str(event) == "ctrl+d": done.set_result(None)
            if str(event) == "ctrl+z": terminal.suspend()
        terminal.on_input = show
        terminal.on_resize = lambda: terminal.write(f"<size {terminal.size}>")
        terminal.on_resume = lambda: terminal.write("<resumed>")
        terminal.on_hangup = lambda: done.set_result(None)
        terminal.on_capabilities = lambda now: terminal.write(f"<{now.dark} {now.kitty_keyboard} {now.cell_size}>")
        terminal.farewell = lambda: "farewell"
        terminal.attach(loop)
        terminal.write("<ready>")
        await done
asyncio.run(main())
"""


def restored(written: bytes, *, keyboard: bytes = b"") -> bool:
    """Whether, after the last thing switched on, everything was switched off."""
    ending = written[written.rfind(b"\x1b[?2026l") :]
    return all(part in ending for part in (b"\x1b[?7h", b"\x1b[?2004l", b"\x1b[?25h", keyboard))


def is_raw(child) -> bool:
    return not child.attributes()[3] & (termios.ICANON | termios.ECHO | termios.ISIG)
