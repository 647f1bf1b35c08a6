"""A slow terminal gets everything before it is given back; a frame is not interrupted; nothing waits forever."""

import os
import re
import select
import signal
import time

import pytest

from sightline.tty.terminal._writer import Writer
from tests.tty.pty_child import LOOP, is_raw, on_pty, restored

LINES = 4000
FLOOD = f'"".join(f"line{{n:05d}} {{\'x\' * 60}}\\r\\n" for n in range({LINES}))'


def read_slowly(child, condition):
    """As over a bad connection: a little at a time. All in all it takes a second or so."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        if select.select([child.master], [], [], 0.02)[0]:
            child.written += os.read(child.master, 2048)
            time.sleep(0.005)


def has_ended(child):
    return lambda: child._process.poll() is not None and not select.select([child.master], [], [], 0)[0]


def numbers(child):
    return [int(number) for number in re.findall(rb"line(\d{5})", child.written)]


@pytest.mark.parametrize(
    ("ending", "code"),
    [("done.set_result(None)", 0), ("os.kill(os.getpid(), 15)", -15), ("os.kill(os.getpid(), 1)", -1)],
    ids=["exit", "SIGTERM", "SIGHUP"],
)
def test_a_slow_terminal_gets_everything_in_the_end(ending, code):
    """What was drawn counts as shown, so it is; and after it everything is switched off."""
    with on_pty(LOOP.replace("await done", f"terminal.write({FLOOD}); {ending}; await done")) as child:
        read_slowly(child, has_ended(child))
        assert child.wait() == code
        assert numbers(child) == list(range(LINES))
        assert restored(child.written)
        assert b"farewell" in child.written[child.written.rfind(b"line") :]
        assert child.attributes() == child.before


def test_a_slow_terminal_gets_everything_before_it_is_lent():
    """Ctrl+Z and programs that are let in: the same, and what they write comes after it."""
    lend = f"terminal.write({FLOOD}); terminal.lend(lambda: os.write(1, b'<lent>')); done.set_result(None); await done"
    with on_pty(LOOP.replace("await done", lend)) as child:
        read_slowly(child, has_ended(child))
        assert child.wait() == 0
        assert numbers(child) == list(range(LINES))
        before, _, _ = child.written.partition(b"<lent>")
        assert before.count(b"xx\r") == LINES
        assert restored(before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_does_not_come_between_a_frame(number):
    """The loop finishes what it is at; then the terminal is given back, and it is the signal that ended it."""
    frame = f"""
        def frame():
            terminal.write("<begun>")
            os.kill(os.getpid(), {int(number)})
            for _ in range(1000): pass
            terminal.write("<whole>")
        loop.call_soon(frame)
        await done
"""
    with on_pty(LOOP.replace("        await done\n", frame)) as child:
        assert child.wait() == -number
        assert child.written.index(b"<begun>") < child.written.index(b"<whole>") < child.written.index(b"farewell")
        assert restored(child.written)


@pytest.mark.parametrize("times", [1, 2], ids=["it is interrupted", "a second signal"])
def test_a_loop_that_is_stuck_ends_all_the_same(times):
    """Without its farewell, since it may be in the middle of a frame; the terminal is given back."""
    stuck = f"""
        import time
        def frame():
            for _ in range({times}): os.kill(os.getpid(), 15)
            while True: time.sleep(0.01)
        loop.call_soon(frame)
        await done
"""
    with on_pty(LOOP.replace("        await done\n", stuck)) as child:
        assert child.wait() == -signal.SIGTERM
        assert b"farewell" not in child.written
        assert restored(child.written)
        assert child.attributes() == child.before


def test_a_terminal_that_is_given_up_is_still_switched_off(tmp_path):
    """What was queued is dropped; the end of any half sequence and everything off are the last bytes."""
    mark = tmp_path / "given up"
    program = f"""
from sightline.tty.terminal import _terminal
from sightline.tty.terminal import _writer
_terminal._PATIENCE, _terminal._SHORT_PATIENCE = 0.05, 10
discard = _writer.Writer.discard
def seen(self):
    discard(self)
    open({str(mark)!r}, "w").close()
_writer.Writer.discard = seen
terminal = Terminal(); terminal.enter()
terminal.write({FLOOD})
terminal.leave()
"""
    with on_pty(program) as child:
        child.until_true(mark.exists, "giving up", reading=False)
        assert child.wait() == 0
        assert len(numbers(child)) < LINES
        assert child.written.endswith(b"\x18\x1b[?2026l\x1b[?7h\x1b[0m\r\r\n\x1b[?2004l\x1b[?25h")
        assert child.attributes() == child.before


def test_nothing_is_written_once_it_is_given_back():
    """A timer that is late draws nothing into the shell."""
    with on_pty("terminal = Terminal(); terminal.enter(); terminal.leave(); terminal.write('<late>')") as child:
        assert child.wait() == 0
        assert b"<late>" not in child.written
        assert not is_raw(child)


def test_a_long_queue_is_sent_in_pieces(monkeypatch):
    """No write is handed more than 64 KB, however much waits; nothing is lost and the order is kept."""
    handed = []
    write = os.write
    monkeypatch.setattr(os, "write", lambda fd, data: (handed.append(len(data)), write(fd, data))[1])
    master, slave = os.openpty()
    writer = Writer(slave, lambda: None)
    data = b"".join(b"%07d\r" % number for number in range(250_000))
    read = b""
    try:
        for start in range(0, len(data), 700_000):
            writer.write(data[start : start + 700_000])
        while len(read) < len(data):
            read += os.read(master, 65536)
            writer.send()
    finally:
        writer.close()
        os.close(master)
        os.close(slave)
    assert read == data
    assert max(handed) <= 65536
