"""Every colour and glyph of the plain view, in one place.

Colour marks state and nothing else, and never stands alone: each state also has its own sign. A palette without colour
gives the same characters, so piped output and a screenshot show the same thing.
"""

import os

import msgspec

CALL = "●"
AGENT = "◆"
MAIL = "←"
STEP = {"pending": "○", "running": "◌", "ok": "✓", "error": "✕", None: "·"}
NEVER = "–"  # neither done nor to be done


class Palette(msgspec.Struct, frozen=True):
    """SGR codes, empty when there is no colour."""

    reset: str = ""
    bold: str = ""
    dim: str = ""
    good: str = ""
    bad: str = ""
    busy: str = ""
    aside: str = ""  # what a command writes to stderr

    def step(self, status: str | None) -> str:
        return {"ok": self.good, "error": self.bad, "running": self.busy}.get(status or "", self.dim)


PLAIN = Palette()
COLOUR = Palette("\x1b[0m", "\x1b[1m", "\x1b[2m", "\x1b[32m", "\x1b[31m", "\x1b[36m", "\x1b[35m")


def palette_for(fd: int, choice: str) -> Palette:
    """The palette for `--color auto|always|never`: auto means a terminal, without NO_COLOR or TERM=dumb."""
    if choice == "auto":
        coloured = os.isatty(fd) and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    else:
        coloured = choice == "always"
    return COLOUR if coloured else PLAIN
