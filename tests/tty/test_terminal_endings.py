"""The terminal is given back, whatever happens to the program that took it."""

import os
import re
import signal

import pytest

from tests.tty.pty_child import KITTY, LOOP, XTERM, is_raw, on_pty, restored


@pytest.mark.parametrize(
    ("ending", "code"),
    [
        ("", 0),
        ("sys.exit(3)", 3),
        ("raise RuntimeError('broken')", 1),
        ("os.kill(os.getpid(), 15)", -signal.SIGTERM),
        ("os.kill(os.getpid(), 1)", -signal.SIGHUP),
        ("os.kill(os.getpid(), 3)", -signal.SIGQUIT),
        ("os.kill(os.getpid(), 2)", -signal.SIGINT),
        ("import threading; t = threading.Thread(target=sys.exit); t.start(); t.join()", 0),
        (
            "import threading; threading.Thread(target=os.kill, args=(os.getpid(), 15)).start(); input()",
            -signal.SIGTERM,
        ),
    ],
)
def test_lifecycle_the_terminal_is_given_back_on_every_way_out(ending, code):
    """No `with`, no `leave`: attributes are as before, and every mode is off."""
    program = "terminal = Terminal(); terminal.enter(); terminal.write('\\x1b[?2026h\\x1b[?25l\\x1b[?7l');" + ending
    with on_pty(program) as child:
        assert child.wait() == code
        assert child.attributes() == child.before
        assert child.written.startswith(b"\x1b[?2004h\x1b[?2026h")
        assert restored(child.written)
        if b"Traceback" in child.written:
            assert child.written.index(b"\x1b[?25h") < child.written.index(b"Traceback")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_lifecycle_a_signal_in_the_loop_pops_the_keyboard(number):
    """Whatever the terminal turned out to have is switched off too."""
    with on_pty(LOOP, answers=KITTY) as child:
        child.until(b"(10, 20)>")
        child.until(b"\x1b[>7u")
        assert is_raw(child)
        child.signal(number)
        assert child.wait() == -number
        assert child.attributes() == child.before
        assert restored(child.written, keyboard=b"\x1b[<u")
        assert b"\x1b[?2031l" in child.written
        assert b"\x1b[?2048l" in child.written


def test_lifecycle_a_forked_child_leaves_the_terminal_alone():
    """Only the process that took it gives it back."""
    program = """
terminal = Terminal(); terminal.enter()
child = os.fork()
if not child: sys.exit(0)
os.waitpid(child, 0); terminal.write("<forked>")
terminal.leave()
"""
    with on_pty(program) as child:
        assert child.wait() == 0
        assert b"\x1b[?2004l" not in child.written[: child.written.index(b"<forked>")]
        assert restored(child.written)


def test_lifecycle_an_ignored_signal_stays_ignored():
    """nohup."""
    program = """
import signal
signal.signal(signal.SIGHUP, signal.SIG_IGN)
with Terminal() as terminal:
    os.kill(os.getpid(), signal.SIGHUP)
    terminal.write("<alive>")
"""
    with on_pty(program) as child:
        assert child.wait() == 0
        assert b"<alive>" in child.written


def test_lifecycle_somebody_elses_handler_is_called_after_ours():
    """The terminal is given back first."""
    program = """
import signal
signal.signal(signal.SIGTERM, lambda *_: (print("<theirs>"), sys.exit(7)))
terminal = Terminal(); terminal.enter()
os.kill(os.getpid(), signal.SIGTERM)
"""
    with on_pty(program) as child:
        assert child.wait() == 7
        assert child.written.index(b"\x1b[?2004l") < child.written.index(b"<theirs>")


def test_a_terminal_that_reads_nothing_cannot_keep_us():
    """SIGTERM with a full queue: ends at once, attributes restored; what was queued is dropped."""
    program = """
import time
terminal = Terminal(); terminal.enter()
terminal.write("x" * 300_000)
assert terminal.busy
os.kill(os.getpid(), 15)
"""
    with on_pty(program) as child:
        child.until_ended_unread()
        assert child.attributes() == child.before
        assert child.wait() == -signal.SIGTERM


