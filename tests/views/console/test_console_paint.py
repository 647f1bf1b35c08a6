"""The console's first paint: what it imports, that nothing moves afterwards, and what becomes of keys."""

import asyncio
import contextlib
import json
import os
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sightline.cli import plain_flags
from sightline.journal import Store
from sightline.settings import Settings, StartOptions
from sightline.testing.emulators import open_emulator
from sightline.transcript import Snapshot
from sightline.tty import Application, Decoder, theme_for
from sightline.views.console._actions import bindings_from
from sightline.views.console._console import Console
from sightline.views.console._state import ConsoleState
from sightline.views.console.paint._console_paint import STARTING, ConsolePaint, as_json
from tests.tty.glass import Glass
from tests.tty.pty_child import on_pty, restored
from tests.views.console.test_first_paint import PROBE, modules


def test_what_is_imported_before_the_first_paint_of_the_console():
    """The whole set: nothing of the engine, the host, or the parser."""
    bare = modules("import os, sys; os.write(2, ' '.join(sys.modules).encode())")
    probe = PROBE.replace('"sightline", "gallery"', '"sightline", "--model", "m"').replace(
        "_first_paint._listen_while_loading = stop",
        "from sightline.views.console.paint import _console_paint\n"
        "def open_painted(screen, *_):\n    screen.paint()\n    stop(screen, None)\n    return 0\n"
        "_console_paint.open_painted = open_painted",
    )
    assert modules(probe) - bare == {
        "__future__",
        "gc",
        "termios",
        "sightline",
        "sightline._later",
        "sightline._working_folder",
        "sightline.cli",
        "sightline.views",
        "sightline.views.console",
        "sightline.views.console.paint",
        "sightline.views.console.paint._first_paint",
        "sightline.views.console.paint._console_paint",
        "sightline.views.console.input",
        "sightline.views.console.input._empty",
    }


def test_it_says_what_the_console_says():
    """The words are those of the parts that take over."""
    assert ConsoleState(Snapshot).note == STARTING


def taken_over(emulator, painted, tmp_path, wanted):
    """As the paint is taken over: what the screen shows before and after it, and what is in the editor then."""
    surface = Glass(emulator)
    surface.write(painted.paint())
    before = emulator.tape()

    async def main():
        display = surface.display()
        loop = asyncio.get_running_loop()
        application = Application(display, theme_for(dark=True, depth="true"), loop, bindings_from({}))
        console = Console(application, Store(tmp_path), Settings(), wanted)
        painted.hand_over()
        display.adopt(painted.rows, painted.cursor, painted.size)
        for event in Decoder().feed(painted.rest):
            application.hear(event)
        display.render_now()
        text = console.prompt.text
        await application.cancel_tasks()
        return text

    text = asyncio.run(main())
    return before, emulator.tape(), text


@pytest.fixture(autouse=True)
def _of_nobody(tmp_path, monkeypatch):
    """Nothing of the person's own is read or written."""
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


@pytest.mark.parametrize("provider", ["", "claude"])
@pytest.mark.parametrize("columns", [20, 21, 33, 57, 80, 200])
def test_nothing_moves_when_the_console_takes_over(columns, provider, tmp_path):
    """Its first frame reads as the paint did, the cursor is where it was."""
    with contextlib.closing(open_emulator("xterm", columns, 24)) as emulator:
        painted = ConsolePaint((columns, 24), provider)
        before, after, _ = taken_over(emulator, painted, tmp_path, StartOptions(provider=provider))
        assert after == before
        assert after.cursor == (1, 1)


@pytest.mark.parametrize("typed", ["hello", "/mo", "!ls", "a @b", " leading", "é"])
def test_what_was_typed_is_in_the_editor_and_on_the_screen(typed, tmp_path):
    """The same text in the same cells; the editor has heard it key by key."""
    with contextlib.closing(open_emulator("xterm", 80, 24)) as emulator:
        painted = ConsolePaint((80, 24))
        painted.take(typed.encode())
        before, after, text = taken_over(emulator, painted, tmp_path, StartOptions())
        assert text == typed
        assert before.screen[1] == after.screen[1] == f" {typed}"
        assert after.cursor == before.cursor == (1 + len(typed), 1)


@pytest.mark.parametrize("key", [b"\r", b"\x1b[A", "日".encode(), b"\t", b"\x1b[200~two\rlines\x1b[201~"])
def test_enter_and_all_that_is_no_plain_text_waits_for_the_console(key):
    """In order, after the text before it."""
    screen = ConsolePaint((80, 24))
    screen.take(b"ab" + key)
    screen.take(b"c")
    screen.hand_over()
    assert screen.rest == b"ab" + key + b"c"
    assert screen.rows[1] == " ab"
    assert screen.leaves is None


def test_ctrl_c_clears_and_twice_leaves():
    """As in the console: only the second within a moment, on an empty prompt."""
    screen = ConsolePaint((80, 24))
    screen.take(b"ab\x03")
    assert (screen.text, screen.rest, screen.leaves) == ("", b"", None)
    screen.take(b"c\x03")
    assert screen.leaves is None
    screen.take(b"\x03")
    assert screen.leaves == 0


