"""The program as a person meets it: in a terminal of its own, or with its output piped, and no host left behind."""

import fcntl
import json
import os
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
DEADLINE = 90.0

_sequences = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def until(condition: Callable[[], Any], what: str = "it", seconds: float = DEADLINE) -> Any:
    """Wait for a condition, with a deadline."""
    deadline = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < deadline, f"waited in vain for {what}"
        time.sleep(0.01)
    return found


def sightline(*words: str, **options: Any) -> "subprocess.CompletedProcess[bytes]":
    """Run it with its output piped."""
    options.setdefault("stdin", subprocess.DEVNULL)
    return subprocess.run([SIGHTLINE, *words], capture_output=True, timeout=60, **options)


def detached(script: str, *options: str) -> str:
    """A job that runs in the background; its id."""
    done = sightline("exec", "-d", *options, "--", "sh", "-c", script)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode().strip()


def jobs() -> dict[str, Any]:
    return {job["id"]: job for job in json.loads(sightline("jobs", "--json").stdout)}


def running_sessions() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(sightline("ps", "--json").stdout)
    return found


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"


class InTerminal:
    """The program on a terminal: what it wrote so far, keys pressed, the window resized or closed."""

    def __init__(self, *words: str, columns: int = 80, rows: int = 24, through: tuple[str, ...] = ()) -> None:
        self.master, slave = os.openpty()
        self.output = b""
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            [*through, SIGHTLINE, *words],
            stdin=slave,
            stdout=slave,
            stderr=slave,
            env={**os.environ, "TERM": "xterm-256color"},
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(slave)

    def press(self, keys: bytes) -> None:
        os.write(self.master, keys)

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def close(self) -> None:
        """As when the window is closed: everybody in it gets SIGHUP."""
        if self.master >= 0:
            os.close(self.master)
            self.master = -1

    def read(self) -> None:
        """Take what is there, waiting a moment for it."""
        if select.select([self.master], [], [], 0.02)[0]:
            try:
                self.output += os.read(self.master, 65536)
            except OSError:  # nobody has it open any more
                pass

    @property
    def text(self) -> str:
        """What was written, without style and moves."""
        return _sequences.sub("", self.output.decode("utf-8", "replace")).replace("\r", "")

    def wait_for(self, *texts: str) -> str:
        def found() -> bool:
            self.read()
            return all(text in self.text for text in texts)

        try:
            until(found, repr(texts))
        except AssertionError as error:
            raise AssertionError(f"{error}; got {self.text[-2000:]!r}") from None
        return self.text

    def wait(self) -> int:
        """Until it ended; everything it wrote is read by then."""
        try:
            until(lambda: (self.read(), self.process.poll())[1] is not None, "the end")
        except AssertionError as error:
            raise AssertionError(f"{error}; got {self.text[-2000:]!r}") from None
        while select.select([self.master], [], [], 0)[0]:
            before = len(self.output)
            self.read()
            if len(self.output) == before:
                break
        return self.process.returncode

    def end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.close()


def stop_hosts() -> None:
    """End every host that the test left running, by its id, and see it gone."""
    pids = [host["pid"] for host in running_sessions()]
    for pid in pids:
        os.kill(pid, signal.SIGTERM)
    until(lambda: not any(map(is_alive, pids)), "hosts to end")
