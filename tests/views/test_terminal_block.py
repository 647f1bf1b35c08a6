"""What a command prints, on a terminal: each row once, changes in place, and nothing outside its block."""

from hypothesis import given
from hypothesis import strategies as st

from sightline.text import OutputScreen, clean_output
from sightline.views.plain._palette import COLOUR
from sightline.views.plain.terminal_block import TerminalBlock
from tests.text.escape_attacks import ATTACKS
from tests.views.glass import Glass, plain


def drawn(pieces, columns=20, rows=8):
    """A glass on which the pieces were drawn, with a row of somebody else's above."""
    block, glass = TerminalBlock(columns, rows), Glass(columns, rows)
    glass.write("prompt\r\n")
    glass.mark()
    for piece in pieces:
        glass.write(block.feed(piece))
    glass.write(block.end())
    assert glass.highest == 1
    assert glass.x == 0
    assert glass.rows[0] == "prompt"
    assert not any(glass.rows[glass.y :])  # rows that were erased are where the next output goes
    return glass.rows[1 : glass.y]


def interpreted(text, columns=20, rows=8):
    screen = OutputScreen(columns, rows - 1)
    screen.feed(clean_output(text))
    screen.finish()
    return plain(screen.take_settled())


PIECES = st.lists(
    st.sampled_from(
        [
            "a", "word ", "\n", "\r", "\r\n", "\t", "\b", "\x1b[K", "\x1b[2K", "\x1b[A", "\x1b[2A", "\x1b[B", "\x1b[3C",
            "\x1b[31m", "\x1b[0m", "a line that is longer than the terminal is wide", "one\ntwo\nthree\n", "漢字",
            "e\u0301", "\x1b[9A", "50%\r", "\n" * 12, "\x1b[J", "\x1b[H", "\x1b[2J", "\x1b7", "\x1b8",
            "\x1b[2L", "\x1b[M", "\x1b[P", "\x1b[5;5H", "\x1b[?1049h", "\x1b[?1049l", "⚠\ufe0f",
        ]
    ),
    max_size=30,
)  # fmt: skip


@given(PIECES)
def test_the_glass_shows_what_the_interpreter_says(pieces):
    """However the output came in pieces, the rows on the terminal are the interpreter's, and nobody else's changed."""
    assert drawn(pieces) == interpreted("".join(pieces))


def test_a_progress_bar_stays_on_its_row():
    """Carriage returns rewrite the row."""
    assert drawn(["10%", "\r20%", "\r100%", "\ndone\n"]) == ["100%", "done"]


def test_bars_on_several_rows_are_redrawn_in_place():
    """As container tools do it: up, erase, write, down."""
    pieces = ["one: 0%\ntwo: 0%\n", "\x1b[2A\x1b[2K\rone: 50%\r\x1b[2B", "\x1b[1A\x1b[2K\rtwo: 99%\r\x1b[1B", "end\n"]
    assert drawn(pieces) == ["one: 50%", "two: 99%", "end"]


def test_a_spinner_that_removes_itself_leaves_no_row():
    """The next output takes its place."""
    assert drawn(["working", "\r\x1b[K", "done\n"]) == ["done"]
    assert drawn(["line\n", "working", "\r\x1b[K"]) == ["line"]


def test_appended_text_costs_what_it_is_long():
    """A row that grows is not written again, nor are the rows above it."""
    block = TerminalBlock(80, 24)
    block.feed("first line\n" * 20 + "dots: ")
    assert [block.feed(".") for _ in range(3)] == [".", ".", "."]
    assert block.feed("\nnext") == "\r\nnext"


def test_a_status_is_shown_below_and_gives_way():
    """It is not output: the next output replaces it, and the end removes it."""
    block, glass = TerminalBlock(40, 8), Glass(40, 8)
    glass.write(block.feed("partial") + block.status("no output for 10 s"))
    assert glass.rows == ["partial", "no output for 10 s"]
    glass.write(block.status("no output for 30 s"))
    assert glass.rows == ["partial", "no output for 30 s"]
    glass.write(block.feed(" more"))
    assert glass.rows == ["partial more", ""]
    glass.write(block.status("no output for 10 s") + block.end())
    assert glass.rows == ["partial more", ""]


