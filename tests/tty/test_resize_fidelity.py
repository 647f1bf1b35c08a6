"""Another size, while text streams and after it: on real terminals every paragraph stays there once.

Outside a multiplexer the history is written anew, so the tape is that of a terminal which always had the last size. A
multiplexer keeps its history as it was wrapped: there the letters and digits on the tape are compared, which no
wrapping changes, and the chrome must be there once.
"""

import re
from collections.abc import Callable, Iterator

import pytest

from sightline.testing.emulators import Emulator, Kind, TmuxEmulator, open_emulator
from sightline.tty._component import Component, Rows
from sightline.tty.cells._width import wrap
from sightline.tty.components._markdown import Markdown
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from tests.tty.glass import Chrome, Glass, first_difference, letters, plain, prompts

COUNT = 1000
ROWS = 30
SENTENCE = "the quick brown fox jumps over lazy dogs while seven wizards quietly brew more jovial coffee"
WORDS = SENTENCE.split()
WIDE_WORDS = ["漢字仮名交じり文の長い行を折り返す", "端末", "naïve", "중국어", "fox", "🚀"]

Step = Callable[[], None]

pytestmark = pytest.mark.slow


def paragraph(number: int, words: list[str]) -> str:
    """A numbered paragraph of 12 to 51 words."""
    chosen = [words[(number * 7 + place * 3) % len(words)] for place in range(12 + number * 11 % 40)]
    return f"n{number:04d} {' '.join(chosen)}."


class Paragraph(Component):
    """Wrapped text."""

    def __init__(self) -> None:
        self._text = ""
        self._width = -1
        self._rows: Rows = ()

    def append(self, text: str) -> None:
        self._text += text
        self._width = -1

    def render(self, width: int) -> Rows:
        if width != self._width:
            self._width, self._rows = width, wrap(self._text, width)
        return self._rows


