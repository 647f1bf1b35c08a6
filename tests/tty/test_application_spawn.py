"""What a program does beside its window, and what it asks of the terminal: tasks, title, notification, clipboard."""

import base64
import re

import pytest

from sightline.tty import Capabilities
from sightline.tty.terminal._notices import clipboard
from tests.tty.pty_child import on_pty, restored
from tests.tty.test_application import PROLOGUE

SPAWNING = """
import asyncio
async def work(application):
    await asyncio.sleep(0)
    {first}
    try:
        await asyncio.Event().wait()
    finally:
        await asyncio.sleep(0)
        os.write(2, b"<cancelled>")
def spawning(application):
    start(application)
    application.spawn(work(application))
sys.exit(run_application(spawning))
"""


def spawning(first, **options):
    return on_pty(SPAWNING.replace("{first}", first), prologue=PROLOGUE, **options)


def test_a_task_that_fails_ends_the_program_with_the_terminal_given_back():
    """As a component that fails does: the traceback comes after the terminal is as it was."""
    with spawning("raise RuntimeError('cannot go on')") as child:
        assert child.wait() == 1
        assert child.attributes() == child.before
        before, _, after = child.written.rpartition(b"\x1b[?2004l")
        assert b"RuntimeError: cannot go on" in after
        assert b"Traceback" not in before


@pytest.mark.parametrize("environment", [{}, {"SIGHTLINE_LINEAR": "1"}], ids=["a window", "lines"])
def test_a_task_that_still_goes_on_is_cancelled_in_the_end(environment):
    """And waited for, after the terminal was given back."""
    with spawning("application.exit(5)", environment=environment) as child:
        assert child.wait() == 5
        assert child.attributes() == child.before
        assert child.written.endswith(b"<cancelled>")


def test_a_task_that_is_done_or_cancelled_is_no_reason_to_end():
    """The program goes on."""
    program = """
import asyncio
async def short(): pass
def spawning(application):
    start(application)
    application.spawn(short())
    application.spawn(asyncio.sleep(60)).cancel()
sys.exit(run_application(spawning))
"""
    with on_pty(program, prologue=PROLOGUE) as child:
        child.until(b"last: none")
        child.type(b"k")
        child.until(b"k. ")
        child.type(b"\x04")
        assert child.wait() == 7


ASKING = (
    "application.set_title('a\\x1b]0;b'); application.notify('done'); print(application.copy('it'), file=sys.stderr)"
)


def test_title_notification_and_clipboard_go_to_the_terminal_between_frames():
    """Each whole, none inside a frame; the title is taken back."""
    with spawning(f"{ASKING}; application.exit(0)", environment={"TERM": "foot"}) as child:
        assert child.wait() == 0
        assert restored(child.written)
        for asked in (
            b"\x1b[22;2t\x1b]2;a\x1b\\",
            b"\x1b]777;notify;done;\x1b\\",
            b"\x1b]52;c;aXQ=\x07",
            b"\x1b[23;2t",
        ):
            assert child.written.count(asked) == 1
        frames = re.findall(rb"\x1b\[\?2026h.*?\x1b\[\?2026l", child.written, re.DOTALL)
        assert not any(b"\x1b]" in frame for frame in frames)
        assert b"True" in child.written


@pytest.mark.parametrize("environment", [{"TERM": "dumb"}, {"SIGHTLINE_LINEAR": "1"}])
def test_lines_have_neither_title_nor_clipboard(environment):
    """Nothing but lines is written, and the clipboard says so."""
    with spawning(f"{ASKING}; application.exit(0)", environment=environment) as child:
        assert child.wait() == 0
        assert b"\x1b" not in child.written
        assert b"False" in child.written


def copied(request):
    return base64.b64decode(re.search(r"\]52;c;([^\x07]*)\x07", request)[1]).decode()


def test_a_copy_holds_the_text_and_nothing_of_it_reaches_the_terminal():
    """Whatever it is, it is encoded."""
    text = "one\x1b]0;evil\x07\n漢字 \udc80"
    request = clipboard(text, Capabilities())
    assert copied(request) == "one\x1b]0;evil\x07\n漢字 ?"
    assert re.fullmatch(r"\x1b\]52;c;[A-Za-z0-9+/=]+\x07", request)


def test_a_copy_in_tmux_is_said_to_tmux_and_handed_on():
    """Whichever of the two the person's settings let through."""
    request = clipboard("text", Capabilities(multiplexer="tmux"))
    plain = clipboard("text", Capabilities())
    assert request == plain + "\x1bPtmux;\x1b" + plain + "\x1b\\"


def test_a_copy_in_screen_goes_in_parts_it_takes():
    """Together they are the request."""
    request = clipboard("x" * 1000, Capabilities(multiplexer="screen"))
    parts = re.findall(r"\x1bP(.*?)\x1b\\", request, re.DOTALL)
    assert all(len(part) < 256 for part in parts)
    assert copied("".join(parts)) == "x" * 1000


@pytest.mark.parametrize(
    ("text", "capabilities"),
    [("x" * 80_000, Capabilities()), ("", Capabilities()), ("x", Capabilities(terminal="linux"))],
    ids=["too much", "nothing", "no clipboard"],
)
def test_what_cannot_be_copied_is_not_sent(text, capabilities):
    """The caller is told, and can find another way."""
    assert clipboard(text, capabilities) == ""
