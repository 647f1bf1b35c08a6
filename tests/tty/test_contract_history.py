"""What may become of history: tui-core-renderer.md §1 (the ledger) and §3 (the invariants), seen on the tape."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty._component import CURSOR
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.frame._ledger import Ledger
from sightline.tty.terminal._modes import Modes
from tests.tty.contract_support import Seam, drawn, numbered
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display


@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 200), st.integers(1, 12), st.booleans()), max_size=25),
)
def test_s1_the_numbers_are_those_of_the_contract(frames: list[tuple[int, int, int, bool]]) -> None:
    """§1: W = max(C, L − height), C' = max(C, min(B, W)); an overlay leaves C where it is (§2)."""
    ledger, committed, length = Ledger(), 0, 0
    for more, boundary, height, frozen in frames:
        length += more + (committed >= length)
        top = max(committed, length - height)
        after = committed if frozen else max(committed, min(boundary, top))
        assert ledger.step(length, boundary, height, frozen=frozen) == (committed, after, top)
        committed = after


@pytest.mark.parametrize(
    ("live_from", "safe_to", "history"),
    [(4, 7, 7), (4, None, 4), (None, None, 17)],
    ids=["safe-end", "live-start", "neither: the whole frame"],
)
def test_s1_the_boundary_is_the_safe_end_else_the_live_start_else_the_end(
    live_from: int | None, safe_to: int | None, history: int
) -> None:
    """§1: B = commitSafeEnd ?? liveRegionStart ?? length. Of 20 rows on 3, so many are history."""
    paper = Paper(rows=3)
    display = drawn(paper, Seam(*numbered(20), live_from=live_from, safe_to=safe_to))
    assert display._ledger.committed == history
    assert paper.tape == [*numbered(history), *numbered(20)[-3:]]


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(["append", "live", "grow", "rewrite", "finish", "chrome", "overlay", "close"]),
        st.integers(0, 6),
    ),
    max_size=50,
)


class _World:
    """A transcript above chrome, changed without ever touching what was final."""

    def __init__(self, height: int, above: int, multiplexer: str) -> None:
        self.paper = Paper(rows=height, above=above)
        self.display = a_display(self.paper, multiplexer=multiplexer)
        self.transcript, self.chrome = BlockColumn(gap=0), Lines("chrome")
        self.display.add(self.transcript)
        self.display.add(self.chrome)
        self.above = above
        self.number = 0
        self.live: list[Lines] = []
        self.handles: list = []

    def apply(self, name: str, amount: int) -> None:
        self.number += 1
        fresh = [f"{self.number}.{index}" for index in range(amount)]
        if name in ("append", "live"):
            self.transcript.append(block := Lines(*fresh), live=name == "live")
            self.live += [block] if name == "live" else []
        elif name in ("grow", "rewrite") and self.live:
            block = self.live[amount % len(self.live)]
            block.set([*block.rows, *fresh] if name == "grow" else fresh)
        elif name == "finish" and self.live:
            self.transcript.finish(self.live.pop(amount % len(self.live)))
        elif name == "chrome":
            self.chrome.set(["chrome", *fresh])
        elif name == "overlay":
            self.handles.append(self.display.show_overlay(Lines("over")))
        elif name == "close" and self.handles:
            self.handles.pop().hide()
        self.display.render_now()


@settings(max_examples=120, deadline=None)
@given(OPERATIONS, st.integers(2, 10), st.integers(0, 12), st.sampled_from(["", "tmux"]))
def test_s1_s3_2_what_is_history_is_never_written_again(
    operations: list[tuple[str, int]], height: int, above: int, multiplexer: str
) -> None:
    """§1, §3.2: the rows that were history before a frame are the same rows, in the same places, after it."""
    world = _World(height, above, multiplexer)
    before: list[str] = []
    for operation in operations:
        world.apply(*operation)
        assert world.paper.tape[: len(before)] == before
        before = world.paper.tape[: world.above + world.display._ledger.committed]


@settings(max_examples=120, deadline=None)
@given(OPERATIONS, st.integers(2, 10), st.integers(0, 12))
def test_s1_s3_3_what_leaves_the_screen_is_history_and_nothing_else(
    operations: list[tuple[str, int]], height: int, above: int
) -> None:
    """§1, §3.3: no byte shape scrolls a row away that the ledger has not committed; W never is before C (§3.2)."""
    world = _World(height, above, "")
    for name, amount in operations:
        if name == "rewrite":
            continue  # what was taken for final may shrink then, and stays on the tape besides
        world.apply(name, amount)
        ledger = world.display._ledger
        assert ledger.top >= ledger.committed
        assert world.paper._top <= world.above + ledger.committed


@settings(max_examples=80, deadline=None)
@given(st.integers(1, 30), st.integers(0, 30), st.integers(2, 8))
def test_s3_5_rows_past_the_boundary_are_never_history(length: int, boundary: int, height: int) -> None:
    """§3.5: the engine trusts the boundary and clamps at it, whatever the rows are."""
    boundary = min(boundary, length)
    paper = Paper(rows=height)
    display = drawn(paper, Seam(*numbered(length), live_from=boundary))
    assert display._ledger.committed == max(0, min(boundary, length - height))
    assert paper._top <= display._ledger.committed


