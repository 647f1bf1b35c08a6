"""Terminal output as rows: what a terminal would show, whichever way the text is cut, and with bounds everywhere."""

import itertools
import time
import tracemalloc
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sightline.text import DEFAULT, OutputScreen, Style, StyledRun, clean_output, complete_prefix, row_text
from sightline.text._row import ScreenLine
from sightline.tty import measure
from tests.text.escape_attacks import ATTACKS

RED = Style(fg=1)


def shown(text, **how):
    screen = OutputScreen(**how)
    screen.feed(text)
    screen.finish()
    return [row_text(row) for row in screen.take_settled()]


def all_rows(screen):
    return [*screen.take_settled(), *screen.live]


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("", []),
        ("a", ["a"]),
        ("a\nb\n", ["a", "b"]),
        ("a\n\n\nb", ["a", "", "", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("10%\r20%\r100%\n", ["100%"]),
        ("long line\rshort", ["shortline"]),
        ("abc\b\bX", ["aXc"]),
        ("abc\b\b\b\b\b\bX", ["Xbc"]),
        ("gone\r\x1b[Knew", ["new"]),
        ("abcdef\x1b[3D\x1b[K", ["abc"]),
        ("abcdef\x1b[3D\x1b[1K", ["    ef"]),
        ("abcdef\x1b[3D\x1b[2KX", ["   X"]),
        ("abcdef\x1b[1K", []),
        ("a\x1b[3Cb", ["a   b"]),
        ("one\ntwo\nthree\x1b[2AX", ["one  X", "two", "three"]),
        ("one\ntwo\nthree\x1b[2FX", ["Xne", "two", "three"]),
        ("one\ntwo\nthree\x1b[2A\x1b[EX", ["one", "Xwo", "three"]),
        ("one\ntwo\x1b[A\nX", ["one", "Xwo"]),
        ("one\ntwo\x1b[A\x1b[9B!", ["one", "two!"]),
        ("one\ntwo\x1b[99AX", ["oneX", "two"]),
        ("one\n\x1b[A\x1b[Knew\nnext\n", ["new", "next"]),
        ("a\tb", ["a       b"]),
        ("\ta\n12345678\tb\n", ["        a", "12345678        b"]),
        ("abcdefghij\r\tX", ["abcdefghXj"]),
        ("日本語\rab", ["ab本語"]),
        ("日本語\rx", ["x 本語"]),
        ("日本語\b\bX", ["日本X "]),
        ("日本\b\b\bX", [" X本"]),
        ("日\tx", ["日      x"]),
        ("cafe\u0301\b!", ["caf!"]),
        ("e\u0301x\b\b\x1b[Co", ["e\u0301o"]),
        ("ab\re\u0301", ["e\u0301b"]),
    ],
)
def test_rows_are_what_a_terminal_would_show(text, rows):
    """Carriage control, erasing, tabs and moves act on the columns of the rows."""
    assert shown(text) == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("abcdefgh", ["abcde", "fgh"]),
        ("abcde\nf", ["abcde", "f"]),
        ("abcde\rX", ["Xbcde"]),
        ("abcde\bX", ["abcXe"]),
        ("abcdefgh\x1b[AX", ["abcXe", "fgh"]),
        ("abc\x1b[99CX", ["abc X"]),
        ("日本語", ["日本", "語"]),
        ("abcd日", ["abcd", "日"]),
        ("abcde\u0301f", ["abcde\u0301", "f"]),
        ("ab\tcd", ["ab  c", "d"]),
        ("1\n2\x1b[Aabcdef", ["1abcd", "ef"]),
        ("abcd⚠\ufe0fe", ["abcd", "⚠\ufe0fe"]),
        ("abc⚠\ufe0fe", ["abc⚠\ufe0f", "e"]),
        ("abc1\ufe0f\u20e3e", ["abc1\ufe0f\u20e3", "e"]),
        ("abcd1\ufe0f\u20e3e", ["abcd", "1\ufe0f\u20e3e"]),
        ("ab😀\ufe0fe", ["ab😀\ufe0fe"]),
    ],
)
def test_a_full_row_goes_on_in_the_next(text, rows):
    """With columns the text wraps as in a terminal: by the character that no longer fits."""
    assert shown(text, columns=5) == rows


