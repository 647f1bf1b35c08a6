"""Frames as they are asked for and written: tui-runtime-internals.md (render loop, render safety, resize), §3.7, §9."""

import re

import pytest

from sightline.tty._component import CURSOR
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.frame._overlays import Overlay
from sightline.tty.frame._scheduler import FRAME_INTERVAL, RESIZE_SETTLE, TMUX_SETTLE
from sightline.tty.input._keys import Key
from sightline.tty.terminal._capabilities import Capabilities, detect
from tests.tty.contract_support import Sink, drawn, numbered
from tests.tty.paper import Paper
from tests.tty.support import FakeClock, Lines, Words, a_display

DOUBTFUL = "❤️" * 30


def timed(paper: Paper) -> tuple[Display, FakeClock]:
    clock = FakeClock()
    return Display(paper, Capabilities(synchronized_output=True), clock), clock


def test_render_loop_a_forced_frame_comes_at_once_and_writes_the_window_whole() -> None:
    """requestRender(true): an immediate frame, every row of the window again; history is neither erased nor doubled."""
    paper, lines = Paper(rows=4), Lines(*numbered(9))
    display, clock = timed(paper)
    display.add(lines)
    clock.advance(0)
    display.request_render(force=True)
    clock.advance(0)
    assert len(paper.written) == 2
    assert all(row in paper.written[-1] for row in numbered(9)[5:])
    assert "row 4" not in paper.written[-1]
    assert paper.tape == numbered(9)


def test_render_loop_boot_a_forced_render_keeps_history() -> None:
    """Boot: a forced render repaints the viewport and does not throw away earlier lines, the shell's included."""
    paper = Paper(rows=4, above=3)
    display = drawn(paper, Lines(*numbered(6)))
    display.request_render(force=True)
    display.render_now()
    assert paper.tape == ["shell 0", "shell 1", "shell 2", *numbered(6)]


def test_render_loop_ordinary_frames_are_thirty_a_second_at_most() -> None:
    """Ordinary renders keep the minimal interval and collapse into the frame that is due; the last state is shown."""
    paper, lines = Paper(), Lines("0")
    display, clock = timed(paper)
    display.add(lines)
    clock.advance(0)
    for index in range(1, 100):
        lines.set([str(index)])
        display.request_render()
        clock.advance(FRAME_INTERVAL / 20)
    assert len(paper.written) <= 1 + 99 / 20 + 1
    clock.advance(FRAME_INTERVAL)
    assert paper.tape == ["99"]


@pytest.mark.parametrize("unsafe", ["force", "root list", "resize"])
def test_render_loop_a_component_scoped_request_becomes_a_full_one(unsafe: str) -> None:
    """A forced repaint, another list of roots or another size in the same frame asks every component."""
    paper, spinner, other = Paper(), Lines("|"), Lines("other")
    display = drawn(paper, other, spinner)
    asked = other.asked
    display.request_render(spinner)
    if unsafe == "force":
        display.request_render(spinner, force=True)
    elif unsafe == "root list":
        display.add(Lines("new"))
    else:
        paper.expect_gesture()
        display.resized()
    display.render_now()
    assert other.asked == asked + 1


def test_render_loop_a_scoped_frame_reuses_rows_and_seam_of_the_others() -> None:
    """What the other roots gave last, their boundary included, is used again."""
    paper, transcript, spinner = Paper(rows=4), BlockColumn(gap=0), Lines("|")
    display = drawn(paper, transcript, spinner)
    live = Lines(*numbered(9))
    transcript.append(live, live=True)
    display.render_now()
    asked = live.asked
    spinner.set(["/"])
    display.request_render(spinner)
    display.render_now()
    assert live.asked == asked
    assert display._ledger.committed == 0
    assert paper.tape == [*numbered(9)[-3:], "/"]


def test_render_loop_input_is_drawn_without_waiting() -> None:
    """Input routing 5: after dispatch a frame is scheduled, sooner than the ordinary one."""
    paper, lines = Paper(), Lines("before")
    display, clock = timed(paper)
    display.add(lines)
    display.set_focus(lines)
    clock.advance(0)
    lines.set(["after"])
    display.handle_input(Key("a", text="a"))
    clock.advance(0)
    assert paper.tape == ["after"]


