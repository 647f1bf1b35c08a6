"""A program on a terminal: keys in, frames out, and the terminal given back however it ends."""

import os
import re
import signal
import sys
import termios

import pytest

from tests.tty.pty_child import KITTY, is_raw, on_pty, restored
from tests.tty.test_terminal_endings import SHELL

PROLOGUE = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from sightline.tty import CURSOR, Component, Paste, matches, run_application
from sightline.tty.components import Text, Transcript

class Keys(Component):
    '''Shows the last key; some of them do something.'''
    def __init__(self, application):
        self.application, self.last = application, "none"
    def render(self, width):
        if self.last == "r": raise RuntimeError("cannot be drawn")
        return (f"last: {self.last}. {CURSOR}", f"theme: {self.application.theme.name}, {width} columns")
    def handle_input(self, event):
        if matches(event, "x"): raise RuntimeError("cannot be handled")
        if matches(event, "ctrl+d"): self.application.exit(7)
        if matches(event, "f12"): self.code = self.application.run_program(["sh", "-c", os.environ["LENT_TO"]])
        self.last = event.text if isinstance(event, Paste) else str(event)
        return True

def start(application):
    transcript, keys = Transcript(), Keys(application)
    transcript.append(Text("final words"))
    application.display.add(transcript)
    application.display.add(keys)
    application.display.set_focus(keys)

"""
RUN = "sys.exit(run_application(start))"


# A row is written over from the first cell that differs: what to wait for is what changed, never the whole row.
def application(**options):
    return on_pty(RUN, prologue=PROLOGUE, **options)


def modes(child):
    return termios.tcgetattr(child.slave)


def test_keys_reach_the_component_and_what_it_shows_is_drawn():
    """From bytes to a key to a frame; the exit code is the program's, the terminal is as before."""
    with application() as child:
        child.until(b"last: none")
        assert is_raw(child)
        child.type(b"\x1b[A")
        child.until(b"up.")
        child.type(b"\x1b[200~pasted\x1b[201~")
        child.until(b"pasted.")
        child.type(b"\x04")
        assert child.wait() == 7
        assert modes(child) == child.before
        assert restored(child.written)


def test_escape_alone_is_a_key_after_a_moment():
    """Nothing has to follow it."""
    with application() as child:
        child.until(b"last: none")
        child.type(b"\x1b")
        child.until(b"escape.")


def test_the_window_is_given_up_in_the_end_and_what_is_final_stays():
    """The last thing written erases the window; the final row is written once."""
    with application() as child:
        child.until(b"last: none")
        child.type(b"\x04")
        child.wait()
        assert child.written.count(b"final words") == 1


@pytest.mark.parametrize(("key", "says"), [(b"x", b"cannot be handled"), (b"r", b"cannot be drawn")])
def test_a_component_that_fails_ends_the_program_with_the_terminal_given_back(key, says):
    """The traceback comes after the terminal is as it was, and names what went wrong."""
    with application() as child:
        child.until(b"last: none")
        child.type(key)
        assert child.wait() == 1
        assert modes(child) == child.before
        before, _, after = child.written.rpartition(b"\x1b[?2004l")
        assert b"Traceback" in after
        assert b"RuntimeError: " + says in after
        assert b"Traceback" not in before


def test_the_theme_follows_what_the_terminal_says():
    """It is light as soon as the terminal has said so, and dark again when the terminal changes."""
    with application(answers=KITTY) as child:
        child.until(b"light,")
        child.type(b"\x1b[?997;1n")
        child.until_true(lambda: child.written.rfind(b"dark,") > child.written.index(b"light,"), "dark again")


def test_another_size_is_drawn():
    """When it has been still for a moment."""
    with application() as child:
        child.until(b"80 columns")
        child.resize(60, 20)
        child.until(b"60 columns")


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_that_ends_it_gives_the_terminal_back(number):
    """And it is the signal that ended it."""
    with application() as child:
        child.until(b"last: none")
        child.signal(number)
        assert child.wait() == -number
        assert modes(child) == child.before
        assert restored(child.written)


def test_a_terminal_that_is_closed_ends_it():
    """Nobody is left to draw for."""
    with application() as child:
        child.until(b"last: none")
        os.close(child.master)
        child.master = os.open(os.devnull, os.O_RDWR)
        child.until_ended_unread()


def test_garbage_is_not_fatal():
    """Bytes that are no UTF-8, half sequences, controls: it goes on."""
    with application() as child:
        child.until(b"last: none")
        child.type(bytes(byte for byte in range(256) if byte not in (4, 26, 120, 114)) * 3)
        child.type(b"\x1b[\x1b]\x1b_\x1bP\x18")
        child.type(b"k")
        child.until(b"k. ")
        child.type(b"\x04")
        assert child.wait() == 7


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"SIGHTLINE_LINEAR": "1"}])
def test_a_terminal_that_cannot_move_gets_lines(environment):
    """The same program, no escape at all in what it writes, and lines that are typed reach its component."""
    with application(environment=environment) as child:
        child.until(b"final words\r\n> ")
        assert modes(child) == child.before
        child.type(b"two words\n")
        child.until(b"two words\r\n> ")
        child.type(b"\x04")
        assert child.wait() == 0
        assert b"\x1b" not in child.written
        assert child.written.count(b"final words") == 1


