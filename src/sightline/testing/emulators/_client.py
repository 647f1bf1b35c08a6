"""A person's tmux client, on a pty of ours."""

import fcntl
import os
import pty
import struct
import subprocess
import termios
import threading

from sightline.testing.emulators._control import environment


class TerminalClient:
    """Attached from the start until it is closed. What it shows is read and thrown away."""

    def __init__(self, tmux: list[str], columns: int, rows: int) -> None:
        self._main, side = pty.openpty()
        fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self._process = subprocess.Popen(
            [*tmux, "attach-session"], stdin=side, stdout=side, stderr=side, env=environment(), start_new_session=True
        )
        os.close(side)
        self._drain = threading.Thread(target=self._read_all, daemon=True)
        self._drain.start()

    def _read_all(self) -> None:
        try:
            while os.read(self._main, 65536):
                pass
        except OSError:
            pass  # the other side is closed: the client ended

    def close(self) -> None:
        """Its terminal goes away, as when a window is closed."""
        self._process.terminate()
        self._process.wait(timeout=10)
        self._drain.join()
        os.close(self._main)
