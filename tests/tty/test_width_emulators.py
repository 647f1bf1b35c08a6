"""Our idea of width against that of real terminals, by where the cursor stands after each grapheme."""

import subprocess
from collections.abc import Iterator

import pytest

from sightline.testing.emulators import KINDS, Emulator, Kind, open_emulator
from sightline.tty.cells._width import doubtful, measure, pin, slice_columns, truncate, wrap
from tests.tty.width_corpus import CORPUS, GRAPHEMES
from tests.tty.width_tmux import COLUMNS as COLUMNS_IN_TMUX
from tests.tty.width_tmux import VERSION as VERSION_OF_TMUX

# Where xterm.js with its grapheme addon contradicts Ghostty, which we follow: the columns xterm.js takes, and why.
_XTERM_DIFFERS: dict[str, tuple[int, list[str]]] = {
    "its tables end before Unicode 14": (1, ["🫶", "🫠"]),
    "it knows no text style of an emoji": (2, CORPUS["text by selector"]),
    "it draws a narrow symbol with a skin tone wide": (
        2,
        [symbol for symbol in CORPUS["skin tones"] if symbol[0] in "☝⛹"],
    ),
}
COLUMNS_IN_XTERM = {grapheme: columns for columns, graphemes in _XTERM_DIFFERS.values() for grapheme in graphemes}
_COLUMNS, _ROWS = 80, 24
_CLEAR = "\x1b[2J\x1b[1;1H"


@pytest.fixture(scope="module", params=KINDS)
def terminal(request: pytest.FixtureRequest) -> Iterator[Emulator]:
    opened = _open(request.param)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def tmux() -> Iterator[Emulator]:
    opened = _open("tmux")
    yield opened
    opened.close()


def _open(kind: Kind) -> Emulator:
    return open_emulator(kind, _COLUMNS, _ROWS)


def _column_after(terminal: Emulator, text: str) -> int:
    terminal.write(_CLEAR + text)
    return terminal.cursor()[0]


def test_the_corpus_is_large_and_each_grapheme_is_in_it_once() -> None:
    """Every kind of text the terminals are asked about is there."""
    assert len(GRAPHEMES) == len(set(GRAPHEMES)) >= 300
    assert all(GRAPHEMES)


@pytest.mark.parametrize(
    ("kind", "exceptions"), [("ghostty", {}), ("xterm", COLUMNS_IN_XTERM)], ids=["ghostty", "xterm"]
)
def test_the_cursor_stands_where_we_say(kind: Kind, exceptions: dict[str, int]) -> None:
    """For the whole corpus; the exceptions, too, are exactly as listed."""
    terminal = _open(kind)
    measured = {grapheme: _column_after(terminal, grapheme) for grapheme in GRAPHEMES}
    terminal.close()
    assert {grapheme: columns for grapheme, columns in measured.items() if columns != measure(grapheme)} == exceptions


def test_tmux_differs_exactly_where_the_table_says(tmux: Emulator) -> None:
    """The table is complete, and holds nothing that is not so."""
    version = subprocess.run(["tmux", "-V"], capture_output=True, text=True, check=True).stdout.strip()
    if version != VERSION_OF_TMUX:
        pytest.skip(f"the table is for {VERSION_OF_TMUX}, this is {version}")
    measured = {grapheme: _column_after(tmux, grapheme) for grapheme in GRAPHEMES}
    assert {g: columns for g, columns in measured.items() if columns != measure(g)} == COLUMNS_IN_TMUX


def test_whatever_a_terminal_counts_otherwise_is_in_doubt() -> None:
    """What is not pinned is the same everywhere."""
    assert [grapheme for grapheme in (*COLUMNS_IN_TMUX, *COLUMNS_IN_XTERM) if not doubtful(grapheme)] == []


def _from_column(column: int) -> str:
    """Erases the row up to a column, so that what is left begins there or is seen not to."""
    return f"\x1b[{column}G\x1b[1K"


def _screen_rows(terminal: Emulator, rows: list[str]) -> list[str]:
    terminal.write(_CLEAR + "\r\n".join(rows))
    return [row.rstrip() for row in terminal.screen()[: len(rows)]]


def test_a_pinned_row_never_displaces_its_neighbours(terminal: Emulator) -> None:
    """Text after every grapheme is in the columns where it belongs, even where the terminal miscounts."""
    misplaced = []
    for start in range(0, len(GRAPHEMES), _ROWS):
        graphemes = GRAPHEMES[start : start + _ROWS]
        columns = [2 + measure(grapheme) for grapheme in graphemes]
        rows = [pin(f"ab{grapheme}cd\x1b[1me{grapheme}\x1b[0mfg") for grapheme in graphemes]
        firsts = _screen_rows(terminal, [row + _from_column(at) for row, at in zip(rows, columns, strict=True)])
        seconds = _screen_rows(
            terminal, [row + _from_column(at * 2 + 1) for row, at in zip(rows, columns, strict=True)]
        )
        for grapheme, column, first, second in zip(graphemes, columns, firsts, seconds, strict=True):
            # Behind the end of the row a cluster may show that took more cells than it should: nobody's neighbour.
            if not (first.startswith(" " * column + "cde") and second.startswith(" " * (column * 2 + 1) + "fg")):
                misplaced.append((grapheme, column, first, second))
    assert misplaced == []


def test_a_row_without_pins_is_displaced_in_tmux(tmux: Emulator) -> None:
    """The test above can fail: tmux puts what follows elsewhere."""
    row, column = "☀️x", 2
    without, pinned = _screen_rows(tmux, [row + _from_column(column), pin(row) + _from_column(column)])
    assert without == ""
    assert pinned == "  x"


@pytest.mark.parametrize("kind", ["ghostty", "xterm"])
def test_cut_and_wrapped_rows_stay_in_their_width(kind: Kind) -> None:
    """Rows made of the whole corpus end, on the glass, in the column where we say."""
    # xterm.js lets a skin tone without a base join a blank.
    excepted = {*COLUMNS_IN_XTERM, *map(chr, range(0x1F3FB, 0x1F400))}
    graphemes = [grapheme for grapheme in GRAPHEMES if grapheme not in excepted]
    text = " ".join(graphemes)
    rows = [*wrap(text, 20), *wrap("".join(graphemes), 7), truncate(text, 33), slice_columns(text, 50, 75)]
    terminal = _open(kind)
    ends = [(row, _column_after(terminal, row), measure(row)) for row in rows]
    terminal.close()
    assert [end for end in ends if end[1] != end[2]] == []
