"""The display as a whole: operations in, a tape out."""

from hypothesis import given, settings
from hypothesis import strategies as st

from sightline.tty._component import CURSOR
from sightline.tty._images import ImageRow
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.input._keys import Key
from sightline.tty.terminal._capabilities import Capabilities
from tests.tty.paper import Paper
from tests.tty.support import Lines, Words, a_display


def test_rows_are_written_below_what_the_shell_left() -> None:
    """Nothing of the shell's screen is erased by the first paint."""
    paper = Paper(above=3)
    display = a_display(paper)
    display.add(Lines("one", "two"))
    display.render_now()
    assert paper.tape == ["shell 0", "shell 1", "shell 2", "one", "two"]


def test_an_unchanged_frame_writes_nothing() -> None:
    paper = Paper()
    display = a_display(paper)
    display.add(Lines("one"))
    display.render_now()
    before = len(paper.written)
    display.render_now()
    assert len(paper.written) == before


def test_s2_scroll_append_moves_the_chrome_instead_of_writing_it_again() -> None:
    """A row that comes in above the chrome costs its own bytes, not those of the chrome."""
    paper = Paper(rows=6)
    display, transcript, chrome = a_display(paper), BlockColumn(gap=0), Lines("=" * 30, "> ", "=" * 30)
    display.add(transcript)
    display.add(chrome)
    display.render_now()
    for index in range(20):
        transcript.append(Lines(f"row {index}"))
        display.render_now()
    assert paper.tape == [*(f"row {index}" for index in range(20)), "=" * 30, ">", "=" * 30]
    assert "=" not in paper.written[-1]
    assert "row 19" in paper.written[-1]
    assert "row 18" not in paper.written[-1]


def test_s2_a_live_block_stays_out_of_history_until_it_is_final() -> None:
    """Rows past the boundary are neither history nor shown when the block is taller than the window."""
    paper = Paper(rows=4)
    display, transcript, block = a_display(paper), BlockColumn(), Lines(*(f"live {index}" for index in range(10)))
    display.add(transcript)
    transcript.append(block, live=True)
    display.render_now()
    assert paper.tape == ["live 6", "live 7", "live 8", "live 9"]
    transcript.finish(block)
    display.render_now()
    assert paper.tape == [f"live {index}" for index in range(10)]


def test_s2_overlays_freeze_commits_and_the_gap_is_filled_when_they_close() -> None:
    paper = Paper(rows=5)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    transcript.append(Lines("a", "b"))
    handle = display.show_overlay(Lines("over"))
    display.render_now()
    for index in range(9):
        transcript.append(Lines(f"row {index}"))
        display.render_now()
    assert "over" in paper.tape[-1]
    assert len(paper.tape) == 5
    handle.hide()
    display.render_now()
    assert paper.tape == ["a", "b", *(f"row {index}" for index in range(9))]


def test_s2_a_shrink_into_history_shows_the_end_again_and_keeps_the_old_copy() -> None:
    paper = Paper(rows=3)
    display, lines = a_display(paper), Lines(*(f"row {index}" for index in range(8)))
    display.add(lines)
    display.render_now()
    lines.set(["row 0", "row 1", "new"])
    display.render_now()
    assert paper.tape == ["row 0", "row 1", "row 2", "row 3", "row 4", "row 0", "row 1", "new"]


def test_s2_an_insertion_into_history_is_written_again_from_there() -> None:
    """Doubled, never lost."""
    paper = Paper(rows=3)
    display, lines = a_display(paper), Lines(*(f"row {index}" for index in range(9)))
    display.add(lines)
    display.render_now()
    lines.set(["row 0", "row 1", "inserted", *(f"row {index}" for index in range(2, 9))])
    display.render_now()
    assert paper.tape == [
        *(f"row {index}" for index in range(6)),
        "inserted",
        *(f"row {index}" for index in range(2, 9)),
    ]


def test_s2_an_edit_in_place_of_history_is_ignored() -> None:
    paper = Paper(rows=3)
    display, lines = a_display(paper), Lines(*(f"row {index}" for index in range(9)))
    display.add(lines)
    display.render_now()
    lines.set(["row 0", "EDITED", *(f"row {index}" for index in range(2, 9))])
    display.render_now()
    assert paper.tape == [f"row {index}" for index in range(9)]