def test_ctrl_c_twice_behind_what_nobody_understood_leaves_too():
    screen = ConsolePaint((80, 24))
    screen.take(b"\x1b[A\x03")
    assert screen.leaves is None
    screen.take(b"\x03")
    assert screen.leaves == 0


def test_ctrl_d_leaves_an_empty_prompt_only():
    """In a text it is a key of the editor's."""
    screen = ConsolePaint((80, 24))
    screen.take(b"ab\x04")
    assert (screen.leaves, screen.rest) == (None, b"\x04")
    empty = ConsolePaint((80, 24))
    empty.take(b"\x04")
    assert empty.leaves == 0


@given(st.binary(max_size=60).filter(lambda data: not {3, 4, 127} & set(data)), st.integers(20, 200))
def test_no_byte_is_lost_whatever_is_typed(data, columns):
    """All of it is handed over, and no row is wider than the screen."""
    screen = ConsolePaint((columns, 24), "opencode")
    for at in range(0, len(data), 3):
        screen.take(data[at : at + 3])
    assert all(len(row) <= columns for row in screen.rows)
    screen.hand_over()
    assert screen.rest == data
    assert all(len(row) <= columns for row in screen.rows)


_VALUES = st.recursive(
    st.text(st.characters(exclude_categories=["Cs"])) | st.booleans() | st.none() | st.integers(-1000, 1000),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(_VALUES)
def test_what_the_host_is_told_is_json(value):
    """Written by hand, read by anybody."""
    assert json.loads(as_json(value)) == value
    assert as_json(value).isascii()


@pytest.mark.parametrize(
    ("argv", "flags"),
    [
        ([], {}),
        (["--continue"], {"--continue": "yes"}),
        (["--resume", "abc"], {"--resume": "abc"}),
        (["--provider=claude", "--model", "m"], {"--provider": "claude", "--model": "m"}),
        (["--provider", "native"], {"--provider": "native"}),
        (["--provider", "nobody"], None),
        (["--model"], None),
        (["--model", "--continue"], None),
        (["--model", "a", "--model", "b"], None),
        (["--continue", "--resume", "a"], None),
        (["--continue=x"], None),
        (["-p", "hello"], None),
        (["gallery"], None),
        (["fix the tests"], {"": "fix the tests"}),
        (["--model", "m", "fix a=b, please"], {"--model": "m", "": "fix a=b, please"}),
        (["fix the tests", "and mend them"], None),
        (["atach"], None),
        ([" "], None),
        ([""], None),
        (["--approval", "full"], None),
    ],
)
def test_what_is_simple_enough_to_be_painted_before_it_is_parsed(argv, flags):
    """Anything else, and anything wrong, is the parser's."""
    assert plain_flags(argv) == flags


REAL = """
import fcntl, os, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
sys.argv = ["sightline"]
from sightline.cli import main
sys.exit(main())
"""


def hosts_of(place):
    """Processes that were started with this data folder and host a console."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (
                b"_console_host" in (folder / "cmdline").read_bytes()
                and place.encode() in (folder / "environ").read_bytes()
            ):
                found.append(int(folder.name))
    return found


@pytest.fixture
def home(tmp_path):
    names = ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR")
    folders = {name: tmp_path / name.lower() for name in names}
    for folder in folders.values():
        folder.mkdir(mode=0o700)
    return {name: str(folder) for name, folder in folders.items()}


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="looks for processes in /proc")
def test_who_leaves_at_once_leaves_nothing_behind(home):
    """Before the console is there: the terminal is as it was, the screen too, and the host that was started ends."""
    with on_pty(REAL, prologue="", environment=home) as child:
        child.until(b"leave")
        child.type(b"\x03\x03")
        assert child.wait() == 0
        assert child.attributes() == child.before
        assert child.written.endswith(b"\x1b[?2004l") or restored(child.written)
    deadline = time.monotonic() + 30
    while left := hosts_of(home["XDG_DATA_HOME"]):
        assert time.monotonic() < deadline, left
        time.sleep(0.05)


def test_what_is_typed_before_the_paint_is_in_it(home):
    """The terminal's driver has shown it already, in cooked mode, where the paint begins."""
    waiting = (
        "import time\nos.write(1, b'ready')\nwhile not os.path.exists(os.environ['HOME'] + '/go'): time.sleep(0.01)\n"
    )
    slow = REAL.replace("from sightline.cli", f"{waiting}from sightline.cli")
    with (
        contextlib.closing(open_emulator("xterm", 80, 24)) as emulator,
        on_pty(slow, prologue="", environment=home) as child,
    ):
        child.until(b"ready")
        child.type(b"early")
        child.until(b"readyearly")
        Path(home["HOME"], "go").touch()
        child.until(b"all keys")
        emulator.write(child.written.decode())
        assert emulator.tape().screen[1] == " early"
        assert "early" not in emulator.tape().screen[0]
        child.type(b"\x03\x03\x03")
        child.wait()
