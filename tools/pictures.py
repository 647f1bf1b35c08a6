"""Draws the pictures of the documentation from the real program's output: `make pictures`."""

import fcntl
import io
import os
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from pathlib import Path

from rich.console import Console
from rich.style import Style
from rich.terminal_theme import MONOKAI
from rich.text import Text

from sightline.testing.emulators import Cell, open_emulator

COLUMNS, ROWS = 100, 34
FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
SIGHTLINE = str(Path(sys.executable).with_name("sightline"))


def draw(name: str, title: str, *arguments: str) -> None:
    output = subprocess.run([SIGHTLINE, *arguments], capture_output=True, text=True, check=True).stdout
    _save(name, title, Text.from_ansi(output.rstrip("\n")))


def _save(name: str, title: str, text: Text) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    console.print(text)
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    # The picture must not load anything from elsewhere: the reader's own monospace font does.
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg).replace("Fira Code", "ui-monospace")
    (FOLDER / f"{name}.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


def record(name: str, title: str, *steps: tuple[str, str]) -> None:
    """The screen of the program in a terminal, after these keys; each is followed by what must then be in sight."""
    emulator = open_emulator("xterm", COLUMNS, ROWS)
    master, slave = os.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    environment = {**os.environ, "TERM": "xterm-256color", "COLORTERM": "truecolor"}
    program = subprocess.Popen(title.split(), executable=SIGHTLINE, stdin=slave, stdout=slave, env=environment)
    for keys, sight in steps:
        os.write(master, keys.encode())
        while not any(sight in row for row in emulator.screen()) or select.select([master], [], [], 0.5)[0]:
            emulator.write(os.read(master, 65536))
            # A dark background, as the picture's is.
            os.write(master, emulator.replies() + b"\x1b]11;rgb:0000/0000/0000\x1b\\")
    _save(name, title, Text("\n").join(_row(emulator.cells(row)) for row in range(ROWS)))
    program.terminate()
    program.wait()
    emulator.close()


def _row(cells: list[Cell]) -> Text:
    row = Text()
    for cell in cells:
        fg, bg = (f"color({colour})" if isinstance(colour, int) else colour for colour in (cell.fg, cell.bg))
        look = Style(color=fg, bgcolor=bg, bold=cell.bold, dim=cell.dim, italic=cell.italic, strike=cell.strike)
        row.append(cell.text, look)
    return row


BUILD = r"""
printf '\033[1mBuilding\033[0m the parser\n'
for unit in lexer grammar tree printer; do printf '   \033[32mCompiling\033[0m %s\n' $unit; sleep 0.1; done
echo 'warning: unused variable: depth' >&2
for test in empty words nested quotes unicode; do printf 'test %-12s \033[32mok\033[0m\n' $test; done
i=0; while [ $i -lt 62 ]; do
    i=$((i + 1)); bar=$(printf '%*s' $((i * 2 / 5)) '' | tr ' ' '=')
    printf '\r   \033[36mLinking\033[0m [%-40s] %d%%' "$bar" $i; sleep 0.01
done
sleep 30
"""
TESTS = "printf 'collected 3 items\\n'; echo '1 failed, 2 passed' >&2; exit 1"


def photograph(name: str) -> None:
    """The page, in a real browser, while a command runs."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder) / "parser"
        work.mkdir()
        for script, file in ((TESTS, "test.sh"), (BUILD, "build.sh")):
            (work / file).write_text(script)
        environment = {**os.environ, "SIGHTLINE_HOME": f"{folder}/home"}
        # The folder's name is in the picture: a short one, whoever takes it.
        there = ["bwrap", "--dev-bind", "/", "/", "--bind", str(work), "/mnt", "--chdir", "/mnt"]
        for file in ("test.sh", "build.sh"):
            subprocess.run([*there, SIGHTLINE, "exec", "-d", "--", "sh", file], env=environment, check=True)
            time.sleep(1)
        server = subprocess.Popen(
            [SIGHTLINE, "serve", "--port", "0"], env=environment, stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout is not None
            url = server.stdout.readline().strip()
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
                page = browser.new_page(viewport={"width": 1100, "height": 560}, color_scheme="dark")
                page.goto(url)
                page.wait_for_selector("text=62%")
                page.screenshot(path=FOLDER / f"{name}.png")
                browser.close()
        finally:
            server.terminate()
            server.wait()
            subprocess.run([SIGHTLINE, "stop", "--all"], env=environment, check=True, stdout=subprocess.DEVNULL)


if __name__ == "__main__":
    draw("agent", "sightline demo", "demo", "--fast", "--color", "always")
    draw("demo", "sightline demo providers", "demo", "providers", "--fast", "--color", "always")
    record("gallery", "sightline gallery", ("", "q quit"), ("markdown\r", "### The end"), ("t", "› text"))
    photograph("page")
