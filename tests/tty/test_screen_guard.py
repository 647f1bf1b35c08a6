"""The alternate screen is left though the program that went there is killed."""

import signal
import subprocess
import sys

import pytest

_PROGRAM = """
import os, signal, sys
from sightline.tty.terminal._terminal import Terminal
terminal = Terminal(environment={"TERM": "tmux-256color"})
terminal.guard_screen(True)
terminal.guard_screen(True)
if sys.argv[1] == "killed":
    os.kill(os.getpid(), signal.SIGKILL)
terminal.guard_screen(False)
if sys.argv[1] == "killed later":
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize(("how", "sent"), [("killed", b"\x1b[?1049l"), ("killed later", b""), ("left", b"")])
def test_the_normal_screen_comes_back_once_and_only_where_it_has_to(how: str, sent: bytes) -> None:
    """All is read when nothing writes any more: then what waits for the end of the program is gone, too."""
    argv = [sys.executable, "-c", _PROGRAM, how]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, start_new_session=True) as process:
        written, _ = process.communicate(timeout=90)
    assert written == sent
    assert process.returncode == (0 if how == "left" else -signal.SIGKILL)
