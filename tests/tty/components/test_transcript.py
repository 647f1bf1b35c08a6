"""The component that says which rows are final (§2, the commit-boundary seam)."""

import pytest

from sightline.tty._component import Component, Rows, Scrollback
from sightline.tty.components import _transcript
from sightline.tty.components._transcript import BlockColumn
from tests.tty.paper import Paper
from tests.tty.support import Lines, Words, a_display


class Growing(Scrollback):
    """A block that knows itself which of its rows are final."""

    def __init__(self) -> None:
        self.rows: list[str] = []
        self.settled = 0
        self.released = 0

    def render(self, width: int) -> Rows:
        return self.rows[self.released :]

    def live_from(self) -> int:
        return self.settled - self.released

    def release(self, rows: int) -> int:
        self.released += rows
        return rows

    def restore(self) -> None:
        self.released = 0


def test_s2_a_finished_block_is_frozen() -> None:
    """Its rows may be history: whatever becomes of it later, it is drawn as it was."""
    transcript, block = BlockColumn(), Lines("as it was")
    transcript.append(block)
    assert list(transcript.render(40)) == ["as it was"]
    block.set(["changed"])
    assert list(transcript.render(40)) == ["as it was"]


def test_a_frozen_block_is_not_asked_again() -> None:
    transcript, block = BlockColumn(), Lines("row")
    transcript.append(block)
    for _ in range(5):
        transcript.render(40)
    assert block.asked == 1


def test_an_unchanged_transcript_gives_the_same_rows_object() -> None:
    transcript = BlockColumn()
    transcript.append(Lines("row"))
    transcript.append(Lines("live"), live=True)
    assert transcript.render(40) is transcript.render(40)


def test_s2_the_first_live_block_is_the_boundary() -> None:
    transcript = BlockColumn(gap=0)
    transcript.append(Lines("a", "b"))
    transcript.append(Lines("live"), live=True)
    transcript.append(Lines("final, but after it"))
    transcript.render(40)
    assert transcript.live_from() == 2
    assert transcript.safe_to() == 2


def test_without_a_live_block_the_boundary_is_the_end() -> None:
    """So that what stands below the transcript never becomes history."""
    transcript = BlockColumn(gap=0)
    transcript.append(Lines("a", "b"))
    transcript.render(40)
    assert transcript.safe_to() == 2


def test_a_block_that_knows_its_final_rows_is_believed() -> None:
    transcript, block = BlockColumn(), Growing()
    transcript.append(Lines("first"))
    transcript.append(block, live=True)
    block.rows, block.settled = ["a", "b", "c"], 2
    transcript.render(40)
    assert transcript.safe_to() == 1 + 1 + 2


def test_blocks_that_are_history_are_let_go() -> None:
    """What is kept of each is a number; nobody asks it for rows, and it forgets those it kept."""

    class Forgetful(Lines):
        forgot = False

        def invalidate(self) -> None:
            self.forgot = True

    transcript = BlockColumn(gap=0)
    blocks = [Forgetful(f"row {index}") for index in range(5)]
    for block in blocks:
        transcript.append(block)
    transcript.render(40)
    assert transcript.release(3) == 3
    assert list(transcript.render(40)) == ["row 3", "row 4"]
    assert [block.forgot for block in blocks] == [True, True, True, False, False]


def test_a_block_of_which_only_the_head_is_history_stays() -> None:
    transcript = BlockColumn(gap=0)
    transcript.append(Lines("a", "b", "c"))
    transcript.render(40)
    assert transcript.release(2) == 0
    assert list(transcript.render(40)) == ["a", "b", "c"]


def test_a_long_block_is_let_go_of_in_parts() -> None:
    transcript = BlockColumn()
    transcript.append(Lines(*(f"row {index}" for index in range(1000))))
    transcript.render(40)
    assert transcript.release(600) == 600
    assert list(transcript.render(40)) == [f"row {index}" for index in range(600, 1000)]
    transcript.restore()
    assert len(transcript.render(40)) == 1000


def test_a_long_block_let_go_of_in_parts_goes_on_at_its_place_at_another_width() -> None:
    words = [f"w{index}" for index in range(4000)]
    transcript = BlockColumn()
    transcript.append(Words(*words))
    rows = list(transcript.render(30))
    gone = transcript.release(400)
    said = " ".join(rows[:gone]).split()
    assert " ".join(transcript.render(50)).split() == words[len(said) :]