@given(st.lists(st.sampled_from(["a", "bc", "⚠\ufe0f", "1\ufe0f\u20e3", "❤", "\ufe0f", "日", "😀"])), st.integers(2, 9))
@example(["a", "⚠", "\ufe0f"], 2)
def test_no_row_is_wider_than_a_view_measures(parts, columns):
    """What a view would cut off at the edge is text that is lost."""
    text = "".join(["a", *parts])
    rows = shown(text, columns=columns)
    assert all(measure(row) <= columns for row in rows)
    assert "".join(rows) == text
    pieces = OutputScreen(columns)
    for char in text:
        pieces.feed(char)
    assert [row_text(row) for row in all_rows(pieces)] == rows


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("one\ntwo\nthree\x1b[1A\r\x1b[Jnew", ["one", "new"]),
        ("one\ntwo\n\x1b[H\x1b[2J\x1b[3Jnew", ["new"]),
        ("one\ntwo\x1bcnew", ["new"]),
        ("one\ntwo\x1b[1J!", ["", "   !"]),
        ("one\ntwo\x1b[2Jx", ["", "   x"]),
        ("one\ntwo\nthree\n\x1b[3A\x1b[J", []),
        ("abc\x1b7def\x1b8X", ["abcXef"]),
        ("ab\x1b[31m\x1b[s\x1b[mcd\n\x1b[uX", ["abXd"]),
        ("abcd\x1b[2D\x1b[@X", ["abXcd"]),
        ("abcd\x1b[3D\x1b[2P", ["ad"]),
        ("abcd\x1b[3D\x1b[2X", ["a  d"]),
        ("one\ntwo\x1b[Lnew", ["one", "new", "two"]),
        ("one\ntwo\nthree\x1b[2A\x1b[M", ["two", "three"]),
        ("one\n\x1b[4;3Hx", ["one", "", "", "  x"]),
        ("one\ntwo\x1b[1dX", ["oneX", "two"]),
        ("日本語\x1b[4D\x1b[P", ["日 語"]),
    ],
)
def test_display_is_erased_edited_and_addressed(text, rows):
    """As a terminal of 24 rows would leave it."""
    assert shown(clean_output(text)) == rows


def test_addresses_and_erasing_end_where_the_terminal_ends():
    """Of more rows than the program's terminal has, those that scrolled off its top are out of reach."""
    screen = OutputScreen(height=50, rows=4)
    screen.feed("".join(f"{n}\n" for n in range(10)))
    screen.feed("\x1b[H\x1b[2Jnew")
    assert [row_text(row) for row in screen.live] == ["0", "1", "2", "3", "4", "5", "6", "new"]


def test_the_alternate_screen_is_seen_while_it_is_there_and_leaves_a_note():
    """What it covered is untouched, whatever it was asked to draw; a screen that is never left stays."""
    screen = OutputScreen(columns=40)
    screen.feed("before\n\x1b[?1049h\x1b[31m\x1b[2J\x1b[1;1Hmenu\x1b[99Aup\x1b[5;3Hbelow")
    drawn = [row_text(row) for row in screen.live]
    assert drawn == ["before", "… full-screen program …", "menuup", "", "", "", "  below"]
    screen.feed("\x1b[?1049lafter\x1b[?1049l")
    assert [row_text(row) for row in screen.live] == ["before", "… full-screen program …", "after"]
    assert screen.style == DEFAULT
    screen.feed("\x1b[?1049hopen")
    screen.finish()
    assert [row_text(row) for row in screen.take_settled()][-2:] == ["… full-screen program …", "open"]