def test_a_block_inserted_among_those_that_were_let_go_is_written_with_all_that_follow() -> None:
    paper = Paper(rows=3)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    for index in range(8):
        transcript.append(Lines(f"row {index}"))
    display.render_now()
    transcript.insert(3, Lines("late"))
    display.render_now()
    assert paper.tape == [*(f"row {i}" for i in range(5)), "late", *(f"row {i}" for i in range(3, 8))]


def test_what_stands_below_never_passes_for_history() -> None:
    """A block of one row that is history is removed: the chrome moves up in the frame, and is shown whole."""
    paper = Paper(rows=3)
    display, transcript, block = a_display(paper), BlockColumn(gap=0), Lines("block")
    display.add(transcript)
    display.add(Lines("spinner", "rule", "prompt"))
    transcript.append(block)
    display.render_now()
    transcript.remove(block)
    display.request_render()
    display.render_now()
    assert paper.tape == ["block", "spinner", "rule", "prompt"]


def test_a_root_child_removed_from_history_is_written_around() -> None:
    paper = Paper(rows=3)
    display = a_display(paper)
    parts = [Lines(f"part {index}") for index in range(8)]
    for part in parts:
        display.add(part)
    display.render_now()
    display.remove(parts[1])
    display.render_now()
    assert paper.tape == [*(f"part {i}" for i in range(5)), *(f"part {i}" for i in range(2, 8))]


def test_s3_6_without_a_cursor_mark_the_cursor_is_hidden_at_the_end_of_the_content() -> None:
    paper = Paper(rows=8)
    display = a_display(paper)
    display.add(Lines("one", "two"))
    display.render_now()
    assert paper.cursor[0] == 1
    assert paper.modes["25"] is False


def test_s3_7_the_cursor_is_placed_inside_the_frame() -> None:
    paper = Paper(rows=8)
    display = a_display(paper)
    display.add(Lines("one", f"> ab{CURSOR}c", "three"))
    display.render_now()
    assert paper.cursor == (1, 4)
    assert paper.written[-1].endswith("\x1b[?2026l")
    assert CURSOR not in paper.written[-1]


def test_resize_outside_a_multiplexer_is_written_anew_at_the_new_width() -> None:
    """Resize handling: erase and replay, so that history is wrapped at the new width."""
    paper = Paper(columns=20, rows=5)
    display, transcript = a_display(paper), BlockColumn(gap=0)
    display.add(transcript)
    for index in range(10):
        transcript.append(Words(*(f"w{index}-{word}" for word in range(6))))
    display.render_now()
    paper.size = (40, 6)
    paper.expect_gesture()
    display.render_now()
    assert paper.tape == [" ".join(f"w{index}-{word}" for word in range(6)) for index in range(10)]
    assert "\x1b[2J\x1b[H\x1b[3J" in paper.written[-1]


def test_suspended_what_is_final_stays_and_is_not_written_again() -> None:
    paper = Paper(rows=6)
    display, transcript, chrome = a_display(paper), BlockColumn(gap=0), Lines("----", "> ")
    display.add(transcript)
    display.add(chrome)
    for index in range(9):
        transcript.append(Lines(f"row {index}"))
    display.render_now()
    display.pause()
    assert paper.tape == [f"row {index}" for index in range(9)]
    assert paper.modes["25"] is True
    paper.write("\rfg\r\n")
    display.resume()
    display.render_now()
    assert paper.tape == [*(f"row {index}" for index in range(9)), "fg", "----", ">"]


def test_ended_everything_above_the_chrome_stays_as_it_stands() -> None:
    """Also a block that was still live, and what was finished below it: nothing will change any more."""
    paper = Paper(rows=4)
    display, transcript, chrome = a_display(paper), BlockColumn(gap=0), Lines("> ")
    display.add(transcript)
    display.add(chrome)
    transcript.append(Lines("a job, 3 %"), live=True)
    for index in range(9):
        transcript.append(Lines(f"row {index}"))
    display.render_now()
    display.stop()
    assert paper.tape == ["a job, 3 %", *(f"row {index}" for index in range(9))]


