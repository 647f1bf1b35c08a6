"""A long answer streamed onto real terminals: every line there once, in order, at little more than its own bytes."""

import re
from collections.abc import Iterator

import pytest

from sightline.testing.documents import mixed_markdown
from sightline.testing.emulators import KINDS, Kind, open_emulator
from sightline.tty.components._markdown import Markdown
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.theme._theme import theme_for
from tests.tty.glass import Chrome, Glass, first_difference, letters, plain

LINES, PIECE_COUNT = 2310, 2000
COLUMNS, ROWS = 100, 30
TEXT = mixed_markdown()
THEME = theme_for(dark=True, depth="256")
MARKER = re.compile(r"m\d{5}")
MARKERS = MARKER.findall(TEXT)
SIZE = -(-len(TEXT) // PIECE_COUNT)
PIECES = [TEXT[start : start + SIZE] for start in range(0, len(TEXT), SIZE)]

pytestmark = pytest.mark.slow


class Stream:
    """A message arriving piece by piece above a spinner and an input box."""

    def __init__(self, kind: Kind) -> None:
        self.emulator = open_emulator(kind, COLUMNS, ROWS)
        self.glass = Glass(self.emulator)
        self.message = Markdown(theme=THEME)
        self.chrome = Chrome()
        self.transcript = BlockColumn()
        self.display = self.glass.display()
        self.display.add(self.transcript)
        self.display.add(self.chrome)

    def run(self, pieces_per_frame: int) -> None:
        self.transcript.append(self.message, live=True)
        for number, piece in enumerate(PIECES, start=1):
            self.message.append(piece)
            if number % pieces_per_frame == 0:
                self.draw()
            if number % 17 == 0:  # 12.5 a second, when 210 pieces arrive in one
                self.chrome.tick()
        self.message.finish()
        self.transcript.finish(self.message)
        self.draw()

    def draw(self) -> None:
        self.display.request_render()
        self.display.render_now()


@pytest.fixture(params=KINDS)
def stream(request: pytest.FixtureRequest) -> Iterator[Stream]:
    stream = Stream(request.param)
    yield stream
    stream.emulator.close()


def final_rows() -> list[str]:
    """The whole message rendered at once."""
    message = Markdown(TEXT, theme=THEME)
    message.finish()
    return list(message.render(COLUMNS))


def test_the_text_is_what_the_measure_says() -> None:
    """200 KB in 2,310 lines and 2,000 pieces, with markers that are all different."""
    assert TEXT.count("\n") == LINES
    assert 190_000 <= len(TEXT.encode()) <= 215_000
    assert len(PIECES) == pytest.approx(PIECE_COUNT, abs=20)
    assert len(set(MARKERS)) == len(MARKERS) > 1500


@pytest.mark.parametrize("pieces_per_frame", [1, 7])
def test_every_line_is_on_the_tape_exactly_once(stream: Stream, pieces_per_frame: int) -> None:
    """A frame for each piece, and one for seven (30 frames a second): the tape is that of a single full rendering."""
    stream.run(pieces_per_frame)
    rows = final_rows()
    tape = stream.emulator.tape()
    shown = tape.text[: -Chrome.HEIGHT]
    assert MARKER.findall("\n".join(tape.rows)) == MARKERS
    assert first_difference(letters(shown), letters([plain(row) for row in rows])) == ""
    assert shown == [plain(row) for row in rows]
    assert tape.text[-Chrome.HEIGHT :] == [plain(row) for row in stream.chrome.render(COLUMNS)]
    assert tape.wrapped == frozenset()


@pytest.mark.parametrize(("pieces_per_frame", "alone"), [(1, True), (7, False)], ids=["each-piece", "30-a-second"])
def test_streaming_writes_little_more_than_the_rows(stream: Stream, pieces_per_frame: int, alone: bool) -> None:
    """At most 1.25 times the bytes of the final rows: by itself with a frame for each piece, and above a spinner and an
    input box at the frame rate there is."""
    if alone:
        stream.display.remove(stream.chrome)
    stream.run(pieces_per_frame)
    ratio = stream.glass.bytes_written / len("\n".join(final_rows()).encode())
    assert ratio <= 1.25


def test_ordinary_updates_never_jump_or_erase_the_screen(stream: Stream) -> None:
    """No absolute position, no erasing of screen or scrollback: readers who scrolled up stay where they are."""
    stream.run(7)
    assert stream.glass.forbidden == []
