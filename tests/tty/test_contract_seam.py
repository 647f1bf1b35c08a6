"""The pipeline and the commit-boundary seam: tui-core-renderer.md §2, where no other test says it."""

import pytest

from sightline.tty._component import CURSOR, Component, Rows
from sightline.tty.components._settling import REARM_FRAMES, STABLE_FRAMES, Settling
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._ledger import first_moved
from tests.tty.contract_support import Seam, drawn, numbered
from tests.tty.paper import Paper
from tests.tty.support import Lines, a_display


def test_s2_the_seam_of_a_child_counts_from_the_first_row_of_the_frame() -> None:
    """§2 step 1: the boundary is an absolute row, rows of the children before it included."""
    paper = Paper(rows=3)
    display = drawn(paper, Lines("head", "more"), Seam(*numbered(9), live_from=4), Lines("chrome"))
    assert display._ledger.committed == 2 + 4


def test_s2_the_audit_is_skipped_when_the_size_changed() -> None:
    """§2 step 2: everything is written anew at the new size; what was there before is not compared."""
    paper, lines = Paper(rows=3), Lines(*numbered(9))
    display = drawn(paper, lines)
    lines.set(numbered(12, "other"))
    paper.size = (30, 4)
    paper.expect_gesture()
    display.resized()
    display.render_now()
    assert paper.tape == numbered(12, "other")


def test_s2_two_rows_of_the_sample_that_differ_are_a_move() -> None:
    """§2 step 2: at most one mismatch is an edit in place; the sample is 8 rows that are not blank, of the last 24."""
    rows = numbered(40)
    assert first_moved(rows, [*rows[:38], "x", "row 39"]) is None
    assert first_moved(rows, [*rows[:37], "x", "y", "row 39"]) == 37
    assert first_moved(rows, ["x", "y", "z", *rows[3:]]) is None
    assert first_moved(rows, [*rows[:31], "x", "y", *rows[33:]]) is None, "the 8 last rows are the sample"


def test_s2_rows_lost_in_the_middle_are_doubled_never_lost() -> None:
    """§2 step 2: a removal among history is written again from there."""
    paper, lines = Paper(rows=3), Lines(*numbered(12))
    display = drawn(paper, lines)
    lines.set([*numbered(12)[:4], *numbered(13)[5:]])
    display.render_now()
    assert paper.tape == [*numbered(9), *numbered(13)[5:]]


def test_s2_the_first_paint_is_no_gesture() -> None:
    """§2 step 3, §4, deviation no-clear-at-start: it begins at the cursor and erases nothing (refused here)."""
    paper = Paper(rows=4, above=9)
    drawn(paper, Lines(*numbered(2)))
    assert paper.tape == [*(f"shell {index}" for index in range(9)), *numbered(2)]


def test_s2_the_cursor_mark_is_in_no_row_that_is_compared_or_written() -> None:
    """§2 step 5: a mark that moves in rows that are history is no change of them."""
    paper, lines = Paper(rows=3), Lines(*numbered(9))
    display = drawn(paper, lines)
    for at in (2, 4, 5):
        lines.set([row + CURSOR if index == at else row for index, row in enumerate(numbered(9))])
        display.render_now()
    assert paper.tape == numbered(9)
    assert CURSOR not in "".join(paper.written)


def test_s2_an_overlay_is_in_the_window_only() -> None:
    """§2 step 5: neither the frame nor the ledger knows of it, whatever happens below it."""
    paper, transcript = Paper(rows=4), BlockColumn(gap=0)
    display = drawn(paper, transcript)
    handle = display.show_overlay(Lines("OVER", "OVER"))
    for index in range(9):
        transcript.append(Lines(f"row {index}"))
        display.render_now()
        assert "OVER" not in "".join(paper.tape[: display._ledger.committed])
        assert len(paper.tape) == 4
    handle.hide()
    display.render_now()
    assert paper.tape == numbered(9)


def test_s2_in_the_window_only_the_rows_that_changed_are_written() -> None:
    """§2 step 6, in-window diff: a relative move and the changed cells; nothing at all where nothing changed."""
    paper, lines = Paper(rows=9), Lines(*numbered(6))
    display = drawn(paper, lines)
    lines.set([*numbered(6)[:2], "row Z", *numbered(6)[3:]])
    display.render_now()
    assert paper.tape[2] == "row Z"
    assert "row" not in paper.written[-1]
    assert "Z" in paper.written[-1]
    written = len(paper.written)
    display.request_render()
    display.render_now()
    assert len(paper.written) == written


