"""What only a real terminal can show: tui-core-renderer.md §1 and §3.9, runtime internals: resize handling."""

from collections.abc import Iterator

import pytest

from sightline.testing.emulators import Emulator, open_emulator
from sightline.tty.components._transcript import BlockColumn
from tests.tty.glass import Glass
from tests.tty.support import Lines, Words

WORDS = [f"word{number}" for number in range(300)]


@pytest.fixture
def tmux() -> Iterator[Emulator]:
    terminal = open_emulator("tmux", 60, 10)
    yield terminal
    terminal.close()


@pytest.fixture
def xterm() -> Iterator[Emulator]:
    terminal = open_emulator("xterm", 60, 10)
    yield terminal
    terminal.close()


def test_s1_s3_9_resize_in_a_multiplexer_keeps_history_as_it_was_wrapped(tmux: Emulator) -> None:
    """§1, §3.9, resize handling: pane history keeps its old wrap, the window is painted in place, no word twice."""
    glass, transcript = Glass(tmux), BlockColumn(gap=0)
    display = glass.display()
    display.add(transcript)
    transcript.append(Words(*WORDS))
    display.render_now()
    old = Words(*WORDS).render(60)
    tmux.resize(80, 10)
    glass.has_new_size(display)
    tape = tmux.tape()
    history = display._composer.start or display._ledger.committed
    assert history
    assert tape.rows[0] == old[0], "not laid out anew"
    assert " ".join(" ".join(tape.rows).split()) == " ".join(WORDS)
    assert glass.forbidden == []


def test_resize_outside_a_multiplexer_lays_history_out_anew(xterm: Emulator) -> None:
    """Resize handling: an explicit gesture: erased and replayed; history wraps at the new width."""
    glass, transcript = Glass(xterm), BlockColumn(gap=0)
    display = glass.display()
    display.add(transcript)
    transcript.append(Words(*WORDS))
    display.render_now()
    xterm.resize(80, 10)
    glass.has_new_size(display)
    assert xterm.tape().text == Words(*WORDS).render(80)


def test_s1_a_reader_who_scrolled_up_is_not_disturbed(xterm: Emulator) -> None:
    """§1: where the reader is cannot be known, and does not matter: ordinary updates change nothing he looks at."""
    glass, transcript, chrome = Glass(xterm), BlockColumn(gap=0), Lines("tick 0", "> ")
    display = glass.display()
    display.add(transcript)
    display.add(chrome)
    for number in range(60):
        transcript.append(Lines(f"row {number}"))
    display.render_now()
    xterm.scroll_up(25)
    before = xterm.viewport()
    for number in range(60, 90):
        transcript.append(Lines(f"row {number}"))
        chrome.set([f"tick {number}", "> "])
        display.request_render()
        display.render_now()
    assert xterm.viewport() == before
