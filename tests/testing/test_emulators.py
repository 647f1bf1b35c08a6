"""The emulators behind one interface: what is written shows, scrolls, wraps and is answered as in a terminal."""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from sightline.testing import emulators
from sightline.testing.emulators import KINDS, Cell, Emulator, Kind, TmuxEmulator, XtermEmulator, open_emulator
from sightline.testing.emulators import _install as installation

Opener = Callable[..., Emulator]
FAMILY = "👨‍👩‍👧"


@pytest.fixture
def opened() -> Iterator[Opener]:
    """Opens emulators and closes them in the end."""
    terminals: list[Emulator] = []

    def opener(kind: Kind, columns: int = 20, rows: int = 5, scrollback: int = 1000) -> Emulator:
        terminals.append(open_emulator(kind, columns, rows, scrollback))
        return terminals[-1]

    yield opener
    for terminal in terminals:
        terminal.close()


@pytest.fixture(params=KINDS)
def terminal(request: pytest.FixtureRequest, opened: Opener) -> Emulator:
    return opened(request.param)


@pytest.fixture
def tmux(opened: Opener) -> TmuxEmulator:
    terminal = opened("tmux", 40, 12)
    assert isinstance(terminal, TmuxEmulator)
    return terminal


def test_rows_that_leave_the_screen_are_on_the_tape(terminal: Emulator) -> None:
    """The tape is scrollback and screen as one list, blanks at row ends left out."""
    terminal.write("".join(f"line {number}   \r\n" for number in range(10)))
    tape = terminal.tape()
    assert tape.text == [f"line {number}" for number in range(10)]
    assert tape.scrollback == 6
    assert tape.screen == terminal.screen() == ["line 6", "line 7", "line 8", "line 9", ""]
    assert tape.cursor == terminal.cursor() == (0, 4)


def test_what_runs_out_of_columns_goes_on_in_the_next_row(terminal: Emulator) -> None:
    """A row that continues the one before it is marked as such."""
    terminal.write("short\r\n" + "abcdefghij" * 3 + "\r\nend")
    tape = terminal.tape()
    assert tape.text == ["short", "abcdefghij" * 2, "abcdefghij", "end"]
    assert tape.wrapped == {2}


def test_writing_and_reading_the_end_of_the_tape_is_one_request(terminal: Emulator) -> None:
    """Rows before the wanted one are counted, not sent."""
    terminal.write("".join(f"line {number}\r\n" for number in range(10)))
    assert terminal.feed("more", first=8).rows == ["line 8", "line 9", "more"]
    tape = terminal.feed(" and more", first=-2)
    assert (tape.first, tape.scrollback, tape.rows[0]) == (4, 6, "line 4")
    assert tape.screen[-1] == "more and more"
    assert terminal.feed("", first=99).rows == []


def test_a_wider_terminal_joins_what_was_wrapped(terminal: Emulator) -> None:
    """All three reflow on resize, scrollback included."""
    terminal.write("abcdefghij" * 3 + "\r\n" + "next\r\n" * 6)
    assert terminal.tape().text[:2] == ["abcdefghij" * 2, "abcdefghij"]
    terminal.resize(40, 4)
    assert terminal.size == (40, 4)
    assert terminal.tape().text == ["abcdefghij" * 3, *["next"] * 6]
    terminal.resize(10, 6)
    assert terminal.tape().text == [*["abcdefghij"] * 3, *["next"] * 6]


def test_queries_are_answered_in_order(terminal: Emulator) -> None:
    """An answer is handed out once; the driver's own questions stay out of sight."""
    terminal.write("\x1b[5n")
    terminal.write("ab\x1b[6n\x1b[5n")
    assert terminal.replies() == b"\x1b[0n\x1b[1;3R\x1b[0n"
    assert terminal.replies() == b""


def test_a_question_may_come_in_two_writes(terminal: Emulator) -> None:
    """Bytes that end inside a sequence or a character are completed by the next write."""
    for part in (
        b"\x1b",
        b"[",
        b"6n\x1b[5",
        b"n",
        "中".encode()[:1],
        "中".encode()[1:],
        b"\x1b]0;ti",
        b"tle\x1b",
        b"\\z",
    ):
        terminal.write(part)
    assert terminal.screen()[0] == "中z"
    assert terminal.replies() == b"\x1b[1;1R\x1b[0n"


@pytest.mark.parametrize("kind", ["xterm", "tmux"])
def test_a_terminal_says_what_it_is(kind: Kind, opened: Opener) -> None:
    """Device attributes are answered by all but ghostty's core, which leaves them to its program."""
    terminal = opened(kind)
    terminal.write("\x1b[c")
    assert terminal.replies() == b"\x1b[?1;2c"


