"""The terminal is taken over, asked, heard and written to, on real ptys."""

import os
import re

import pytest

from tests.tty.pty_child import KITTY, LOOP, XTERM, is_raw, on_pty, restored


def test_lifecycle_raw_mode_and_bracketed_paste_come_first():
    """Step 1 of start: raw mode and bracketed paste; input is keys, not lines."""
    with on_pty(LOOP, answers=XTERM) as child:
        child.until(b"<ready>")
        assert child.written.startswith(b"\x1b[?2004h")
        assert is_raw(child)
        child.type(b"a\x03\x1b[200~x\ry\x1b[201~\r")
        child.until(b"<a|'a'><ctrl+c|''>")
        child.until(b"'x\\ny'>")
        child.until(b"<enter|''>")
        child.type(b"\x04")
        assert child.wait() == 0
        assert child.attributes() == child.before
        assert child.written.count(b"farewell") == 1


def test_lifecycle_resizes_are_heard_and_size_is_refreshed():
    """Step 2: the resize handler and dimensions."""
    with on_pty(LOOP, answers=XTERM) as child:
        child.until(b"<ready>")
        child.resize(100, 30)
        child.until(b"<size (100, 30)>")


def test_lifecycle_kitty_keyboard_where_it_is_known():
    """Step 5: flags pushed after the answer, popped in the end, and releases are told."""
    with on_pty(LOOP, answers=KITTY) as child:
        child.until(b"\x1b[>7u")
        assert b"\x1b[>4;2m" not in child.written
        child.type(b"\x1b[97;5u\x1b[100;5u")
        child.until(b"<ctrl+a|''>")
        assert child.wait() == 0
        assert restored(child.written, keyboard=b"\x1b[<u")


@pytest.mark.parametrize("answers", [XTERM, {}], ids=["says no", "says nothing"])
def test_lifecycle_other_keys_where_kitty_keyboard_is_unknown(answers):
    """Step 5: otherwise modifyOtherKeys after a short timeout."""
    with on_pty(LOOP, answers=answers) as child:
        child.until(b"\x1b[>4;2m")
        child.type(b"\x1b[27;5;100~")
        assert child.wait() == 0
        assert b"\x1b[>4;0m" in child.written
        assert b"\x1b[<u" not in child.written


def test_lifecycle_a_terminal_that_may_not_be_asked_is_not_told_either():
    """The Linux console: no question, no modifyOtherKeys, and keys are heard."""
    with on_pty(LOOP, environment={"TERM": "linux"}) as child:
        child.until(b"<ready>")
        child.type(b"\x1b[[A\x04")
        assert child.wait() == 0
        assert b"<f1|''>" in child.written
        assert b"\x1b[>" not in child.written
        assert b"\x1b[c" not in child.written


def test_lifecycle_appearance_is_asked_and_followed():
    """Step 6: OSC 11 and mode 2031; a change arrives live and asks for the colour again."""
    with on_pty(LOOP, answers=KITTY) as child:
        child.until(b"<False True (10, 20)>")
        asked = child.written.count(b"\x1b]11;?")
        child.type(b"\x1b[?997;1n")
        child.until(b"<True True (10, 20)>")
        child.until_true(lambda: child.written.count(b"\x1b]11;?") > asked, "a second look at the background")
        assert b"|" not in child.written


def test_s7_a_terminal_that_never_answers_passes_the_same_journey():
    """Nothing waits: keys are heard at once, and the end is not delayed by questions long expired."""
    with on_pty(LOOP) as child:
        child.until(b"<ready>")
        child.type(b"hi\x1b")
        child.until(b"<h|'h'><i|'i'>")
        child.until(b"<escape|''>")
        child.until(b"\x1b[>4;2m")
        child.type(b"\x1b")
        child.until_true(lambda: child.written.count(b"<escape|''>") == 2, "a second escape")
        child.type(b"\x1b[A\x04")
        assert child.wait() == 0
        assert b"<up|''>" in child.written
        assert restored(child.written)


def test_s7_replies_that_are_late_are_not_typed():
    """Long after the deadline they still count, and nothing of them is input."""
    with on_pty(LOOP) as child:
        child.until(b"\x1b[>4;2m")
        for byte in b"".join(KITTY.values()):
            child.type(bytes([byte]))
        child.until(b"\x1b[>4;0m\x1b[>7u")
        child.until(b"True (10, 20)>")
        child.type(b"x")
        child.until(b"<x|'x'>")
        assert re.findall(rb"<[^<|]*\|", child.written) == [b"<x|"]


def test_s7_whoever_leaves_early_takes_the_answers_along():
    """The shell must not read them as typed."""
    program = LOOP.replace("await done", "pass")
    with on_pty(program, answers=KITTY) as child:
        assert child.wait() == 0
        assert child.attributes() == child.before
        os.set_blocking(child.slave, False)
        with pytest.raises(BlockingIOError):
            os.read(child.slave, 100)


def test_lifecycle_a_terminal_that_goes_away_is_told():
    """EOF and errors on input end listening."""
    with on_pty("import os, signal; signal.signal(signal.SIGHUP, signal.SIG_IGN)\n" + LOOP) as child:
        child.until(b"<ready>")
        os.close(child.slave)
        os.close(child.master)
        child.master, child.slave = os.openpty()
        assert child.wait() == 0


