"""Plain-text rules: the filter for untrusted text and cuts that respect grapheme clusters.

Nothing here styles, and nothing here knows what the text is for.
"""

from sightline.text._cut import cut_graphemes, first_line
from sightline.text._filter import StreamFilter, clean_line, clean_text, clean_value, escape_controls

__all__ = [
    "StreamFilter",
    "clean_line",
    "clean_text",
    "clean_value",
    "cut_graphemes",
    "escape_controls",
    "first_line",
]