def test_what_scrolled_off_the_alternate_screen_is_not_hidden():
    """A program cannot hide a long output by leaving."""
    rows = shown("\x1b[?1049h" + "".join(f"{n}\n" for n in range(100)) + "\x1b[?1049lend", height=10)
    assert rows == ["… full-screen program …", *map(str, range(91)), "end"]


def test_a_tab_stops_at_the_last_column():
    """As in a terminal, also where rows are made in bulk."""
    assert shown("a\n12345678\t\nb\n", columns=16) == ["a", "12345678       ", "b"]


@pytest.mark.parametrize(
    ("codes", "style"),
    [
        ("1;3;4;7;9", Style(bold=True, italic=True, underline=True, inverse=True, strike=True)),
        ("2", Style(dim=True)),
        ("1;22", DEFAULT),
        ("1;2;3;4;7;9;22;23;24;27;29", DEFAULT),
        ("31;42", Style(fg=1, bg=2)),
        ("91;102", Style(fg=9, bg=10)),
        ("31;42;39;49", DEFAULT),
        ("38;5;200", Style(fg=200)),
        ("48;5;17;1", Style(bg=17, bold=True)),
        ("38;05;200;048;005;017", Style(fg=200, bg=17)),
        ("38;02;1;002;255", Style(fg="#0102ff")),
        ("38;2;1;2;255", Style(fg="#0102ff")),
        ("38:2::1:2:255", Style(fg="#0102ff")),
        ("38:2:1:2:255", Style(fg="#0102ff")),
        ("48:5:9", Style(bg=9)),
        ("58;5;1;3", Style(italic=True)),
        ("4:3", Style(underline=True)),
        ("4;4:0", DEFAULT),
        ("21", Style(underline=True)),
        ("1;0", DEFAULT),
        ("1;", DEFAULT),
        ("", DEFAULT),
        ("38;5", DEFAULT),
        ("38;2;1;2", DEFAULT),
        ("38;5;256;1", Style(bold=True)),
        ("5;8;25;28;73;999;99999", DEFAULT),
        (":;:1;1:1", DEFAULT),
    ],
)
def test_style_is_data(codes, style):
    """What the parameters of a style sequence say is on the characters that follow; what is unknown is ignored."""
    screen = OutputScreen()
    screen.feed(f"\x1b[{codes}mx")
    assert screen.live == [(StyledRun("x", style),)]
    assert screen.style == style


def test_style_and_stream_stay_with_their_characters():
    """Overwriting changes only the characters it covers, their style and the stream they came from."""
    screen = OutputScreen()
    screen.feed("out \x1b[31mred\x1b[m ")
    screen.feed("err", "stderr")
    assert screen.live == [
        (StyledRun("out "), StyledRun("red", RED), StyledRun(" "), StyledRun("err", stream="stderr"))
    ]
    screen.feed("\r\x1b[5CE", "stderr")
    assert screen.live == [
        (
            StyledRun("out "),
            StyledRun("r", RED),
            StyledRun("E", stream="stderr"),
            StyledRun("d", RED),
            StyledRun(" "),
            StyledRun("err", stream="stderr"),
        )
    ]


def test_interpretation_can_begin_in_the_middle():
    """A style set from outside is the pen the first characters are written with."""
    screen = OutputScreen()
    screen.style = RED
    screen.feed("x")
    assert screen.live == [(StyledRun("x", RED),)]


def test_settled_rows_are_handed_out_once_and_cannot_be_reached():
    """A cursor move stops at the oldest live row; what is above has been handed out, in order, once."""
    screen = OutputScreen(height=3)
    screen.feed("".join(f"{n}\n" for n in range(10)))
    assert [row_text(row) for row in screen.take_settled()] == [str(n) for n in range(8)]
    assert screen.take_settled() == []
    assert screen.settled == 8
    screen.feed("\x1b[9999AX")
    assert [row_text(row) for row in screen.live] == ["X", "9"]
    screen.finish()
    assert [row_text(row) for row in screen.take_settled()] == ["X", "9"]
    assert screen.settled == 10
    assert screen.live == []