@pytest.mark.parametrize("synchronized", [True, False])
def test_s3_7_every_frame_is_one_write_with_the_cursor_inside(synchronized: bool) -> None:
    """§3.7: one begin and one end around everything, cursor placement included; without the mode, no bracket."""
    paper, lines = Paper(rows=5), Lines("a", f"b{CURSOR}")
    display = a_display(paper, synchronized=synchronized)
    display.add(lines)
    display.render_now()
    for count in (2, 9, 4, 7):
        before = len(paper.written)
        lines.set([f"{CURSOR}{count}", *numbered(count)])
        display.render_now()
        assert len(paper.written) == before + 1
        text = paper.written[-1]
        if synchronized and "\x1b[?2026" in text:
            assert text.startswith("\x1b[?2026h")
            assert text.endswith("\x1b[?2026l")
            assert text.count("2026") == 2
        elif re.search(r"\x1b\[\d*A", text):
            assert not synchronized, "what goes back up is shown at once"
        assert synchronized or "2026" not in text


def test_s3_7_a_frame_that_writes_on_in_one_place_needs_no_bracket() -> None:
    """Deviation brackets-where-needed: streaming text to the end of the last row is its own bytes and nothing else."""
    paper, lines = Paper(), Lines("one")
    display = drawn(paper, lines)
    lines.set(["one two"])
    display.render_now()
    assert paper.written[-1] in (" two", "\x1b[4G two")


@pytest.mark.parametrize("synchronized", [True, False])
def test_s9_no_automatic_wrapping_with_and_without_synchronized_output(synchronized: bool) -> None:
    """§9: the autowrap discipline does not depend on DEC 2026: off before a doubtful row, on again after."""
    sink = Sink()
    display = Display(sink, Capabilities(synchronized_output=synchronized))
    display.add(Lines("plain", DOUBTFUL))
    display.render_now()
    text = sink.written[0]
    assert text.count("\x1b[?7l") == text.count("\x1b[?7h") == 1
    assert text.index("\x1b[?7l") < text.index("❤") < text.index("\x1b[?7h")


def test_s9_wrapping_is_left_alone_where_nothing_can_wrap() -> None:
    """Deviation autowrap-where-needed: rows all terminals agree on carry no mode switches."""
    paper = Paper()
    drawn(paper, Lines(*numbered(5), "x" * 40))
    assert "?7" not in "".join(paper.written)


def test_s9_a_shrink_always_clears_exactly() -> None:
    """§9 (no CLEAR_ON_SHRINK switch): fewer and shorter rows leave nothing behind."""
    paper, lines = Paper(rows=8), Lines(*["a long row of text"] * 7)
    display = drawn(paper, lines)
    lines.set(["short", "", "x"])
    display.render_now()
    assert paper.tape == ["short", "", "x"]


def test_s9_without_the_hardware_cursor_it_stays_hidden_and_parked() -> None:
    """§9, deviation hardware-cursor: SIGHTLINE_HARDWARE_CURSOR=0 hides it; the mark never shows."""
    for environment, visible in (({}, True), ({"SIGHTLINE_HARDWARE_CURSOR": "0"}, False)):
        paper = Paper()
        display = Display(paper, detect(environment))
        display.add(Lines(f"> {CURSOR}", "below"))
        display.render_now()
        assert paper.modes["25"] is visible
        assert paper.tape == [">", "below"]


@pytest.mark.parametrize(
    "environment",
    [{"TERM": "xterm-kitty"}, {"TERM": "xterm"}, {"TERM_PROGRAM": "Apple_Terminal"}, {"TERM": "linux"}, {}],
)
def test_s4_the_tape_is_the_same_on_every_terminal(environment: dict[str, str]) -> None:
    """§4: what is known of a terminal selects optimizations; a miss is cosmetic, never another tape."""
    paper, transcript, chrome = Paper(rows=5), BlockColumn(gap=0), Lines("---", "> ")
    display = Display(paper, detect(environment))
    display.add(transcript)
    display.add(chrome)
    for index in range(12):
        transcript.append(block := Lines(f"row {index}"), live=True)
        display.render_now()
        transcript.finish(block)
        chrome.set(["---"] * (index % 3 + 1))
        display.render_now()
    assert paper.tape == [*numbered(12), "---", "---", "---"]


