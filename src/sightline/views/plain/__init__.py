"""Plain text: for pipes, logs, CI and reading along."""

from sightline.views.plain._output import columns_of, write_all, write_text
from sightline.views.plain._palette import Palette, palette_for
from sightline.views.plain._renderer import EVERYTHING, VERBOSE, WORDS, Detail, PlainRenderer

__all__ = [
    "EVERYTHING",
    "VERBOSE",
    "WORDS",
    "Detail",
    "Palette",
    "PlainRenderer",
    "columns_of",
    "palette_for",
    "write_all",
    "write_text",
]