def test_an_empty_last_row_is_no_row():
    """A trailing newline, or a line that was erased, leaves no row behind."""
    screen = OutputScreen()
    screen.feed("done\n50%")
    assert len(screen.live) == 2
    screen.feed("\r\x1b[K")
    assert [row_text(row) for row in screen.live] == ["done"]


distances = st.sampled_from(["", "0", "1", "2", "3", "9", "9999"])
moves = st.builds("\x1b[{}{}".format, distances, st.sampled_from("ABCDEF"))
styles = st.sampled_from(["\x1b[m", "\x1b[31m", "\x1b[0;1m", "\x1b[48;5;3m", "\x1b[39m"])
erasing = st.sampled_from(["\x1b[K", "\x1b[1K", "\x1b[2K", "\x1b[J", "\x1b[1J", "\x1b[2J"])
drawing = st.one_of(
    st.builds("\x1b[{}{}".format, distances, st.sampled_from("@PXLMSTd")),
    st.builds("\x1b[{};{}{}".format, distances, distances, st.sampled_from("Hr")),
    st.sampled_from(["\x1bD", "\x1bM", "\x1b[2;4r", "\x1b[1;3r"]),
    st.sampled_from(["\x1b[s", "\x1b[u", "\x1b[?1049h", "\x1b[?1049l"]),
)
lines = st.sampled_from(["\n", "\n", "x\ny\nz\n", "one\ttwo\nthree\tfour\n", "\r\n"])
words = st.sampled_from(["a", "bc", "plain words", "\t", "\r", "\b", "日本", "é", "\u0301", "😀", "⚠", "\ufe0f"])
pieces = st.lists(st.one_of(words, words, lines, moves, styles, erasing, drawing), max_size=40)
sizes = st.sampled_from([None, None, 2, 5, 20])
streams = st.sampled_from(["stdout", "stderr"])


@given(pieces, sizes, st.integers(1, 5), st.lists(st.integers(0, 40), max_size=6))
@example(["\r", "\n", "x"], None, 5, [1])
@example(["x\ny\nz\n", "\x1b[2A", "one\ttwo\nthree\tfour\n"], 20, 5, [1])
@settings(max_examples=600)
def test_cutting_the_text_never_changes_the_rows(parts, columns, height, cuts):
    """Fed whole, in groups, or one character or sequence at a time: the same rows settle and the same are live."""
    whole = OutputScreen(columns, height)
    whole.feed("".join(parts))
    grouped = OutputScreen(columns, height)
    bounds = [0, *sorted(min(cut, len(parts)) for cut in cuts), len(parts)]
    for start, end in itertools.pairwise(bounds):
        grouped.feed("".join(parts[start:end]))
    single = OutputScreen(columns, height)
    for part in parts:
        for piece in [part] if part.startswith("\x1b") else part:
            single.feed(piece)
    rows = all_rows(whole)
    assert all_rows(grouped) == rows
    assert all_rows(single) == rows
    assert grouped.settled == single.settled == whole.settled


@given(st.lists(st.tuples(pieces, streams), max_size=6), sizes, st.integers(1, 5))
@example([(["\x1b[2;4r", "\x1b[?1049h", "\n", "\x1b[?1049l", "\x1b[B"], "stdout")], None, 3)
@settings(max_examples=300)
def test_what_is_settled_is_final_and_what_is_live_is_bounded(fed, columns, height):
    """Rows are counted, never more than `height` are live, and runs are never empty nor could be joined."""
    screen = OutputScreen(columns, height)
    settled = []
    for parts, stream in fed:
        before = list(settled)
        screen.feed("".join(parts), stream)
        settled += screen.take_settled()
        assert settled[: len(before)] == before
        assert len(screen.live) <= height
        assert screen.settled == len(settled)
        for row in [*settled, *screen.live]:
            assert all(run.text for run in row)
            assert all((a.style, a.stream) != (b.style, b.stream) for a, b in itertools.pairwise(row))
    last = screen.live
    screen.finish()
    assert screen.take_settled() == last


