"""A view over the whole screen, and another size meanwhile: once it is closed the scrollback has nothing of it."""

from collections.abc import Callable, Iterator

import pytest

from sightline.testing.emulators import Emulator, TmuxEmulator, open_emulator
from sightline.tty._component import Component, Rows
from sightline.tty.components._transcript import BlockColumn
from sightline.tty.frame._display import Display
from sightline.tty.frame._overlays import Overlay
from tests.tty.glass import Chrome, Glass, first_difference, letters, prompts
from tests.tty.pty_child import on_pty, restored
from tests.tty.support import Words

pytestmark = pytest.mark.slow

COLUMNS, ROWS = 110, 30
WHOLE = Overlay(anchor="top-left", whole=True)
SIZES: dict[str, list[tuple[int, int]]] = {
    "none": [],
    "narrower": [(60, ROWS)],
    "wider": [(160, ROWS)],
    "lower": [(COLUMNS, 12)],
    "higher": [(COLUMNS, 50)],
    "narrower and lower": [(60, 12)],
    "wider and higher": [(160, 50)],
    "there and back": [(60, ROWS), (COLUMNS, ROWS)],
    "several": [(60, 20), (140, 45), (33, 9), (90, 30)],
}


class View(Component):
    """Rows from edge to edge, as many as the screen has."""

    def __init__(self, glass: Glass) -> None:
        self._glass = glass

    def render(self, width: int) -> Rows:
        return tuple(f"view {number} ".ljust(width, "#") for number in range(self._glass.size[1]))


class Session:
    """Paragraphs above chrome."""

    def __init__(self, emulator: Emulator) -> None:
        self.glass = Glass(emulator)
        self.display: Display = self.glass.display()
        self.transcript = BlockColumn()
        self.display.add(self.transcript)
        self.display.add(Chrome())
        self.paragraphs: list[str] = []

    def write(self, count: int) -> None:
        for number in range(len(self.paragraphs), len(self.paragraphs) + count):
            self.paragraphs.append(f"n{number:04d} " + "some words of a row " * (1 + number % 9))
            block = Words(*self.paragraphs[-1].split())
            self.transcript.append(block, live=True)
            self.draw()
            self.transcript.finish(block)
        self.draw()

    def draw(self) -> None:
        self.display.request_render()
        self.display.render_now()

    def resize(self, columns: int, rows: int) -> None:
        self.glass.emulator.resize(columns, rows)
        self.glass.has_new_size(self.display)

    def has_paragraphs_once(self) -> None:
        tape = self.glass.emulator.tape()
        assert first_difference(letters(tape.rows), letters(self.paragraphs)) == ""
        assert prompts(tape) == 1
        assert tape.text[-1].startswith("›")


@pytest.fixture(params=["tmux", "xterm", "ghostty"])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    emulator = open_emulator(request.param, COLUMNS, ROWS)
    yield Session(emulator)
    emulator.close()


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
def test_s1_a_closed_view_leaves_nothing_behind(session: Session, sizes: list[tuple[int, int]]) -> None:
    """Not in the scrollback either, whatever sizes the terminal had; and what came meanwhile is there once."""
    session.write(40)
    view = session.display.show_overlay(View(session.glass), WHOLE)
    session.draw()
    for columns, rows in sizes:
        session.resize(columns, rows)
        session.write(3)
        assert session.glass.emulator.screen()[0].startswith("view 0 ")
        assert session.glass.emulator.screen()[-1].startswith(f"view {rows - 1} ")
    session.write(3)
    view.hide()
    session.draw()
    session.has_paragraphs_once()
    session.write(20)
    session.has_paragraphs_once()


@pytest.mark.parametrize("release", [Display.pause, Display.stop], ids=["lent", "ended"])
@pytest.mark.parametrize("sizes", [[], [(60, 12)]], ids=["same size", "another size"])
def test_leaving_below_a_view_leaves_the_paragraphs(
    session: Session, release: Callable[[Display], None], sizes: list[tuple[int, int]]
) -> None:
    """The terminal is given to something else, or for good, while a view is open."""
    session.write(40)
    session.display.show_overlay(View(session.glass), WHOLE)
    session.draw()
    for columns, rows in sizes:
        session.resize(columns, rows)
    session.write(3)
    release(session.display)
    assert first_difference(letters(session.glass.emulator.tape().rows), letters(session.paragraphs)) == ""


def test_a_view_opened_again_after_the_terminal_was_lent(session: Session) -> None:
    """It is still there, and closed it leaves nothing."""
    session.write(40)
    view = session.display.show_overlay(View(session.glass), WHOLE)
    session.draw()
    session.display.pause()
    session.display.resume()
    session.draw()
    assert session.glass.emulator.screen()[0].startswith("view 0 ")
    session.resize(60, ROWS)
    view.hide()
    session.draw()
    session.has_paragraphs_once()


def test_a_size_that_was_not_drawn_yet_when_a_view_opens(session: Session) -> None:
    """The size changed, and before a frame was drawn for it the view is there."""
    session.write(40)
    session.glass.emulator.resize(60, 20)
    session.glass.size = session.glass.emulator.size
    session.display.resized()
    view = session.display.show_overlay(View(session.glass), WHOLE)
    session.draw()
    session.write(3)
    view.hide()
    session.draw()
    session.has_paragraphs_once()


def test_a_tmux_without_an_alternate_screen_shows_the_view_and_the_paragraphs(session: Session) -> None:
    """It can be switched off there. Then the view is drawn in the window, and taken off it again."""
    emulator = session.glass.emulator
    if isinstance(emulator, TmuxEmulator):
        emulator._control.ask("set -g alternate-screen off")
    session.write(40)
    view = session.display.show_overlay(View(session.glass), WHOLE)
    session.draw()
    session.write(3)
    assert emulator.screen()[0].startswith("view 0 ")
    view.hide()
    session.draw()
    session.has_paragraphs_once()


PROGRAM = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
from sightline.tty import Component, Overlay, run_application

class View(Component):
    last = "none"
    def render(self, width):
        if self.last == "r": raise RuntimeError("cannot be drawn")
        return ("last: " + self.last, "view")
    def handle_input(self, event):
        self.last = str(event)
        if self.last == "e": application.exit(7)
        if self.last == "s":
            for _ in range(2): os.kill(os.getpid(), 15)
            while True: pass
        return True

def start(started):
    global application
    application = started
    application.display.show_overlay(View(), Overlay(anchor="top-left", whole=True))

sys.exit(run_application(start))
"""


@pytest.mark.parametrize(
    ("key", "code"), [(b"e", 7), (b"r", 1), (b"s", -15)], ids=["exit", "an exception", "stuck, and two signals"]
)
def test_every_end_brings_the_normal_screen_back(key: bytes, code: int) -> None:
    """However the program ends while a view is open, the shell has the screen it had."""
    with on_pty(PROGRAM, prologue="", environment={"TERM": "tmux-256color"}) as child:
        child.until(b"last: none")
        assert b"\x1b[?1049h" in child.written
        child.type(key)
        assert child.wait() == code
        assert child.written.rfind(b"\x1b[?1049l") > child.written.rfind(b"\x1b[?1049h")
        assert restored(child.written)
