"""Pictures in a terminal: kitty, iTerm2 and sixel; sent once, within a budget, and text where there are no pixels."""

from sightline.tty._images._header import ImageHeader, read_header
from sightline.tty._images._row import ImageRow
from sightline.tty._images._store import ImageBudget, ImageStore, Picture

__all__ = ["ImageBudget", "ImageHeader", "ImageRow", "ImageStore", "Picture", "read_header"]
