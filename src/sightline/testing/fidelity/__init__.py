"""The fidelity gate: the terminal engine's real bytes in real emulators, every step held against a shadow ledger.

A case (a terminal, how the display begins on it, and a sequence of operations) is made from a seed. It is run on a
real `Display` whose bytes go to xterm.js, Ghostty's core or tmux; after each operation the whole tape, scrollback and
screen, must be what the shadow says, row for row. The shadow (`_shadow`, `_window`, `_grid`, `_bytes`) imports nothing
of the engine. A case that fails is shortened as long as it fails by the same rule, and printed so that it can be run
again.
"""

from sightline.testing.fidelity._divergence import Divergence
from sightline.testing.fidelity._reduce import Failure, failure_of, reduce
from sightline.testing.fidelity._session import Session, run
from sightline.testing.fidelity._stress import Report, case_of, stress
from sightline.testing.fidelity._world import Case, World, make_case

__all__ = [
    "Case",
    "Divergence",
    "Failure",
    "Report",
    "Session",
    "World",
    "case_of",
    "failure_of",
    "make_case",
    "reduce",
    "run",
    "stress",
]