def test_blocks_have_a_blank_row_between_them_also_after_some_were_let_go() -> None:
    transcript = BlockColumn()
    for index in range(4):
        transcript.append(Lines(f"row {index}"))
    assert list(transcript.render(40)) == ["row 0", "", "row 1", "", "row 2", "", "row 3"]
    assert transcript.release(4) == 3
    assert list(transcript.render(40)) == ["", "row 2", "", "row 3"]


def test_a_removed_block_is_gone_and_an_inserted_one_is_there() -> None:
    transcript, middle = BlockColumn(gap=0), Lines("middle")
    transcript.append(Lines("first"))
    transcript.append(middle)
    transcript.append(Lines("last"))
    transcript.remove(middle)
    transcript.insert(1, Lines("instead"))
    assert list(transcript.render(40)) == ["first", "instead", "last"]
    assert len(transcript) == 3


def test_history_written_anew_is_bounded_and_says_what_it_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    paper = Paper(rows=4)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    monkeypatch.setattr(_transcript, "MOST_REPLAYED", 10)
    for index in range(50):
        transcript.append(Lines(f"row {index}"))
    display.render_now()
    paper.expect_gesture()
    display.reset()
    display.render_now()
    assert paper.tape[0] == "… 36 earlier rows are not shown again"
    assert paper.tape[1:] == [f"row {index}" for index in range(36, 50)]


def test_a_component_that_was_done_can_ask_to_be_drawn_again() -> None:
    """A picture that lost its pixels to a newer one shows words instead."""
    transcript, picture = BlockColumn(), Lines("pixels")
    transcript.append(picture)
    transcript.render(40)
    picture.set(["words"])
    transcript.refresh(picture)
    assert list(transcript.render(40)) == ["words"]


def test_what_a_live_block_contains_is_found() -> None:
    transcript, block, stranger = BlockColumn(), Lines("row"), Component()
    transcript.append(block, live=True)
    assert transcript.contains(block)
    assert not transcript.contains(stranger)


def test_a_cleared_transcript_begins_anew() -> None:
    transcript = BlockColumn()
    transcript.append(Lines("old"))
    transcript.render(40)
    transcript.clear()
    transcript.append(Lines("new"))
    assert list(transcript.render(40)) == ["new"]


def test_after_rows_were_left_out_blocks_are_where_they_belong(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is appended comes last, what is removed goes, and what is inserted among the left-out stays out."""
    monkeypatch.setattr(_transcript, "MOST_REPLAYED", 10)
    paper = Paper(rows=4)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    blocks = [Lines(f"row {index}") for index in range(50)]
    for block in blocks:
        transcript.append(block)
    display.render_now()
    paper.expect_gesture()
    display.reset()
    display.render_now()
    transcript.append(Lines("last"))
    transcript.insert(2, Lines("never seen"))
    transcript.remove(blocks[49])
    transcript.remove(blocks[0])
    display.request_render()
    display.render_now()
    assert paper.tape[-3:] == ["row 47", "row 48", "last"]
    assert "never seen" not in paper.tape


def test_a_block_inserted_before_one_of_which_a_part_was_let_go_comes_before_all_of_it() -> None:
    paper = Paper(rows=4)
    display, transcript, long = a_display(paper), BlockColumn(gap=0), Lines(*(f"row {index}" for index in range(600)))
    display.add(transcript)
    transcript.append(long)
    display.render_now()
    transcript.insert(0, Lines("before"))
    display.request_render()
    display.render_now()
    assert paper.tape[-601:] == ["before", *(f"row {index}" for index in range(600))]


def test_a_new_look_at_another_width_goes_on_where_history_ends() -> None:
    """Theme and width changed in one frame: what was let go of stays so."""
    words = [f"w{index}" for index in range(4000)]
    transcript = BlockColumn()
    transcript.append(Words(*words))
    rows = list(transcript.render(30))
    said = " ".join(rows[: transcript.release(400)]).split()
    transcript.invalidate()
    assert " ".join(transcript.render(50)).split() == words[len(said) :]
