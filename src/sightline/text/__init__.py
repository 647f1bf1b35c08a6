"""Plain-text rules: filters for untrusted text, cuts between grapheme clusters, the interpreter of terminal output.

Nothing here styles (style is data here), and nothing here knows what the text is for.
"""

from sightline.text._credentials import Credential, credentials_in, without_credentials
from sightline.text._cut import cut_graphemes, first_line
from sightline.text._filter import (
    StreamFilter,
    clean_line,
    clean_styled,
    clean_text,
    clean_value,
    escape_controls,
    sequences,
    unfinished_from,
    without_sequences,
)
from sightline.text._message import message
from sightline.text._output import after_sequence, clean_output, complete_prefix
from sightline.text._row import Row, StyledRun, row_text
from sightline.text._screen import OutputScreen
from sightline.text._style import DEFAULT, Style
from sightline.text._unified import Unified, unified_diff
from sightline.text._visible import mark_blanks, visible, visible_value

__all__ = [
    "DEFAULT",
    "Credential",
    "OutputScreen",
    "Row",
    "StreamFilter",
    "Style",
    "StyledRun",
    "Unified",
    "after_sequence",
    "clean_line",
    "clean_output",
    "clean_styled",
    "clean_text",
    "clean_value",
    "complete_prefix",
    "credentials_in",
    "cut_graphemes",
    "escape_controls",
    "first_line",
    "mark_blanks",
    "message",
    "row_text",
    "sequences",
    "unfinished_from",
    "unified_diff",
    "visible",
    "visible_value",
    "without_credentials",
    "without_sequences",
]
