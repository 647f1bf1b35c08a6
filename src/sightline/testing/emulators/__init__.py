"""Real terminal emulators, driven from Python: xterm.js, Ghostty's core, tmux.

The first two live in one node process (`driver.mjs`), so that writing some bytes and reading the tape back is one
request of well under a millisecond (`feed`). tmux is a server of its own with a pane whose program writes what it is
given (`_relay.py`).
"""

from typing import Literal, overload

from sightline.testing.emulators._install import ensure
from sightline.testing.emulators._node import GhosttyEmulator, XtermEmulator
from sightline.testing.emulators._tmux import TmuxEmulator
from sightline.testing.emulators._types import Cell, Emulator, EmulatorError, EmulatorMissing, Modes, Tape

__all__ = [
    "KINDS",
    "Cell",
    "Emulator",
    "EmulatorError",
    "EmulatorMissing",
    "GhosttyEmulator",
    "Kind",
    "Modes",
    "Tape",
    "TmuxEmulator",
    "XtermEmulator",
    "ensure",
    "open_emulator",
]

Kind = Literal["xterm", "ghostty", "tmux"]
KINDS: tuple[Kind, ...] = ("xterm", "ghostty", "tmux")


@overload
def open_emulator(
    kind: Literal["xterm"], columns: int = 80, rows: int = 24, scrollback: int = 100_000
) -> XtermEmulator: ...
@overload
def open_emulator(
    kind: Literal["ghostty"], columns: int = 80, rows: int = 24, scrollback: int = 100_000
) -> GhosttyEmulator: ...
@overload
def open_emulator(
    kind: Literal["tmux"], columns: int = 80, rows: int = 24, scrollback: int = 100_000
) -> TmuxEmulator: ...
@overload
def open_emulator(kind: Kind, columns: int = 80, rows: int = 24, scrollback: int = 100_000) -> Emulator: ...
def open_emulator(kind: Kind, columns: int = 80, rows: int = 24, scrollback: int = 100_000) -> Emulator:
    """A terminal of this kind and size; ghostty keeps all scrollback, whatever the limit. Close it in the end."""
    match kind:
        case "xterm":
            return XtermEmulator(columns, rows, scrollback)
        case "ghostty":
            return GhosttyEmulator(columns, rows)
        case "tmux":
            return TmuxEmulator(columns, rows, scrollback)
