"""tmux gets narrower while something is still changing: what it pushed into its history by itself stands there once."""

import random
import re
from collections.abc import Iterator

import msgspec
import pytest

from sightline.testing.emulators import Emulator, TmuxEmulator, open_emulator
from sightline.testing.fidelity import Case, failure_of
from sightline.tty._component import CURSOR, Component, Rows
from sightline.tty.components._markdown import Markdown
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from tests.tty.glass import Glass
from tests.tty.support import Lines

pytestmark = pytest.mark.slow

COLUMNS, ROWS = 100, 24

IN_TMUX = '{"emulator":"tmux","columns":%d,"rows":%d,"layout":"transcript","synchronized":true,"hardware_cursor":%s}'
A_FLAG_IN_A_FULL_ROW = (
    '{"seed":5511,"world":' + IN_TMUX % (60, 10, "false") + ',"operations":[{"do":"begin","seed":129236075,"size":3},'
    '{"do":"append","seed":3344990924},{"do":"finish_all","seed":1},{"do":"append","seed":305599003},'
    '{"do":"split","seed":4179906421}]}'
)
A_HEART_BEFORE_THE_CURSOR = (
    '{"seed":280,"world":' + IN_TMUX % (27, 24, "true") + ',"operations":[{"do":"edit","seed":2041765127},'
    '{"do":"edit","seed":3633808998},{"do":"move_cursor","seed":751668416},'
    '{"do":"append","seed":678299463,"size":3}]}'
)


class Chrome(Component):
    """A spinner, an editor between two lines, a status row."""

    def render(self, width: int) -> Rows:
        return ("", "⠋ …", "─" * width, f"› {CURSOR}", "─" * width, "status"[:width])


class Narrowing:
    """Something live above chrome, in tmux."""

    def __init__(self, tmux: Emulator, live: Component) -> None:
        self.glass = Glass(tmux)
        self.display: Display = self.glass.display()
        self.transcript, self.live = BlockColumn(), live
        self.transcript.append(live, live=True)
        self.display.add(self.transcript)
        self.display.add(Chrome())
        self.draw()

    def draw(self) -> None:
        self.display.request_render()
        self.display.render_now()

    def resize(self, columns: int, rows: int = ROWS) -> None:
        self.glass.emulator.resize(columns, rows)
        self.glass.has_new_size(self.display)

    def finish(self) -> None:
        self.transcript.finish(self.live)
        self.draw()

    @property
    def words(self) -> list[str]:
        """Also those that tmux broke in two."""
        return re.findall(r"w\d{3}", "".join(self.glass.emulator.tape().rows))


@pytest.fixture
def tmux() -> Iterator[Emulator]:
    emulator = open_emulator("tmux", COLUMNS, ROWS)
    yield emulator
    emulator.close()


@pytest.mark.parametrize("seed", range(8))
def test_words_that_stream_stand_there_once_when_it_gets_narrower(tmux: Emulator, seed: int) -> None:
    """A paragraph that is not final before it ends, pushed out of a window that it does not fill."""
    rng = random.Random(seed)
    words = [f"w{number:03d}" for number in range(330)]
    message = Markdown()
    screen = Narrowing(tmux, message)
    narrow = rng.randrange(60, 150)
    pushed = 0
    for number, word in enumerate(words):
        message.append(word + ("\n\n" if number in (40, 165, 200) else " "))
        screen.draw()
        if number == narrow:
            screen.resize(rng.randrange(40, 60))
            pushed = screen.display._ledger.committed - screen.display._ledger.firm
    message.finish()
    screen.finish()
    assert pushed or narrow < 90, "rows that could still change went to history"
    assert screen.words == words


def test_sizes_that_follow_each_other_count_as_the_last(tmux: Emulator) -> None:
    """tmux tells of the last one only."""
    words = [f"w{number:03d}" for number in range(150)]
    message = Markdown(" ".join(words[:120]))
    screen = Narrowing(tmux, message)
    for columns in (90, 45, 70):
        tmux.resize(columns, ROWS)
    screen.resize(60)
    message.append(" " + " ".join(words[120:]))
    message.finish()
    screen.finish()
    assert screen.words == words


def test_a_row_that_changes_after_it_was_pushed_is_written_again(tmux: Emulator) -> None:
    """Doubled from there, never lost: its last state is what counts."""
    assert isinstance(tmux, TmuxEmulator)
    rows = ["head w000", "running w001", *(f"w{number:03d}" for number in range(2, 12))]
    live = Lines(*rows)
    screen = Narrowing(tmux, live)
    screen.resize(COLUMNS, 9)
    assert screen.display._ledger.firm < 2 < screen.display._ledger.committed
    assert len(screen.words) == len(set(screen.words)), "nothing has changed: nothing is doubled"
    live.set(["head w000", "done w001", *rows[2:]])
    screen.draw()
    screen.finish()
    tape = [row for row in tmux.tape().rows if row]
    assert tape.count("head w000") == 1
    assert tape[tape.index("done w001") :][:11] == ["done w001", *rows[2:]]


@pytest.mark.parametrize("case", [A_FLAG_IN_A_FULL_ROW, A_HEART_BEFORE_THE_CURSOR], ids=["flag", "heart"])
def test_clusters_tmux_counts_differently_displace_nothing(case: str) -> None:
    """A flag it breaks in two at the end of a row, a heart of one cell at the end of what is written."""
    assert failure_of(msgspec.json.decode(case, type=Case)) is None