def test_a_signal_while_the_terminal_is_given_back_does_not_stop_that():
    """Leaving waits a little for a slow terminal; ended meanwhile, the attributes are restored all the same."""
    program = """
import threading
terminal = Terminal(); terminal.enter()
terminal.write("x" * 300_000)
threading.Timer(0.02, os.kill, (os.getpid(), 15)).start()
terminal.leave()
os._exit(0)
"""
    with on_pty(program) as child:
        child.until_ended_unread()
        assert child.attributes() == child.before
        assert child.wait() == -signal.SIGTERM


def test_lifecycle_a_loop_that_handles_sigterm_itself_ends_as_it_likes():
    """The loop's own handler takes the place of ours, and leaving restores."""
    program = LOOP.replace("terminal.attach(loop)", "terminal.attach(loop); loop.add_signal_handler(15, done.cancel)")
    with on_pty(program, answers=XTERM) as child:
        child.until(b"<ready>")
        child.signal(signal.SIGTERM)
        assert child.wait() == 1
        assert child.attributes() == child.before
        assert restored(child.written)


SHELL = """
import fcntl, os, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if not child:
    os.setpgid(0, 0)
    os.tcsetpgrp(0, os.getpid())
    signal.signal(signal.SIGTTOU, signal.SIG_DFL)
    begin = "from sightline.tty.terminal._terminal import Terminal\\n"
    os.execv(sys.executable, [sys.executable, "-c", begin + PROGRAM])
cooked = termios.tcgetattr(0)
while True:
    _, status = os.waitpid(child, os.WUNTRACED)
    os.tcsetpgrp(0, os.getpgrp())
    if not os.WIFSTOPPED(status):
        os.write(1, b"<ended>")
        sys.exit(os.waitstatus_to_exitcode(status))
    as_left = termios.tcgetattr(0) == cooked
    termios.tcsetattr(0, termios.TCSANOW, cooked)
    os.write(1, b"<stopped %d>" % as_left)
    os.read(0, 100)
    os.tcsetpgrp(0, child)
    os.kill(-child, signal.SIGCONT)
"""


def test_lifecycle_suspend_gives_the_terminal_to_the_shell_and_takes_it_again():
    """Ctrl+Z: everything off, stopped, and after `fg` everything on again and drawn anew."""
    with on_pty(f"PROGRAM = {LOOP!r}\n" + SHELL, answers=KITTY, prologue="") as child:
        child.until(b"\x1b[>7u")
        child.until(b"(10, 20)>")
        child.type(b"\x1b[122;5u")
        child.until(b"<stopped 1>")
        stopped = child.written[: child.written.index(b"<stopped")]
        assert restored(stopped, keyboard=b"\x1b[<u")
        child.type(b"fg\n")
        child.until(b"<resumed>")
        assert is_raw(child)
        again = child.written[child.written.index(b"<stopped") :]
        assert again.count(b"\x1b[?2004h") == again.count(b"\x1b[>7u") == again.count(b"<resumed>") == 1
        child.type(b"\x1b[100;5u")
        child.until(b"<ended>")
        assert child.wait() == 0


def test_lifecycle_a_stop_nobody_announced_is_survived():
    """SIGSTOP cannot be caught: after `fg` the modes are set again, nothing is stacked, everything is drawn anew."""
    program = LOOP.replace("<ready>", "<ready {os.getpid()}>").replace('write("<ready', 'write(f"<ready')
    with on_pty(f"PROGRAM = {'import os' + program!r}\n" + SHELL, answers=KITTY, prologue="") as child:
        child.until(b"(10, 20)>")
        child.until(b"<ready ")
        pid = int(re.search(rb"<ready (\d+)>", child.written)[1])
        os.kill(pid, signal.SIGSTOP)
        child.until(b"<stopped 0>")
        child.type(b"fg\n")
        child.until(b"<resumed>")
        assert is_raw(child)
        again = child.written[child.written.index(b"<stopped") :]
        assert b"\x1b[?2004h\x1b[=7;1u" in again
        assert b"\x1b[>7u" not in again
        child.type(b"\x1b[100;5u")
        assert child.wait() == 0


def test_a_farewell_that_fails_does_not_keep_the_terminal():
    """What was drawn may be what is broken."""
    program = "terminal = Terminal(); terminal.farewell = lambda: 1 / 0; terminal.enter(); terminal.leave()"
    with on_pty(program) as child:
        assert child.wait() == 0
        assert child.attributes() == child.before
        assert restored(child.written)
