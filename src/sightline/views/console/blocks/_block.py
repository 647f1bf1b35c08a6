"""A block of the transcript: the part of the screen that shows one entry of the fold, or a few that belong together.

The fold changes its entries in place. A block keeps the entry it shows and is told when it was changed; what it has
drawn before tells it what of that is new.
"""

from sightline.transcript import Entry
from sightline.tty import Component, Scrollback


class TranscriptBlock(Component):
    """One of them."""

    open_ended = False
    """It does not know itself when it is complete (words that stream, a group of reads): `close` tells it."""

    def changed(self) -> None:
        """The fold changed an entry that is shown here."""

    def take(self, entry: Entry) -> bool:
        """Show this entry too, if it belongs here and nothing came in between. False: it needs a block of its own."""
        return False

    @property
    def done(self) -> bool:
        """Nothing of it will change any more, whatever happens."""
        return False

    def close(self) -> None:
        """It is as complete as it gets: something came after it, or the run is over."""

    @property
    def ticks(self) -> bool:
        """It shows how long something takes, and wants to be drawn now and then although nothing changed."""
        return False

    @property
    def catches_up(self) -> bool:
        """It shows a little more with every frame, and wants the next one soon."""
        return False

    @property
    def behind(self) -> bool:
        """There is more to show than can be drawn in a frame: `advance` shows some more of it. Not `done` before."""
        return False

    def advance(self) -> None:
        """Draw as much more as there is time for between two keys."""

    def begin_anew(self) -> None:
        """It is shown again from its first row, by somebody who looks whether it is `done`."""
        if isinstance(self, Scrollback):
            self.restore()
        self.invalidate()

    @property
    def source(self) -> str:
        """What is shown, for copying: as it was written, without what the screen added."""
        return ""
