"""Brings the normal screen back where this program is killed (SIGKILL) while a view is on the alternate one.

A shell waits for a word on a pipe. The word is written when the view is gone; a pipe that ends without it means that
the program was killed. `reset` of a shell does not leave the alternate screen of a multiplexer, and what is written
there is in no scrollback.
"""

import os
import subprocess

_WAITS = r"read -r word || printf '\033[?1049l'"


class ScreenGuard:
    """Made when the view begins, dismissed when it is gone."""

    def __init__(self, output_fd: int) -> None:
        self._shell: subprocess.Popen[bytes] | None = None
        command = ["/bin/sh", "-c", _WAITS]
        try:  # a session of its own: what ends the group of this program does not end it
            self._shell = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=output_fd, stderr=subprocess.DEVNULL, start_new_session=True
            )
        except OSError:
            pass  # one process more is not to be had: as without a guard

    def dismiss(self) -> None:
        shell = self._shell
        if shell is None or shell.stdin is None:
            return
        try:
            os.write(shell.stdin.fileno(), b"done\n")
        except OSError:
            pass  # it was ended
        shell.stdin.close()
        shell.wait()