@given(st.lists(st.text(st.sampled_from("abc 日é\u0301"), max_size=30), min_size=1, max_size=8), st.integers(2, 12))
def test_wrapping_loses_no_character(lines, columns):
    """The wrapped rows of plain text, joined, are the text."""
    assert "".join(shown("\n".join(lines), columns=columns)) == "".join(lines)


@given(st.text(max_size=100), sizes, st.integers(-1, 3))
@example("\x1b[" + "9" * 5000 + "m\x1b[99999A\x1b[;K\x1b", None, 1)
def test_no_text_is_too_strange(text, columns, height):
    """Text that was never cleaned, or a size that makes no sense, is no reason to fail."""
    screen = OutputScreen(columns, height)
    screen.feed(text)
    screen.finish()


def test_a_row_without_end_is_cut_into_rows():
    """Without a newline a row takes 64 K characters, whichever way they came."""
    rows = shown("x" * 200_000)
    assert [len(row) for row in rows] == [65536, 65536, 65536, 3392]
    screen = OutputScreen()
    for _ in range(200):
        screen.feed("x" * 1000)
    assert [row_text(row) for row in all_rows(screen)] == rows
    assert [len(row) for row in shown("a\r" + "y" * 70_000)] == [65536, 4464]
    assert [len(row) for row in shown("e" + "\u0301" * 70_000, columns=80)] == [65536, 4465]


def test_only_the_last_row_may_be_wide():
    """A newline settles a row wider than 4096 with all above it, and above the last row no row grows that wide."""
    screen = OutputScreen()
    screen.feed("first\n" + "x" * 4096 + "\n" + "y" * 4096)
    assert screen.settled == 0
    screen.feed("y\nlast")
    assert screen.settled == 3
    assert [row_text(row) for row in screen.live] == ["last"]
    screen.feed("z" * 9000 + "\x1b[A!\nend\n\x1b[A" + "w" * 5000)
    assert [len(row_text(row)) for row in screen.live] == [4096, 904]
    assert [len(row) for row in shown("above\n" + "x" * 9000 + "\x1b[A!")] == [4096, 9000]


@pytest.mark.parametrize("text", ["日", "e\u0301", "x"])
def test_memory_is_bounded_whatever_is_edited(text):
    """Many wide rows, each edited in its middle, do not add up."""
    screen = OutputScreen()
    tracemalloc.start()
    for _ in range(12):
        screen.feed(text * 30_000 + "\r" + text + "\n\x1b[A" + text * 5000 + "\n")
        screen.take_settled()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


@pytest.mark.parametrize(
    "control", ["9999;9999H", "9999L", "9999@", "9999d", "s\x1b[9999;9999H\x1b[u", "?1049h", "H\x1b[M"]
)
def test_memory_is_bounded_whatever_is_addressed(control):
    """Wide rows, many of them, and controls that make rows and columns."""
    screen = OutputScreen()
    tracemalloc.start()
    for _ in range(12):
        screen.feed("x" * 30_000 + f"\x1b[{control}" + "y" * 5000 + f"\x1b[{control}\n")
        screen.take_settled()
        assert len(screen.live) <= 50
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_a_move_to_the_right_cannot_ask_for_memory():
    """Going right ends at 4096 columns, or at the last one."""
    assert [len(row) for row in shown("\x1b[9999C\x1b[9999C\x1b[9999Cx")] == [4096]
    assert [len(row) for row in shown("\x1b[9999Cx", columns=80)] == [80]
    assert [len(row) for row in shown("z" * 5000 + "\x1b[9999Cx")] == [5001]


