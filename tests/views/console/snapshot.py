"""The printed gallery as a file one can read and compare: `python -m tests.views.console.snapshot` writes it anew.

ESC stands as ␛, so that colours are seen in a difference and no terminal obeys the file.
"""

from pathlib import Path

from sightline.views.console.gallery._printed import printed
from sightline.views.console.gallery.scenes import SCENES

FILE = Path(__file__).with_name("gallery-dark-true-80.txt")


def snapshot() -> str:
    rows = printed(SCENES, width=80, look="dark", depth="true")
    return "".join(f"{row.replace(chr(0x1B), '␛')}\n" for row in rows)


if __name__ == "__main__":
    FILE.write_text(snapshot())