def test_render_safety_an_overwide_row_is_cut_by_the_renderer() -> None:
    """A last-resort guard (§2 step 5): the row is cut, its neighbours stay where they are, nothing is raised."""
    paper = Paper(columns=10)
    drawn(paper, Lines("x" * 500, "next"))
    assert paper.tape == ["x" * 10, "next"]


def test_render_safety_a_broken_row_costs_only_itself() -> None:
    """Surrogates, sequences, controls and half of either are written as what can be shown of them."""
    paper = Paper(columns=20)
    drawn(paper, Lines("a\x1b[2Jb\x07\x1b]0;t\x07c", "half \x1b[38;5", "\udc80", "next"))
    assert paper.tape[0] == "abc"
    assert paper.tape[-1] == "next"


def test_render_safety_the_cursor_is_clamped_to_the_screen() -> None:
    """A mark behind the last column puts the cursor into the last column."""
    paper = Paper(columns=10)
    drawn(paper, Lines("x" * 30 + CURSOR, "next"))
    assert paper.cursor == (0, 9)
    assert all(int(column) <= 10 for column in re.findall(r"\x1b\[(\d+)G", "".join(paper.written)))


def test_render_safety_an_overlay_at_the_edge_stays_inside_the_screen() -> None:
    """Rows composed with an overlay are as wide as the screen at most, wherever it lies."""
    paper = Paper(columns=12, rows=4)
    display = drawn(paper, Lines(*["." * 40] * 4))
    display.show_overlay(Lines("#" * 40), Overlay(anchor="right", width=9))
    display.render_now()
    assert [len(row) for row in paper.tape] == [12] * 4
    assert paper.tape[1].endswith("#########")


def test_render_safety_another_width_is_laid_out_and_drawn_anew() -> None:
    """Wrapping changes: every component is asked for its rows at the new width."""
    paper, words = Paper(columns=10), Words("one", "two", "three", "four", "five", "six")
    display = drawn(paper, words)
    paper.size = (14, 8)
    paper.expect_gesture()
    display.resized()
    display.render_now()
    assert paper.tape == words.render(14)


@pytest.mark.parametrize(("multiplexer", "settle"), [("", RESIZE_SETTLE), ("tmux", TMUX_SETTLE)])
def test_resize_is_an_event_that_is_drawn_when_the_size_is_still(multiplexer: str, settle: float) -> None:
    """Resize handling: any number of events, one frame, after the settle time; nothing is drawn in between."""
    paper, clock, lines = Paper(rows=6), FakeClock(), Lines(*numbered(4))
    display = Display(paper, Capabilities(multiplexer=multiplexer), clock)
    display.add(lines)
    clock.advance(0)
    for _ in range(5):
        display.resized()
        display.request_render(urgent=True)
        clock.advance(settle / 2)
    assert len(paper.written) == 1
    paper.expect_gesture()
    clock.advance(settle)
    assert len(paper.written) == 2
    assert paper.tape == numbered(4)


def test_resize_in_tmux_nothing_is_drawn_before_the_size_is_still() -> None:
    """Resize handling: tmux wraps anew before it reports a size; a frame for a size that is gone would erase rows."""
    paper, clock, lines = Paper(rows=6), FakeClock(), Lines(*numbered(4))
    display = Display(paper, Capabilities(multiplexer="tmux"), clock)
    display.add(lines)
    clock.advance(0)
    for _ in range(1000):
        display.resized()
        display.request_render(urgent=True)
        clock.advance(TMUX_SETTLE * 0.9)
    assert len(paper.written) == 1
    paper.expect_gesture()
    clock.advance(TMUX_SETTLE)
    assert len(paper.written) == 2


def test_resize_the_ledger_restarts_from_the_frame_that_is_written_anew() -> None:
    """Resize handling: outside a multiplexer the shell's earlier lines go with history, ours are there once."""
    paper, lines = Paper(rows=3, above=5), Lines(*numbered(9))
    display = drawn(paper, lines)
    paper.size = (40, 5)
    paper.expect_gesture()
    display.resized()
    display.render_now()
    assert paper.tape == numbered(9)
    assert display._ledger.committed == 4