def interpreted(data, columns):
    """The rows of a screen with a history that is then fed the bytes as the pipeline would."""
    screen = OutputScreen(columns, height=10)
    screen.feed("".join(f"history {n}\n" for n in range(20)))
    held = b""
    for start in range(0, len(data), 4096):
        held += data[start : start + 4096]
        complete = complete_prefix(held)
        screen.feed(clean_output(held[:complete].decode("utf-8", "replace")))
        held = held[complete:]
        assert len(screen.live) <= 10
    screen.finish()
    return [row_text(row) for row in screen.take_settled()]


@pytest.mark.parametrize("columns", [None, 80])
def test_no_attack_reaches_beyond_its_rows(columns):
    """What was settled before is untouched, what comes after is there, no row carries a control, none takes long."""
    for name, data in ATTACKS:
        start = time.process_time()
        rows = interpreted(data, columns)
        assert time.process_time() - start < 2, name
        assert rows[:11] == [f"history {n}" for n in range(11)], name
        assert any(row.startswith("SAFE") for row in rows), name
        assert not any(unicodedata.category(char) == "Cc" for char in set("".join(rows))), name


def test_a_million_rows_take_no_time_to_speak_of():
    """Plain output is interpreted in bulk: ten times slower than usual would still pass."""
    text = "".join(f"line {n} of some plain output\n" for n in range(100_000))
    screen = OutputScreen()
    start = time.process_time()
    screen.feed(text)
    assert time.process_time() - start < 0.5
    assert screen.settled == 100_001 - 50


def cells_put(text, monkeypatch):
    """How many cells are put into rows while a text is interpreted."""
    put = 0
    splice = ScreenLine._splice

    def counted(self, column, new, pen):
        nonlocal put
        put += len(new)
        return splice(self, column, new, pen)

    with monkeypatch.context() as patch:
        patch.setattr(ScreenLine, "_splice", counted)
        OutputScreen(height=1).feed(text)
    return put


@pytest.mark.parametrize(
    "again",
    ["\x1b[1K", "\x1b[1K\b", "\x1b[1K\b\b\bx", "\x1b[1J", "\x1b[1Ka\b"],
    ids=["erased again", "backwards", "with text", "display", "in the same place"],
)
def test_erasing_costs_what_it_changes(again, monkeypatch):
    """A row of 60,000 columns, erased up to the cursor a thousand times: each time anew, that was 60 million cells."""
    text = "x" * 60_000 + "\b\b\b" + again * 1000
    assert cells_put(text, monkeypatch) < 3 * len(text)


def test_what_was_erased_and_written_since_is_erased_again():
    """How much is known to be blank is forgotten where text, marks, insertions and deletions come back to it."""
    erased = "abcdefgh\x1b[3D\x1b[1K"
    assert shown(erased) == ["      gh"]
    assert shown(f"{erased}\rX\x1b[4C\x1b[1K") == ["      gh"]
    assert shown(f"{erased}\x1b[4D\u0308\x1b[4C\x1b[1K") == ["      gh"]
    assert shown(f"{erased}\r\x1b[3P\x1b[3C\x1b[1K") == ["    h"]
    assert shown(f"{erased}\r\x1b[2@XY\x1b[5C\x1b[1K") == ["        gh"]
    assert shown(f"{erased}\x1b[3D\x1b[KXY\x1b[1K") == []


def test_a_wide_row_that_was_erased_is_not_filled_with_blanks_again_and_again(monkeypatch):
    """Beyond column 4096 there is no terminal: the cursor goes back there when nothing is left of such a row."""
    again = "\x1b[2Kx\by"
    assert cells_put("x" * 60_000 + again * 100, monkeypatch) < 100 * 5000
    assert shown("x" * 60_000 + "\x1b[2Ky") == [" " * 4096 + "y"]
    assert shown("x" * 4000 + "\x1b[2Ky") == [" " * 4000 + "y"]