def test_s2_a_cursor_that_moves_writes_no_row() -> None:
    """§2 step 6: cursor-only when nothing changed."""
    paper, lines = Paper(), Lines(f"{CURSOR}ab", "cd")
    display = drawn(paper, lines)
    lines.set(["ab", f"c{CURSOR}d"])
    display.render_now()
    assert paper.cursor == (1, 1)
    assert not set("abcd") & set(paper.written[-1].replace("\x1b[B", ""))


def test_s2_rows_hidden_between_history_and_window_are_filled_in() -> None:
    """§2 step 6, seam rewrite: when the boundary moves past the window's top, the gap becomes history, in order."""
    paper, seam = Paper(rows=3), Seam(*numbered(20), live_from=2)
    display = drawn(paper, seam, Lines("chrome"))
    assert paper.tape == [*numbered(2), "row 18", "row 19", "chrome"]
    seam._live_from = 20
    display.request_render()
    display.render_now()
    assert paper.tape == [*numbered(20), "chrome"]


def test_s2_what_stands_below_what_is_live_stays_in_the_window() -> None:
    """§2, the seam: live_from keeps everything after it out of history, chrome and later children included."""
    paper = Paper(rows=4)
    display = drawn(paper, Seam(*numbered(5), live_from=1), Lines(*numbered(6, "chrome")))
    assert display._ledger.committed == 1
    assert paper.tape == ["row 0", *numbered(6, "chrome")[2:]]


def test_s2_a_block_taller_than_the_window_commits_its_settled_head() -> None:
    """§2, the seam: with a safe end the head is history while the tail goes on; without one all of it waits."""
    for safe_to, history in ((15, 15), (None, 0)):
        paper = Paper(rows=4)
        display = drawn(paper, Seam(*numbered(20), live_from=0, safe_to=safe_to))
        assert display._ledger.committed == history
        assert paper.tape == [*numbered(history), *numbered(20)[-4:]]


class _Ticking(Component):
    """A static head above a row that changes with every frame."""

    def __init__(self, head: list[str]) -> None:
        self.head = head
        self.frames = 0

    def render(self, width: int) -> Rows:
        self.frames += 1
        return [*self.head, f"tick {self.frames}"]


def test_s2_a_head_that_stood_still_becomes_history_below_a_ticking_row() -> None:
    """§2, stable-prefix ratchet: a tall block is not cut off for as long as its last row is animated."""
    paper, transcript, block = Paper(rows=4), BlockColumn(gap=0), _Ticking(numbered(10))
    display = drawn(paper, transcript)
    transcript.append(block, live=True)
    for _ in range(STABLE_FRAMES + 2):
        display.request_render()
        display.render_now()
    assert paper.tape == [*numbered(10), f"tick {block.frames}"]
    assert display._ledger.committed == 7


def test_s2_a_head_that_moves_after_it_became_history_is_doubled_not_lost() -> None:
    """§2, stable-prefix ratchet: rows that committed already are the audit's."""
    paper, transcript, block = Paper(rows=4), BlockColumn(gap=0), _Ticking(numbered(10))
    display = drawn(paper, transcript)
    transcript.append(block, live=True)
    for _ in range(STABLE_FRAMES + 2):
        display.render_now()
    block.head = ["inserted", *numbered(10)]
    display.request_render()
    display.render_now()
    transcript.finish(block)
    display.render_now()
    assert paper.tape[:7] == numbered(7)
    assert paper.tape[7:18] == ["inserted", *numbered(10)]


def test_s2_a_block_that_only_grows_again_is_safe_past_its_floor() -> None:
    """§2, rewrite floor: the append-only path commits the whole block (but its last row) regardless of it."""
    settling = Settling()
    for _ in range(STABLE_FRAMES + 2):
        settling.observe(["head", "slow 1", "tail"])
    settling.observe(["head", "slow 2", "tail"])
    rows = ["head", "slow 2", "tail"]
    for index in range(REARM_FRAMES + 1):
        rows = [*rows, f"more {index}"]
        settling.observe(rows)
    assert settling.safe == len(rows) - 1


@pytest.mark.parametrize("multiplexer", ["", "tmux", "screen", "zellij"])
@pytest.mark.parametrize("synchronized", [True, False])
def test_s2_freezing_does_not_depend_on_the_terminal(multiplexer: str, synchronized: bool) -> None:
    """§2: it is a guarantee, not an optimization: a finished block keeps its rows on every terminal."""
    paper, transcript, block = Paper(rows=8), BlockColumn(), Lines("as it was")
    display = a_display(paper, multiplexer=multiplexer, synchronized=synchronized)
    display.add(transcript)
    transcript.append(block)
    display.render_now()
    block.set(["changed"])
    display.request_render()
    display.render_now()
    assert paper.tape == ["as it was"]