def test_a_key_that_means_nothing_is_said_to() -> None:
    display, lines = a_display(Paper()), Lines("row")
    assert display.handle_input(Key("a")) is False
    display.set_focus(lines)
    assert display.handle_input(Key("a")) is True


def test_a_component_that_is_removed_loses_the_focus() -> None:
    display, lines = a_display(Paper()), Lines("row")
    display.add(lines)
    display.set_focus(lines)
    display.remove(lines)
    display.handle_input(Key("a"))
    assert lines.heard == []


OPERATIONS = st.lists(
    st.tuples(
        st.sampled_from(
            ["append", "live", "grow", "rewrite", "finish", "chrome", "overlay", "close", "remove", "tick"]
        ),
        st.integers(0, 7),
    ),
    max_size=60,
)


@settings(max_examples=200, deadline=None)
@given(OPERATIONS, st.integers(2, 12), st.integers(0, 5))
def test_every_final_row_is_on_the_tape_once_and_in_order(
    operations: list[tuple[str, int]], height: int, above: int
) -> None:
    """Whatever happens, short of changing what is history."""
    paper = Paper(rows=height, above=above)
    display, transcript, chrome = a_display(paper), BlockColumn(gap=0), Lines("chrome")
    display.add(transcript)
    display.add(chrome)
    live: list[Lines] = []
    handles = []
    number = 0
    expected: list[str] = []
    for name, amount in operations:
        if name == "append":
            transcript.append(block := Lines(*(f"r{number}.{i}" for i in range(amount))))
            number += 1
            expected.append("")
            live.append(block)
        elif name == "live":
            transcript.append(block := Lines(f"live{number}"), live=True)
            number += 1
            live.append(block)
        elif name == "grow" and live:
            live[-1].set([*live[-1].rows, *(f"g{number}.{i}" for i in range(amount))]) if _is_live(
                transcript, live[-1]
            ) else None
            number += 1
        elif name == "finish" and live:
            transcript.finish(live[amount % len(live)])
        elif name == "chrome":
            chrome.set([f"chrome {i}" for i in range(amount + 1)])
        elif name == "overlay":
            handles.append(display.show_overlay(Lines("o" * 10)))
        elif name == "close" and handles:
            handles.pop().hide()
        display.render_now()
    for handle in handles:
        handle.hide()
    for block in live:
        transcript.finish(block)
    chrome.set(["chrome"])
    display.render_now()
    wanted = [f"shell {i}" for i in range(above)] + [row for block in live for row in block.rows] + ["chrome"]
    assert paper.tape == wanted


def _is_live(transcript: BlockColumn, block: Lines) -> bool:
    return any(entry.block is block and entry.live for entry in transcript._entries)


def test_gnu_screen_is_never_told_to_delete_rows() -> None:
    """It would move them into its history: what goes is erased row by row."""
    paper = Paper(rows=6)
    display, lines = a_display(paper, multiplexer="screen"), Lines(*"abcdef")
    display.add(lines)
    display.render_now()
    lines.set("af")
    display.render_now()
    lines.set("f")
    display.render_now()
    assert paper.tape == ["f"]
    assert not any(f"{count}M" in text for text in paper.written for count in ("[", *"123456"))


def test_s8_a_graphic_is_moved_with_its_rows_and_not_sent_again() -> None:
    """Where the terminal keeps no copy to place anew, a row that comes in above costs its own bytes."""
    written: list[str] = []

    class Recorder:
        size, busy = (40, 12), False

        def write(self, text: str) -> None:
            written.append(text)

    display = Display(Recorder(), Capabilities(images="iterm2", synchronized_output=True))
    above, picture = Lines("one"), Lines("", "", ImageRow("", "PIXELS", 3))
    for child in (above, picture, Lines("> ")):
        display.add(child)
    display.render_now()
    for count in range(2, 6):
        above.set(["one"] * count)
        display.request_render()
        display.render_now()
    assert "".join(written).count("PIXELS") == 1