def test_after_a_resize_the_block_goes_on_below():
    """What is on the screen stays; new rows have the new width; nothing is written twice."""
    block, glass = TerminalBlock(10, 8), Glass(30, 8)
    glass.write(block.feed("0123456789abc"))
    block.resize(30, 8)
    glass.write(block.feed("def\n0123456789abc\n") + block.end())
    assert glass.rows == ["0123456789", "abc", "def", "0123456789abc", ""]


def test_a_remark_stands_on_a_row_of_its_own():
    """Also when the output was in the middle of a line."""
    block, glass = TerminalBlock(40, 8), Glass(40, 8)
    glass.write(block.feed("half a li") + block.remark("… 3 MB passed over …") + block.feed("ne\n") + block.end())
    assert glass.rows == ["half a li", "… 3 MB passed over …", "ne", ""]


def test_no_attack_reaches_the_terminal():
    """The glass fails on every sequence but ours; what follows the attack is shown."""
    for name, attack in ATTACKS:
        rows = drawn([attack.decode("utf-8", "replace")], columns=80, rows=24)
        assert any("SAFE" in row for row in rows), name


def test_no_attack_cut_in_two_reaches_the_terminal():
    """Text that came as two pieces and was not cleaned before is no way in either."""
    for _, attack in ATTACKS:
        text = attack.decode("utf-8", "replace")
        for cut in (1, len(text) // 2, len(text) - 7):
            drawn([text[:cut], text[cut:]], columns=80, rows=24)


def test_a_style_does_not_leak():
    """Every coloured stretch ends with a reset, so that ours and the shell's words have their own colour."""
    block = TerminalBlock(40, 8, COLOUR)
    text = block.feed("\x1b[1;38;5;200;48;2;1;2;3mloud\nstill loud") + block.end()
    assert text == "\x1b[1;38;5;200;48;2;1;2;3mloud\x1b[0m\r\n\x1b[1;38;5;200;48;2;1;2;3mstill loud\x1b[0m\r\n"


def test_stderr_has_a_colour_of_its_own():
    """Unless the command chose one."""
    block = TerminalBlock(40, 8, COLOUR)
    assert block.feed("oops\n", "stderr") == f"{COLOUR.aside}oops\x1b[0m"
    assert block.feed("\x1b[32mgood\n", "stderr") == "\r\n\x1b[32mgood\x1b[0m"


def test_without_colour_nothing_is_styled():
    """NO_COLOR and --color never."""
    assert TerminalBlock(40, 8).feed("\x1b[1;31mred\x1b[0m", "stderr") == "red"


def test_labels_say_the_stream_without_colour():
    """Never colour alone: -v names the stream on every row, and rows still fit."""
    block, glass = TerminalBlock(16, 8, labelled=True), Glass(16, 8)
    glass.write(block.feed("out\n") + block.feed("0123456789abc\n", "stderr") + block.end())
    assert glass.rows == ["out │ out", "err │ 0123456789", "err │ abc", ""]


def test_a_growing_row_keeps_its_label():
    """Appending to a labelled row does not repeat the label."""
    block, glass = TerminalBlock(30, 8, labelled=True), Glass(30, 8)
    glass.write(block.feed("one") + block.feed(" two\n") + block.end())
    assert glass.rows == ["out │ one two", ""]


def test_rows_outside_ascii_never_wrap():
    """Where terminals disagree about a width, the row is cut at the edge and does not become two."""
    block = TerminalBlock(20, 8)
    assert block.feed("👩‍👩‍👧") == "\x1b[?7l👩‍👩‍👧\x1b[?7h"
    assert block.feed("漢") == "\x1b[?7l漢\x1b[?7h"


def test_cleaning_twice_changes_nothing():
    """The block cleans what the pipeline has cleaned already."""
    for _, attack in ATTACKS:
        once = clean_output(attack.decode("utf-8", "replace"))
        assert clean_output(once) == once
