"""A monkey at the console: random keys, pastes and window sizes while much happens, on a real pty.

`Witness` reads everything that is written to the terminal; `Monkey` plays and looks whether all is well.
"""

from sightline.testing.monkey._glass import Glass
from sightline.testing.monkey._play import Monkey, Trouble
from sightline.testing.monkey._witness import Stray, Witness

__all__ = ["Glass", "Monkey", "Stray", "Trouble", "Witness"]