def test_cells_know_their_style(terminal: Emulator) -> None:
    """Named colours are numbers, other colours RGB, the default is None."""
    terminal.write("\x1b[1;31mA\x1b[22;2;92mB\x1b[0;3;4;7;9mC\x1b[0;38;5;196;48;2;1;2;3mD\x1b[0mE\x1b[38;5;250mF")
    assert terminal.cells(0)[:7] == [
        Cell("A", bold=True, fg=1),
        Cell("B", dim=True, fg=10),
        Cell("C", italic=True, underline=True, inverse=True, strike=True),
        Cell("D", fg="#ff0000", bg="#010203"),
        Cell("E"),
        Cell("F", fg="#bcbcbc"),
        Cell(),
    ]
    assert len(terminal.cells(0)) == 20


def test_blanks_know_their_background(terminal: Emulator) -> None:
    """Spaces in a colour are cells like others, though no part of the row's text."""
    terminal.write("\x1b[44mblue  \x1b[0m")
    assert [cell.bg for cell in terminal.cells(0)[:8]] == [4] * 6 + [None] * 2
    assert terminal.screen()[0] == "blue"


def test_a_family_is_one_character_of_two_columns(terminal: Emulator) -> None:
    """Joined emoji measure as the engine measures them (in xterm thanks to the grapheme addon)."""
    terminal.write(FAMILY + "中é")
    assert terminal.cursor() == (5, 0)
    assert terminal.screen()[0] == FAMILY + "中é"
    assert [(cell.text, cell.width) for cell in terminal.cells(0)[:5]] == [
        (FAMILY, 2),
        ("", 0),
        ("中", 2),
        ("", 0),
        ("é", 1),
    ]


def test_clusters_survive_in_scrollback(terminal: Emulator) -> None:
    """What is read back from history is what was written."""
    terminal.write(f"{FAMILY} 🇨🇭 हि\r\n" + "\r\n" * 8)
    assert terminal.tape().rows[0] == f"{FAMILY} 🇨🇭 हि"


def test_modes_are_seen(terminal: Emulator) -> None:
    """What a program must put back when it ends can be checked."""
    before = terminal.modes()
    terminal.write("\x1b[?7l\x1b[?25l\x1b[?2004h")
    after = terminal.modes()
    assert (before.autowrap, before.cursor_visible, after.autowrap, after.cursor_visible) == (True, True, False, False)
    assert (before.bracketed_paste, after.bracketed_paste) in [(False, True), (None, None)]


def test_a_reader_who_scrolled_up_keeps_his_rows(opened: Opener) -> None:
    """xterm leaves the viewport where the reader put it while output goes on below."""
    terminal = opened("xterm")
    assert isinstance(terminal, XtermEmulator)
    terminal.write("".join(f"line {number}\r\n" for number in range(20)))
    terminal.scroll_up(10)
    assert terminal.viewport() == (6, [f"line {number}" for number in range(6, 11)])
    terminal.write("more\r\n" * 3)
    assert terminal.viewport() == (6, [f"line {number}" for number in range(6, 11)])
    terminal.scroll_up(-13)
    assert terminal.viewport()[0] == terminal.tape().scrollback


@pytest.mark.parametrize("kind", ["xterm", "tmux"])
def test_scrollback_has_a_limit(kind: Kind, opened: Opener) -> None:
    """With little room the oldest rows are gone, as in a terminal with that setting."""
    terminal = opened(kind, scrollback=10)
    terminal.write("".join(f"line {number}\r\n" for number in range(100)))
    assert terminal.tape().scrollback == 10
    assert terminal.tape().rows[0] == "line 86"


def test_a_new_terminal_shows_nothing_of_an_old_one(opened: Opener) -> None:
    """Ghostty's core does not clear what it frees; each terminal has memory of its own."""
    first = opened("ghostty", 80, 24)
    first.write("old text\r\n" * 5000)
    first.close()
    second = opened("ghostty", 80, 24)
    second.write("\r\n" * 30)
    assert second.tape().text == []


def test_a_pane_shares_its_window(tmux: TmuxEmulator) -> None:
    """Split, zoom and the end of the other pane change the pane's size as tmux does it; its text stays."""
    tmux.write("hello")
    tmux.split()
    assert tmux.size == (40, 6)
    tmux.zoom()
    assert tmux.size == (40, 12)
    tmux.zoom()
    assert tmux.size == (40, 6)
    tmux.kill_split()
    tmux.split(beside=True)
    assert tmux.size == (20, 12)
    tmux.kill_split()
    assert tmux.size == (40, 12)
    assert tmux.tape().text == ["hello"]