IN_A_SHELL = "import os\n" + PROLOGUE.replace("fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n", "") + RUN


def test_control_z_gives_the_window_up_and_fg_draws_it_again():
    """What is final is written once; what is not is there before and after."""
    with on_pty(f"PROGRAM = {IN_A_SHELL!r}\n" + SHELL, prologue="") as child:
        child.until(b"last: none")
        child.type(b"k")
        child.until(b"k. ")
        child.type(b"\x1a")
        child.until(b"<stopped 1>")
        child.type(b"fg\n")
        child.until_true(lambda: b"last: k" in child.written[child.written.index(b"<stopped") :], "the window again")
        assert is_raw(child)
        assert child.written.count(b"final words") == 1
        child.type(b"\x04")
        assert child.wait() == 7


def test_a_stop_nobody_announced_is_drawn_over():
    """After SIGSTOP the screen is the shell's: the window is drawn again, below it."""
    program = IN_A_SHELL.replace("def start(", "os.write(1, b'<pid %d>' % os.getpid())\ndef start(")
    with on_pty(f"PROGRAM = {program!r}\n" + SHELL, prologue="") as child:
        child.until(b"last: none")
        pid = int(re.search(rb"<pid (\d+)>", child.written)[1])
        os.kill(pid, signal.SIGSTOP)
        child.until(b"<stopped 0>")
        child.type(b"fg\n")
        child.until_true(lambda: b"last: none" in child.written[child.written.index(b"<stopped") :], "the window again")
        child.type(b"\x04")
        assert child.wait() == 7


def test_another_program_can_have_the_terminal_for_a_while(tmp_path):
    """It finds the terminal as it was; afterwards the window is drawn anew below what it said, and keys are ours."""
    found = tmp_path / "modes"
    ask = "import termios; print('cooked' if termios.tcgetattr(0)[3] & termios.ICANON else 'raw')"
    lent_to = f'{sys.executable} -c "{ask}" > {found}; echo lent; exit 3'
    with application(environment={"LENT_TO": lent_to}) as child:
        child.until(b"last: none")
        child.type(b"\x1b[24~")
        child.until(b"lent")
        child.until(b"last: f12")
        assert found.read_text() == "cooked\n"
        assert is_raw(child)
        child.type(b"\x1b[A")
        child.until(b"up.")
        child.type(b"\x04")
        assert child.wait() == 7
        assert child.written.count(b"final words") == 1


CARELESS = PROLOGUE.replace("        return True\n", "        return False\n").replace(
    'if matches(event, "ctrl+d"): self.application.exit(7)', 'if matches(event, "f1"): self.application.exit(7)'
)


@pytest.mark.parametrize(("key", "code"), [(b"\x03", 130), (b"\x04", 0)], ids=["ctrl+c", "ctrl+d"])
def test_keys_that_end_a_program_end_it_when_nobody_takes_them(key, code):
    """Escape, which interrupts too, does not."""
    with on_pty(RUN, prologue=CARELESS) as child:
        child.until(b"last: none")
        child.type(b"\x1b")
        child.until(b"escape.")
        child.type(key)
        assert child.wait() == code
        assert modes(child) == child.before
        assert restored(child.written)


def test_keys_that_somebody_takes_do_not_end_it():
    """Ctrl+C is the component's."""
    with application() as child:
        child.until(b"last: none")
        child.type(b"\x03")
        child.until(b"ctrl+c.")
        child.type(b"\x04")
        assert child.wait() == 7


def test_what_the_loop_complains_of_is_said_when_the_terminal_is_given_back():
    """Not into the window."""
    complain = RUN.replace(
        "(start)", "(lambda a: (start(a), a.loop.call_exception_handler({'message': 'something odd'})))"
    )
    with on_pty(complain, prologue=PROLOGUE) as child:
        child.until(b"last: none")
        child.type(b"\x04")
        assert child.wait() == 7
        before, _, after = child.written.rpartition(b"\x1b[?25h")
        assert b"something odd" in after
        assert b"something odd" not in before


def test_pictures_are_decoded_in_a_thread():
    """A large one does not keep the loop; what it came to is told on the loop."""
    program = """
import struct, threading, zlib
from sightline.tty._images import _pixels
from sightline.tty.components import Image
threads = []
def slow(*_):
    threads.append(threading.current_thread() is threading.main_thread())
    return b""
_pixels.can_decode, _pixels.as_png = lambda: True, slow
JPEG = bytes.fromhex("ffd8ffc0000b080010001001011100ffd9")
def decoding(application):
    start(application)
    picture = Image(JPEG, "a picture", images=application.display.images)
    application.display.children[0].append(picture)
    def look():
        if threads: application.exit(40 + threads[0])
        else: application.loop.call_later(0.01, look)
    look()
sys.exit(run_application(decoding))
"""
    with on_pty(program, prologue=PROLOGUE, environment={"SIGHTLINE_FORCE_IMAGE_PROTOCOL": "kitty"}) as child:
        assert child.wait() == 40
