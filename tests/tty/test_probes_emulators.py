"""Our questions put to real terminals: nothing shows, what they answer is understood, what we set is undone."""

import time

import pytest

from sightline.testing.emulators import open_emulator
from sightline.tty.input._decoder import Decoder
from sightline.tty.input._sequences import TerminalReply
from sightline.tty.terminal._capabilities import detect
from sightline.tty.terminal._modes import Modes
from sightline.tty.terminal._probes import Probes

ENVIRONMENTS = {
    "xterm": {"TERM": "xterm-256color"},
    "ghostty": {"TERM": "xterm-256color"},
    "tmux": {"TERM": "tmux-256color", "TMUX": "socket"},
}


@pytest.fixture(params=ENVIRONMENTS)
def terminal(request):
    emulator = open_emulator(request.param, 60, 10)
    yield emulator
    emulator.close()


def conversation(terminal, environment) -> tuple[Probes, list]:
    """Ask everything; whoever answers, answers the sentinels too, so there is nothing to wait for but them."""
    probes, decoder, events = Probes(), Decoder(), []
    terminal.write(probes.start(detect(environment)))
    deadline = time.monotonic() + 10
    while terminal.name != "ghostty" and probes.outstanding and time.monotonic() < deadline:
        for event in decoder.feed(terminal.replies()):
            events.append(event)
            probes.take(event)
        time.sleep(0.005)
    return probes, events + decoder.flush()


def test_s7_questions_do_not_show_and_answers_are_no_input(terminal):
    """Screen and cursor are as before, and every byte of every answer is a reply."""
    terminal.write("before")
    probes, events = conversation(terminal, ENVIRONMENTS[terminal.name])
    assert [row for row in terminal.screen() if row] == ["before"]
    assert terminal.cursor() == (6, 0)
    assert all(isinstance(event, TerminalReply) for event in events)
    # Ghostty's core as it is here answers none of this: it is the terminal that never answers.
    assert probes.outstanding == (8 if terminal.name == "ghostty" else 0)


def test_s7_what_real_terminals_answer_is_what_is_detected(terminal):
    """xterm.js reports mode 2026 and no keyboard protocol; tmux of this version reports neither."""
    probes, _ = conversation(terminal, ENVIRONMENTS[terminal.name])
    found = detect(ENVIRONMENTS[terminal.name]).reconcile(probes.answers)
    assert found.synchronized_output is (terminal.name == "xterm")
    assert found.kitty_keyboard is False
    assert found.images == "none"
    assert found.multiplexer == ("tmux" if terminal.name == "tmux" else "")


def test_lifecycle_what_is_set_is_undone_in_a_real_terminal(terminal):
    """After leaving, the modes are those of a fresh terminal, however much was on."""
    fresh = terminal.modes()
    modes = Modes()
    probes, _ = conversation(terminal, ENVIRONMENTS[terminal.name])
    probes.expire()
    terminal.write(modes.enter() + modes.adapt(probes.answers) + "\x1b[?2026h\x1b[?25l\x1b[?7l")
    assert terminal.modes() != fresh
    terminal.write(modes.leave())
    assert terminal.modes() == fresh
    assert not any(terminal.screen())