def test_a_window_follows_the_client_that_attaches(tmux: TmuxEmulator) -> None:
    """Detached, the window keeps its size; the next client brings another one."""
    tmux.write("abcdefghij" * 6)
    tmux.attach(60, 20)
    assert tmux.size == (60, 20)
    assert tmux.tape().text == ["abcdefghij" * 6]
    tmux.detach()
    tmux.write("\r\nmeanwhile")
    assert tmux.size == (60, 20)
    tmux.attach(30, 10)
    assert tmux.tape().text == ["abcdefghij" * 3, "abcdefghij" * 3, "meanwhile"]
    tmux.resize(50, 8)
    assert tmux.size == (50, 8)


def test_a_tmux_server_ends_with_its_emulator(opened: Opener) -> None:
    """No process is left, those in split panes included."""
    terminal = opened("tmux")
    assert isinstance(terminal, TmuxEmulator)
    terminal.split()
    terminal.attach(30, 10)
    server = psutil.Process(terminal.server_pid())
    family = [server, *server.children(recursive=True)]
    assert len(family) == 3
    terminal.close()
    assert psutil.wait_procs(family, timeout=90)[1] == []


@pytest.mark.needs("tmux")
@pytest.mark.parametrize("busy", ["", "t._control._process.stdin.write(b'capture-pane -p -S -\\n' * 99)"])
def test_a_tmux_server_ends_when_its_test_is_killed(busy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Even a process that could not clean up leaves nothing running and no files, unread answers or not."""
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    program = (
        "from sightline.testing.emulators import open_emulator as o\n"
        f"t = o('tmux'); t.split(); t.write('text\\r\\n' * 5000); pid = t.server_pid(); {busy or 'pass'}\n"
        "t._control._process.stdin.flush(); print(pid, flush=True); input()"
    )
    child = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    assert child.stdin is not None
    server = psutil.Process(int(child.stdout.readline()))
    family = [server, *server.children(recursive=True), *psutil.Process(child.pid).children()]
    child.kill()
    child.wait()
    child.stdin.close()
    child.stdout.close()
    assert psutil.wait_procs(family, timeout=90)[1] == []
    assert list(tmp_path.glob("sightline-tmux-*")) == []


@pytest.mark.parametrize("kind", ["xterm", "ghostty"])
def test_an_operation_is_quick(kind: Kind, opened: Opener) -> None:
    """A write of some hundred bytes and the look at what changed take well under a millisecond of a quiet machine."""
    terminal = opened(kind, 80, 24)
    durations = []
    for number in range(300):
        start = time.perf_counter()
        terminal.feed(f"line {number} " + "x" * 300 + "\r\n", first=-2)
        durations.append(time.perf_counter() - start)
    assert sorted(durations)[len(durations) // 2] < 0.003


def test_a_request_that_fails_says_so(opened: Opener) -> None:
    """The node process survives, and so do the other terminals."""
    terminal = opened("xterm")
    with pytest.raises(emulators.EmulatorError, match="cells"):
        terminal.cells(99)
    assert terminal.feed("still here").text == ["still here"]


def test_installing_needs_node(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The error names what is missing and which version is needed."""
    monkeypatch.setattr(installation, "cache_folder", lambda: tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(emulators.EmulatorError, match="node is not installed; the emulators need node 20"):
        emulators.ensure()


def test_what_is_installed_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """With the pinned versions in the cache neither node nor a network is needed."""
    folder = emulators.ensure()
    monkeypatch.setenv("PATH", str(tmp_path))
    said: list[str] = []
    assert emulators.ensure(said.append) == folder
    assert said == [f"emulators: installed in {folder}"]


def test_every_package_is_pinned_by_its_hash() -> None:
    """The lock file has an integrity hash for each package and names no registry."""
    lock = (Path(emulators.__file__).parent / "package-lock.json").read_text()
    assert lock.count('"integrity": "sha512-') == lock.count('"node_modules/') == 3
    assert "://" not in lock


def test_a_forked_child_has_an_emulator_process_of_its_own(opened: Opener) -> None:
    """Parent and child do not read each other's answers."""
    terminal = opened("xterm")
    terminal.write("parent")
    child = os.fork()
    if child == 0:
        shown = open_emulator("xterm").feed("child").text
        os._exit(0 if shown == ["child"] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert terminal.screen()[0] == "parent"
