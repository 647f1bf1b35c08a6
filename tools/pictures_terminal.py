"""A program in a terminal of its own, by keys, and a picture of its screen."""

import fcntl
import io
import os
import re
import select
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from sightline.testing.emulators import Cell, Emulator, open_emulator

COLUMNS = 100
FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
SIGHTLINE = str(Path(sys.executable).with_name("sightline"))
_SECONDS = 30.0
_STILL = 0.5
_DARK = b"\x1b]11;rgb:0000/0000/0000\x1b\\"  # the background, as the picture's is


def record(
    name: str,
    title: str,
    steps: Sequence[tuple[str, str]],
    *,
    argv: Sequence[str] = (),
    rows: int = 34,
    moving: int = 0,
) -> None:
    """The screen after these keys; each step is keys, and what must then be in sight. `argv`: what is run, if not what
    the title has. `moving`: in so many of the last steps it is never still: each ends as soon as that is in sight."""
    emulator = open_emulator("xterm", COLUMNS, rows)
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    command = list(argv) or [SIGHTLINE, *title.split()[1:]]
    program = subprocess.Popen(command, stdin=slave, stdout=slave, env=environment, start_new_session=True)
    try:
        for left, (keys, sight) in zip(range(len(steps), 0, -1), steps, strict=True):
            os.write(master, keys.encode())
            _watch(emulator, master, sight, still=left > moving)
        save(name, title, Text("\n").join(_row(emulator.cells(row)) for row in range(rows)))
    finally:
        program.terminate()
        os.close(slave)
        _drain(master)
        program.wait()
        emulator.close()


def _watch(emulator: Emulator, master: int, sight: str, *, still: bool) -> None:
    deadline = time.monotonic() + _SECONDS
    while not any(sight in row for row in emulator.screen()) or (still and select.select([master], [], [], _STILL)[0]):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {sight!r} on\n" + "\n".join(emulator.screen()))
        if select.select([master], [], [], _STILL)[0]:
            data = os.read(master, 65536)
            emulator.write(data)
            os.write(master, emulator.replies() + (_DARK if b"\x1b]11;?" in data else b""))


def _drain(master: int) -> None:
    """What a program writes while it ends must find a reader."""
    try:
        while os.read(master, 65536):
            pass
    except OSError:
        os.close(master)


def save(name: str, title: str, text: Text) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(text)
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    # The picture must not load anything from elsewhere: the reader's own monospace font does.
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg).replace("Fira Code", "ui-monospace")
    (FOLDER / f"{name}.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


def _row(cells: list[Cell]) -> Text:
    row = Text()
    for cell in cells:
        fg, bg = (f"color({colour})" if isinstance(colour, int) else colour for colour in (cell.fg, cell.bg))
        look = Style(color=fg, bgcolor=bg, bold=cell.bold, dim=cell.dim, italic=cell.italic, strike=cell.strike)
        row.append(cell.text, look)
    return row
