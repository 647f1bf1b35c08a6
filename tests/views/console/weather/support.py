"""What hostile text tries, and what a screen must have been sent."""

from typing import Any

import pytest

from sightline.testing.monkey import Witness

IN_XTERM = pytest.mark.parametrize("person", ["xterm"], indirect=True)
"""One terminal is enough for weather."""

ATTACKS = (
    "\x1b]52;c;c3RvbGVu\x07",
    "\x1b]0;stolen\x07",
    "\x1b]2;stolen\x1b\\",
    "\x1b]8;;javascript:stolen\x1b\\link\x1b]8;;\x1b\\",
    "\x1b]4;1;#00ff00\x07",
    "\x1b]11;#ff0000\x1b\\",
    "\x1b]9;stolen\x07",
    "\x1b[2J\x1b[3J\x1b[H",
    "\x1b[?1049h\x1b[?25l\x1b[?2004l",
    "\x1b[>7u\x1b[6n\x1b[c",
    "\x1bPq#0;2;0;0;0~\x1b\\",
    "\x1b_Ga=T,f=24;AAAA\x1b\\",
    "\x1bX stolen \x1b\\",
    "\x9b31m\x9d0;stolen\x9c",
    "\u202ekcab\u2066",
    "\x00\x07\x08\x0e\x7f\x85",
    "\x1bc\x1b(0\x1b#8",
    "e" + "\u0301" * 200,
)


def hostile(name: str) -> str:
    """A line with everything in it, recognisable by both its ends."""
    return f"begin-{name} {' '.join(ATTACKS)} end-{name}"


def watched(screen: Any) -> Witness:
    """Everything that was written to this screen so far, read strictly."""
    witness = Witness()
    witness.feed(screen._glass.program.output)
    return witness


def untouched(screen: Any) -> None:
    """Nothing hostile reached the terminal: no sequence that is not ours, and in ours no word of it."""
    witness = watched(screen)
    assert not witness.copied
    assert not any("stolen" in said for said in [*witness.titles, *witness.notices, *witness.links])
