"""The base of blocks. A block draws one entry of the transcript, or a few that belong together.

The fold changes its entries in place: a block holds its entry, and `changed` is called after a change.
"""

from sightline.transcript import Entry
from sightline.tty import CachedComponent, Component, Scrollback


class TranscriptBlock(Component):
    """A part of the transcript on the screen."""

    open_ended = False
    """It cannot know when it is complete (words that stream, a group of reads): `close` ends it."""

    def changed(self) -> None:
        """The fold changed an entry that is shown here."""

    def take(self, entry: Entry) -> bool:
        """Show this entry too, if it belongs here. False: it needs a block of its own."""
        return False

    @property
    def done(self) -> bool:
        """Whether nothing of it will change any more."""
        return False

    def close(self) -> None:
        """Nothing more belongs to it: something came after it, or the run has ended."""

    @property
    def outlives_run(self) -> bool:
        """Whether it may change while the root agent is idle: a subagent in it still works."""
        return False

    @property
    def ticks(self) -> bool:
        """Whether it shows elapsed time: it is drawn regularly although nothing changed."""
        return False

    @property
    def catches_up(self) -> bool:
        """Whether it shows a little more with every frame: the next one is due soon."""
        return False

    @property
    def behind(self) -> bool:
        """Whether there is more than a frame can draw: `advance` draws some more. Until then it is not `done`."""
        return False

    def advance(self) -> None:
        """Draw as much more as fits between two keys."""

    def begin_anew(self) -> None:
        """Show it again from its first row. Callers check `done` afterwards."""
        if isinstance(self, Scrollback):
            self.restore()
        self.invalidate()

    @property
    def source(self) -> str:
        """The text that is copied: as it was written, without what the screen added."""
        return ""


class PageBlock(CachedComponent, TranscriptBlock):
    """A block that is complete from the start."""

    @property
    def done(self) -> bool:
        return True
