"""A program where there is no terminal, or none that can be drawn on: lines, nothing lost, no escapes, no traceback."""

import os
import signal
import subprocess
import sys
import threading

import pytest

from tests.tty.pty_child import on_pty

PROGRAM = """
import os, sys
from sightline.tty import run_application
from sightline.tty.components import Input, Text, Transcript

def start(application):
    transcript, field = Transcript(gap=0), Input()
    application.display.add(transcript)
    application.display.add(field)
    application.display.set_focus(field)
    lines = int(os.environ.get("LINES_AT_ONCE", "1"))
    def say(text):
        transcript.append(Text(text)); application.display.request_render()
    field.on_submit = lambda text: say("got " + text)
    def more(number):
        for at in range(lines): say(f"line{number * lines + at:06d} " + "x" * 50)
        if number == 19: application.exit(3)
        else: application.loop.call_later(0.01, more, number + 1)
    if "QUIET" not in os.environ: more(0)

sys.exit(run_application(start))
"""


def started(environment=None, before="", **streams):
    return subprocess.Popen(
        ["sh", "-c", f'{before} exec "$0" -c "$1" {streams.pop("redirect", "")}', sys.executable, PROGRAM],
        stderr=subprocess.PIPE,
        env={"PATH": os.environ["PATH"], "TERM": "xterm", **(environment or {})},
        **streams,
    )


def ran(redirect="", environment=None, **streams):
    child = started(environment, redirect=redirect, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, **streams)
    out, errors = child.communicate(timeout=90)
    return child.returncode, out, errors


@pytest.mark.parametrize("redirect", ["</dev/null", "</etc/hosts"], ids=["nothing", "a file"])
@pytest.mark.parametrize("term", ["xterm", "dumb", ""])
def test_without_a_terminal_there_are_lines(term, redirect):
    """Whatever TERM says: every line once, no sequence, and what goes on is not ended by input that has."""
    code, out, errors = ran(redirect, {"TERM": term})
    assert (code, errors) == (3, b"")
    assert [line.split()[0] for line in out.splitlines() if line.startswith(b"line")] == [
        b"line%06d" % number for number in range(20)
    ]
    assert b"\x1b" not in out


@pytest.mark.parametrize(("redirect", "name"), [("<&-", b"input"), (">&-", b"output")])
def test_a_closed_descriptor_is_an_error_of_one_line(redirect, name):
    """That says what to do."""
    code, out, errors = ran(redirect)
    assert (code, out) == (1, b"")
    assert errors.startswith(b"error: standard " + name + b" is closed")
    assert errors.count(b"\n") == 1
    assert b"/dev/null" in errors


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
def test_output_that_cannot_be_written_is_an_error_of_one_line():
    """A full disk, for example."""
    code, _, errors = ran(">/dev/full")
    assert code == 1
    assert errors == b"error: cannot write to standard output: No space left on device\n"


def test_a_reader_that_leaves_ends_it():
    """As SIGPIPE would: `| head`."""
    child = started({"LINES_AT_ONCE": "100"}, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    child.stdout.readline()
    child.stdout.close()
    assert child.wait(20) == 141
    assert child.stderr.read() == b""
    child.stderr.close()


def test_a_slow_reader_gets_everything():
    """The program waits for it in the end, however long it takes."""
    child = started({"LINES_AT_ONCE": "500"}, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    with pytest.raises(subprocess.TimeoutExpired):
        child.wait(1.5)
    out, _ = child.communicate(timeout=90)
    assert child.returncode == 3
    assert out.count(b"line") == 10_000


def test_the_last_line_counts_without_its_end():
    """Of a pipe; then the program ends."""
    child = started({"QUIET": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    out, errors = child.communicate(b"one\ntwo", timeout=90)
    assert (child.returncode, errors) == (0, b"")
    assert [line for line in out.replace(b"> ", b"").splitlines() if line] == [b"got one", b"got two"]


def test_a_terminal_for_input_only_gets_no_questions():
    """Output goes to a pipe: nothing but lines in it, and nothing on the terminal."""
    master, slave = os.openpty()
    try:
        child = started(stdin=slave, stdout=subprocess.PIPE)
        out, errors = child.communicate(timeout=90)
        assert (child.returncode, errors) == (3, b"")
        assert out.count(b"line") == 20
        assert b"\x1b" not in out
        os.set_blocking(master, False)
        with pytest.raises(BlockingIOError):
            os.read(master, 100)
    finally:
        os.close(master)
        os.close(slave)


@pytest.mark.parametrize("by", ["key", "signal"])
def test_control_c_ends_it_when_nobody_takes_it(by):
    """The terminal makes a signal of it: the exit code is that of the key, and there is no traceback."""
    prologue = "import fcntl, os, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    environment = {"SIGHTLINE_LINEAR": "1", "QUIET": "1"}
    with on_pty(PROGRAM, prologue=prologue, environment=environment) as child:
        child.until(b"> ")
        child.type(b"\x03") if by == "key" else child.signal(signal.SIGINT)
        assert child.wait() == 130
        assert b"Traceback" not in child.written


def test_who_hears_control_d_on_a_terminal_may_go_on():
    """More lines are heard after it; unless told otherwise it ends the program."""
    hears = """
    def stay():
        application.on_end = application.exit
        say("stay")
    application.on_end = stay
"""
    program = PROGRAM.replace('    if "QUIET"', hears.lstrip("\n") + '    if "QUIET"')
    prologue = "import fcntl, os, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
    with on_pty(program, prologue=prologue, environment={"SIGHTLINE_LINEAR": "1", "QUIET": "1"}) as child:
        child.until(b"> ")
        child.type(b"\x04")
        child.until(b"stay")
        child.type(b"more\n")
        child.until(b"got more")
        child.type(b"\x04")
        assert child.wait() == 0


def test_lines_that_come_while_it_is_busy_are_all_heard():
    """In order, also when many come at once."""
    child = started({"QUIET": "1"}, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    wanted = [b"got %d words" % number for number in range(500)]
    feeding = threading.Thread(target=lambda: child.stdin.write(b"".join(b"%s\n" % line[4:] for line in wanted)))
    feeding.start()
    feeding.join()
    out, _ = child.communicate(timeout=90)
    assert [line for line in out.replace(b"> ", b"").splitlines() if line] == wanted