class Session:
    """A transcript with chrome below, on an emulator: every paragraph is a block that is finished when it is whole."""

    def __init__(self, emulator: Emulator) -> None:
        self.words = WORDS
        self.count = 0
        self.glass = Glass(emulator)
        self.transcript = BlockColumn()
        self.chrome = Chrome()
        self.display: Display = self.glass.display()
        self.display.add(self.transcript)
        self.display.add(self.chrome)

    def stream(self, end: int) -> None:
        """Write paragraphs until there are `end`, each in two parts and so in two frames or more."""
        for number in range(self.count, end):
            self.write(paragraph(number, self.words))
            self.chrome.tick()
        self.count = end
        self.draw()

    def write(self, text: str) -> None:
        block = Paragraph()
        self.transcript.append(block, live=True)
        for part in (text[: len(text) // 2], text[len(text) // 2 :]):
            block.append(part)
            self.draw()
        self.transcript.finish(block)

    def end(self) -> None:
        """Nothing more will be written."""

    def draw(self) -> None:
        self.display.request_render()
        self.display.render_now()

    def resized(self) -> None:
        self.glass.has_new_size(self.display)

    def expected_rows(self, columns: int) -> list[str]:
        """What the transcript would be, had it always had this width."""
        rows: list[str] = []
        for number in range(self.count):
            rows += ["", *wrap(paragraph(number, self.words), columns)]
        return rows[1:]


class LongMessage(Session):
    """All paragraphs are one message, which streams to the end."""

    def __init__(self, emulator: Emulator) -> None:
        super().__init__(emulator)
        self._message = Markdown()
        self.transcript.append(self._message, live=True)

    def write(self, text: str) -> None:
        for part in (text[: len(text) // 2], text[len(text) // 2 :], "\n\n"):
            self._message.append(part)
            self.draw()

    def end(self) -> None:
        self._message.finish()
        self.transcript.finish(self._message)
        self.draw()

    def expected_rows(self, columns: int) -> list[str]:
        text = "\n\n".join(paragraph(number, self.words) for number in range(self.count))
        return list(Markdown(text).render(columns))


def numbers(rows: list[str]) -> list[int]:
    return [int(number) for number in re.findall(r"n(\d{4})", " ".join(rows))]


def assert_exactly_once(session: Session) -> None:
    """Every paragraph once and in order, to the letter; one input box, at the end."""
    tape = session.glass.emulator.tape()
    expected = letters([paragraph(number, session.words) for number in range(session.count)])
    assert first_difference(letters(tape.rows), expected) == ""
    assert prompts(tape) == 1
    assert tape.text[-1].startswith("›")


def assert_like_new(session: Session) -> None:
    """Row for row the tape of a terminal that always had this size."""
    columns, _ = session.glass.size
    tape = session.glass.emulator.tape()
    assert numbers(tape.rows) == list(range(session.count))
    assert tape.text[: -Chrome.HEIGHT] == [plain(row) for row in session.expected_rows(columns)]
    assert tape.text[-Chrome.HEIGHT :] == [plain(row) for row in session.chrome.render(columns)]


@pytest.fixture(params=[Session, LongMessage], ids=["blocks", "message"])
def kind_of_session(request: pytest.FixtureRequest) -> type[Session]:
    kind: type[Session] = request.param
    return kind


@pytest.fixture
def session(request: pytest.FixtureRequest, kind_of_session: type[Session]) -> Iterator[Session]:
    kind: Kind = getattr(request, "param", "tmux")
    emulator = open_emulator(kind, 100, ROWS)
    yield kind_of_session(emulator)
    emulator.close()


outside_multiplexers = pytest.mark.parametrize("session", ["xterm", "ghostty"], indirect=True)


@outside_multiplexers
def test_resize_while_streaming_keeps_every_paragraph_once(session: Session) -> None:
    """100 → 80 → 100 columns with paragraphs arriving before, between and after."""
    session.stream(400)
    for columns, end in ((80, 700), (100, COUNT)):
        session.glass.emulator.resize(columns, ROWS)
        session.resized()
        session.stream(end)
    assert_like_new(session)


@outside_multiplexers
def test_resize_after_streaming_keeps_every_paragraph_once(session: Session) -> None:
    """100 → 80 → 100 columns below a thousand paragraphs; the tape is right at each of the sizes."""
    session.stream(COUNT)
    session.end()
    for columns in (80, 100):
        session.glass.emulator.resize(columns, ROWS)
        session.resized()
        assert_like_new(session)


@outside_multiplexers
def test_a_frame_that_crosses_a_resize_does_no_lasting_harm(session: Session) -> None:
    """Bytes for the old size may arrive after the terminal has the new one; the next frame puts it right."""
    session.stream(500)
    for columns, end in ((80, 750), (100, COUNT)):
        session.glass.emulator.resize(columns, ROWS)
        session.stream(end)
        session.resized()
    assert_like_new(session)


@outside_multiplexers
def test_a_storm_of_sizes_ends_as_if_the_last_had_always_been(session: Session) -> None:
    """Wider, narrower, taller, shorter, with a paragraph between any two."""
    session.stream(COUNT - 20)
    for step in range(20):
        session.glass.emulator.resize(40 + step * 37 % 83, 8 + step * 13 % 31)
        session.resized()
        session.stream(COUNT - 19 + step)
    assert_like_new(session)


def gestures(tmux: TmuxEmulator) -> dict[str, list[Step]]:
    """What a person does with tmux, as the steps after each of which the program hears of a size."""
    return {
        "resize": [lambda: tmux.resize(80, ROWS), lambda: tmux.resize(100, ROWS)],
        "shorter and taller": [lambda: tmux.resize(100, 10), lambda: tmux.resize(100, 40)],
        "split and zoom": [tmux.split, tmux.zoom, tmux.zoom, tmux.kill_split],
        "split beside": [lambda: tmux.split(beside=True), tmux.zoom, tmux.zoom, tmux.kill_split],
        "reattach": [lambda: tmux.attach(80, 24), lambda: tmux.attach(120, 50), lambda: tmux.attach(100, ROWS)],
    }


every_gesture = pytest.mark.parametrize(
    "gesture", ["resize", "shorter and taller", "split and zoom", "split beside", "reattach"]
)


@every_gesture
def test_tmux_keeps_every_paragraph_once_while_streaming(session: Session, gesture: str) -> None:
    """Paragraphs arrive before, between and after the steps of a gesture."""
    tmux = session.glass.emulator
    assert isinstance(tmux, TmuxEmulator)
    steps = gestures(tmux)[gesture]
    part = COUNT // (len(steps) + 1)
    session.stream(part)
    for step in steps:
        step()
        session.resized()
        session.stream(session.count + part)
    session.stream(COUNT)
    assert_exactly_once(session)


@every_gesture
def test_tmux_keeps_every_paragraph_once_after_streaming(session: Session, gesture: str) -> None:
    """The steps of a gesture below a thousand paragraphs; the tape is right after each."""
    tmux = session.glass.emulator
    assert isinstance(tmux, TmuxEmulator)
    session.stream(COUNT)
    session.end()
    for step in gestures(tmux)[gesture]:
        step()
        session.resized()
        assert_exactly_once(session)


def test_tmux_keeps_every_paragraph_once_in_a_storm(session: Session) -> None:
    """Twenty sizes, with a paragraph between any two."""
    tmux = session.glass.emulator
    session.stream(COUNT - 20)
    for step in range(20):
        tmux.resize(40 + step * 37 % 83, 8 + step * 13 % 31)
        session.resized()
        session.stream(COUNT - 19 + step)
    assert_exactly_once(session)


@pytest.mark.parametrize("columns", [50, 33, 25, 17])
def test_tmux_keeps_wide_text_once_when_it_gets_narrower(session: Session, columns: int) -> None:
    """A wide character that does not fit a row's last column goes to the next: rows may take more room than cells."""
    session.words = WIDE_WORDS
    session.stream(40)
    session.glass.emulator.resize(columns, ROWS)
    session.resized()
    assert_exactly_once(session)
    session.stream(50)
    assert_exactly_once(session)
