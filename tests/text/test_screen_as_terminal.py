"""The same bytes in a real terminal and in our screen leave the same rows: random ones, and what programs printed."""

import itertools
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.testing.emulators import open_emulator
from sightline.text import OutputScreen, clean_output, complete_prefix, row_text

COLUMNS, ROWS = 20, 6
RECORDINGS = sorted((Path(__file__).parent / "recordings").glob("*.bin"))


@pytest.fixture(scope="module", params=["xterm", "ghostty"])
def terminal(request):
    emulator = open_emulator(request.param, COLUMNS, ROWS)
    yield emulator
    emulator.close()


def rows_of(screen):
    """All rows down to the last that is not blank."""
    rows = [row_text(row).rstrip(" ") for row in [*screen.take_settled(), *screen.live]]
    while rows and not rows[-1]:
        rows.pop()
    return rows


numbers = st.sampled_from(["", "0", "1", "2", "3", "9", "9999"])
moves = st.builds("\x1b[{}{}".format, numbers, st.sampled_from("ABCDEFGd"))
addresses = st.builds("\x1b[{};{}{}".format, numbers, numbers, st.sampled_from("Hf"))
# Terminals do not agree on what is erased when the cursor waits behind a full row: here it never does.
erasing = st.builds("\x1b[D\x1b[{}{}".format, st.sampled_from(["", "0", "1", "2"]), st.sampled_from("JK"))
counts = st.sampled_from(["", "1", "2", "3", "9", "9999"])  # nor on what 0 is
editing = st.builds("\x1b[D\x1b[{}{}".format, counts, st.sampled_from("@PXLM"))
SAVING = ["\x1b7", "\x1b8", "\x1b[s", "\x1b[u"]
saving = st.sampled_from(SAVING)
regions = st.builds("\x1b[{};{}r".format, numbers, numbers)
scrolling = st.one_of(regions, st.sampled_from(["\x1bM", "\x1bD", "\x1bE", "\x1b[r"]))
words = st.sampled_from(["a", "bc", "plain words", "one two three four five", "\t", "\r", "\b", "日本", "\r\n", "\r\n"])
parts = st.lists(st.one_of(words, words, moves, addresses, erasing, editing, saving), max_size=25)
FULL = "".join(f"row {number}\r\n" for number in range(ROWS + 2))


@given(parts)
@example(["\x1b[H\x1b[2J"])
@example(["one", "\x1b[3A", "\x1b[J", "two"])
@example(["\x1b[2;3H", "\x1b[D\x1b[2L", "x", "\x1b[D\x1b[9M"])
@settings(max_examples=400)
def test_random_output_leaves_the_rows_of_a_terminal(terminal, parts):
    """A screen that is full, as most are, then anything: moves, addresses, erasing, editing, saving."""
    if terminal.name == "xterm":  # xterm.js saves the row of the text, others (ghostty, xterm) that of the screen
        parts = [part for part in parts if part not in SAVING]
    text = FULL + "".join(parts)
    screen = OutputScreen(COLUMNS, ROWS, ROWS)
    screen.feed(clean_output(text))
    terminal.write("\x1bc")
    assert rows_of(screen) == terminal.feed(text).text


@given(st.lists(st.one_of(words, words, moves, addresses, erasing, editing, scrolling, scrolling), max_size=25))
@example(["\x1b[2;4r", "\x1b[4;1H", "a\r\nb\r\nc"])
@example(["\x1b[1;4r", "\x1b[4;1H", "a\r\nb\r\nc", "\x1b[r", "\x1b[6;1H", "d"])
@example(["\x1b[2;4r", "\x1b[2;1H", "\x1bM", "x", "\x1b[6;1H", "\r\n\r\ny"])
@example(["\x1b[;H", "one two three four five", "\x1b[;9999H", "日本"])
@settings(max_examples=400)
def test_a_scroll_region_leaves_the_rows_of_a_terminal(terminal, parts):
    """Also one that ends before it begins or beyond the last row. What scrolls off the first row is above it."""
    text = FULL + "".join(parts)
    screen = OutputScreen(COLUMNS, ROWS, ROWS)
    screen.feed(clean_output(text))
    terminal.write("\x1bc")
    assert rows_of(screen) == terminal.feed(text).text


@given(st.lists(st.one_of(words, addresses, regions, st.builds("\x1b[{}{}".format, counts, st.sampled_from("ST")))))
@settings(max_examples=200)
def test_what_scrolls_by_itself_leaves_the_rows_of_a_terminal(terminal, parts):
    """`CSI S` and `CSI T`."""
    text = FULL + "".join(parts)
    screen = OutputScreen(COLUMNS, ROWS, ROWS)
    screen.feed(clean_output(text))
    terminal.write("\x1bc")
    assert rows_of(screen) == terminal.feed(text).text


@given(st.booleans(), st.lists(st.one_of(words, words, addresses, erasing, editing, scrolling, saving), max_size=25))
@settings(max_examples=300)
def test_more_live_rows_than_the_terminal_has_change_nothing(full, parts):
    """What scrolled off the terminal is out of a region's reach, whether it has settled or not."""
    text = clean_output(FULL * full + "".join(parts))
    exact, taller = OutputScreen(COLUMNS, ROWS, ROWS), OutputScreen(COLUMNS, 40, ROWS)
    exact.feed(text)
    taller.feed(text)
    assert rows_of(exact) == rows_of(taller)


@given(st.one_of(parts, st.lists(st.one_of(words, moves, scrolling))), st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=300)
def test_cutting_the_bytes_changes_no_row(parts, cuts):
    """As the pipeline does it: what is unfinished waits for the next piece."""
    data = ("".join(parts) + "\x1b[?1049h\x1b[2;2Hx\x1b[?1049l").encode()
    whole = OutputScreen(COLUMNS, ROWS)
    whole.feed(clean_output(data.decode()))
    pieces, held = OutputScreen(COLUMNS, ROWS), b""
    for start, end in itertools.pairwise([0, *sorted(min(cut, len(data)) for cut in cuts), len(data)]):
        held += data[start:end]
        complete = complete_prefix(held)
        pieces.feed(clean_output(held[:complete].decode()))
        held = held[complete:]
    assert rows_of(pieces) == rows_of(whole)


@pytest.mark.parametrize("recording", RECORDINGS, ids=lambda path: path.stem)
def test_what_programs_print_is_left_as_in_a_terminal(recording):
    """Recorded from the real programs in a terminal of 80 columns and 24 rows; nothing they drew over is left. Docker's
    pull spoke to a daemon of ours; docker-build is a script with the sequences of buildkit's display,
    since there was no daemon to build with. apt draws its bar below a scroll region."""
    data = recording.read_bytes()
    terminals = [open_emulator(name, 80, 24) for name in ("xterm", "ghostty")]
    try:
        left, other = (terminal.feed(data).text for terminal in terminals)
    finally:
        for terminal in terminals:
            terminal.close()
    assert left == other
    for height in (24, 50):
        screen = OutputScreen(80, height)
        screen.feed(clean_output(data.decode()))
        assert rows_of(screen) == left