def test_a_slow_terminal_is_not_waited_for(tmp_path):
    """What does not fit is queued: `busy` until `on_drained`, in order, nothing lost."""
    program = """
import asyncio
async def main():
    with Terminal() as terminal:
        terminal.attach(asyncio.get_running_loop())
        drained = asyncio.Event()
        terminal.on_drained = drained.set
        terminal.write("begin" + "x" * 300_000 + "end")
        assert terminal.busy
        terminal.write("after")
        open(os.environ["DID_NOT_WAIT"], "w").close()
        await drained.wait()
        assert not terminal.busy
asyncio.run(main())
"""
    mark = tmp_path / "mark"
    with on_pty(program, environment={"DID_NOT_WAIT": str(mark)}) as child:
        child.until_true(mark.exists, "a program that does not wait", reading=False)
        assert child.wait() == 0
        plain = re.sub(rb"\x1b(\[[0-?]*[ -/]*[@-~]|[]_][^\x1b]*\x1b\\)", b"", child.written)
        assert b"begin" + b"x" * 300_000 + b"endafter" in plain


@pytest.mark.parametrize("wait", ["", "await asyncio.sleep(0.2)"], ids=["at once", "after the deadline"])
def test_s7_nothing_waits_for_answers_that_do_not_come(wait):
    """Beginning does not wait at all, and an early end no longer than the deadline of the questions."""
    program = f"""
import asyncio, time
async def main():
    terminal = Terminal(); terminal.enter()
    begun = time.monotonic()
    terminal.attach(asyncio.get_running_loop())
    attached = time.monotonic()
    {wait}
    ending = time.monotonic()
    terminal.leave()
    print(f"<{{attached - begun:.3f}} {{time.monotonic() - ending:.3f}}>")
asyncio.run(main())
"""
    waits = []
    for _ in range(3):  # the quickest of three: a busy machine is slow, not waiting
        with on_pty(program) as child:
            assert child.wait() == 0
            waits.append([float(number) for number in re.search(rb"<([\d.]+) ([\d.]+)>", child.written).groups()])
    assert min(ending for _, ending in waits) < (0.05 if wait else 0.2)
    assert min(beginning for beginning, _ in waits) < 1, "importing is all that takes time"


def test_first_paint_needs_few_modules():
    """`enter`, `write` and `size` load nothing heavy: no asyncio, msgspec, typing, re or wcwidth."""
    prologue = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); import sightline.tty\n"
    program = """
before = set(sys.modules)
from sightline.tty.terminal._terminal import Terminal
with Terminal() as terminal:
    terminal.write(f"<{terminal.size}>")
    terminal.write(f"<loaded {' '.join(sorted(set(sys.modules) - before))}>")
"""
    cheap = "__future__ atexit collections enum functools itertools keyword operator reprlib select signal time types"
    ours = {f"sightline.tty.terminal._{name}" for name in ("endings", "modes", "raw", "terminal", "writer")}
    ours.add("sightline.tty.terminal")
    with on_pty(program, size=(91, 31), prologue=prologue) as child:
        assert child.wait() == 0
        assert b"<(91, 31)>" in child.written
        loaded = re.search(rb"<loaded ([^>]*)>", child.written)[1].decode().split()
        assert {name for name in loaded if not name.startswith("_")} <= ours | set(cheap.split())


@pytest.mark.parametrize(
    ("environment", "size"),
    [({}, "(80, 24)"), ({"COLUMNS": "61", "LINES": "17"}, "(61, 17)"), ({"COLUMNS": "0"}, "(80, 24)")],
)
def test_a_terminal_that_does_not_know_its_size_has_one(environment, size):
    """The environment, then 80 by 24; never 0."""
    with on_pty("Terminal().write(str(Terminal().size))", size=(0, 0), environment=environment) as child:
        assert child.wait() == 0
        assert child.written == size.encode()


def test_a_dumb_terminal_is_sent_no_sequence():
    """TERM=dumb: neither modes nor questions, but keys are heard."""
    with on_pty(LOOP, environment={"TERM": "dumb"}) as child:
        child.until(b"<ready>")
        child.type(b"a\x04")
        assert child.wait() == 0
        assert b"\x1b" not in child.written
        assert child.attributes() == child.before


def test_titles_and_notifications_are_cleaned():
    """What they say cannot end its sequence; the old title comes back."""
    program = """
with Terminal(environment={"TERM": "xterm-kitty"}) as terminal:
    terminal.set_title("one\\x1b]0;evil\\x07two\\nthree")
    terminal.notify("done\\x1b\\\\", "all;of it")
"""
    with on_pty(program) as child:
        assert child.wait() == 0
        assert b"\x1b[22;2t\x1b]2;onetwo three\x1b\\" in child.written
        assert b"\x1b]99;i=sightline:d=0;done\x1b\\\x1b]99;i=sightline:p=body;all;of it\x1b\\" in child.written
        assert b"\x1b[23;2t" in child.written
