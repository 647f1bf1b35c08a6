"""Draws the pictures of the documentation from the real program's output: `make pictures`."""

import io
import re
import subprocess
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import MONOKAI
from rich.text import Text

FOLDER = Path(__file__).parent.parent / "docs" / "pictures"
SIGHTLINE = str(Path(sys.executable).with_name("sightline"))


def draw(name: str, title: str, *arguments: str) -> None:
    output = subprocess.run(
        [SIGHTLINE, *arguments, "--color", "always"], capture_output=True, text=True, check=True
    ).stdout
    console = Console(record=True, width=100, file=io.StringIO(), force_terminal=True)
    console.print(Text.from_ansi(output.rstrip("\n")))
    svg = console.export_svg(title=title, theme=MONOKAI, unique_id=name)
    # The picture must not load anything from elsewhere: the reader's own monospace font does.
    svg = re.sub(r"@font-face\s*{[^}]*}", "", svg).replace("Fira Code", "ui-monospace")
    (FOLDER / f"{name}.svg").write_text("\n".join(line.rstrip() for line in svg.splitlines()) + "\n")


if __name__ == "__main__":
    draw("demo", "sightline demo", "demo", "--fast")