def test_s1_s3_4_drawing_asks_the_terminal_nothing() -> None:
    """§1, §3.4: a surface that can only be written to and knows its size is all there is; no report is requested."""

    class Blind:
        __slots__ = ("written",)
        size = (20, 4)
        busy = False

        def __init__(self) -> None:
            self.written = ""

        def write(self, text: str) -> None:
            self.written += text

    blind = Blind()
    display = Display(blind, a_display(Paper()).capabilities)
    lines = Lines(*numbered(9), f"> {CURSOR}")
    display.add(lines)
    for count in (9, 3, 30, 5):
        lines.set([*numbered(count), f"> {CURSOR}"])
        display.render_now()
    assert not any(
        query in blind.written for query in ("\x1b[6n", "\x1b[?6n", "\x1b[5n", "\x1b[18t", "\x1b[c", "\x1bP")
    )


def test_s1_everything_is_on_the_normal_screen() -> None:
    """§1: native scrollback and selection: no mode that we ever set is the alternate screen or a mouse mode."""
    paper = Paper(rows=4)
    drawn(paper, Lines(*numbered(12)))
    assert {number for number in paper.modes if paper.modes[number]} <= {"7", "25"}
    written = "".join(paper.written) + Modes().enter() + Modes().leave()
    assert not any(f"?{mode}h" in written for mode in (47, 1047, 1049, 1000, 1002, 1003, 1006))


def test_s1_what_was_said_is_still_there_after_the_end() -> None:
    """§1: the transcript persists: ended, the tape is every row of it, and nothing of the chrome."""
    paper, transcript = Paper(rows=4, above=2), BlockColumn(gap=0)
    display = drawn(paper, transcript, Lines("---", "> "))
    for index in range(7):
        transcript.append(Lines(f"row {index}"))
    transcript.append(Lines("not final"), live=True)
    display.render_now()
    display.stop()
    assert paper.tape == ["shell 0", "shell 1", *numbered(7), "not final"]


def test_s1_a_late_change_of_what_is_history_is_ignored() -> None:
    """§1, accepted tradeoffs: the old copy stays in history, nothing is written for it."""
    paper, lines = Paper(rows=3), Lines(*numbered(9))
    display = drawn(paper, lines)
    written = len(paper.written)
    lines.set(["row 0", "row 1", "LATE", *numbered(9)[3:]])
    display.render_now()
    assert paper.tape == numbered(9)
    assert len(paper.written) == written


def test_s1_without_a_seam_whatever_scrolls_off_is_final() -> None:
    """§1, accepted tradeoffs: shell semantics, and a shrink into it keeps the stale copy."""
    paper, lines = Paper(rows=3), Lines(*numbered(9))
    display = drawn(paper, lines)
    assert display._ledger.committed == 6
    lines.set(numbered(4))
    display.render_now()
    assert paper.tape == [*numbered(6), *numbered(4)[1:]]


def test_s3_1_history_is_erased_by_gestures_only() -> None:
    """§2 step 6, §3.1: session replace, another size, reset: each writes ED3 once, other frames none."""
    paper, lines = Paper(rows=3), Lines(*numbered(9))
    display = drawn(paper, lines)
    for gesture in ("replace", "resize", "reset"):
        paper.expect_gesture()
        if gesture == "replace":
            display.request_render(clear_scrollback=True)
        elif gesture == "resize":
            paper.size = (30, 4)
            display.resized()
        else:
            display.reset()
        display.render_now()
        assert paper.written[-1].count("\x1b[2J\x1b[H\x1b[3J") == 1, gesture
        assert paper.tape == numbered(9)
    display.request_render(force=True)
    display.render_now()
    assert "J" not in paper.written[-1]


def test_s3_9_a_multiplexer_gets_no_destructive_clear() -> None:
    """§3.1, §3.9: replace, resize and reset paint the window in place (the paper refuses anything else)."""
    paper, lines = Paper(rows=6), Lines(*numbered(9))
    display = drawn(paper, lines, multiplexer="tmux")
    display.request_render(clear_scrollback=True)
    display.render_now()
    display.reset()
    display.render_now()
    assert paper.tape == numbered(9)
    display.resized()
    display.render_now()
    assert paper.tape == numbered(9)
    assert not any(code in "".join(paper.written) for code in ("2J", "3J", "[H"))


def test_s3_6_a_cursor_nobody_asked_for_is_on_the_last_row_of_content() -> None:
    """§3.6: not at the bottom of the padded window, so that a lower screen scrolls nothing away."""
    paper, lines = Paper(rows=8), Lines(*numbered(5))
    display = drawn(paper, lines)
    assert paper.cursor[0] == 4
    lines.set(numbered(2))
    display.render_now()
    assert paper.cursor[0] == 1
