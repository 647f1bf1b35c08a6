"""Plain-text rules: filters for untrusted text, cuts between grapheme clusters, the interpreter of terminal output.

Nothing here styles (style is data here), and nothing here knows what the text is for.
"""

from sightline.text._credentials import credentials_in as credentials_in
from sightline.text._credentials import without_credentials as without_credentials
from sightline.text._cut import cut_graphemes as cut_graphemes
from sightline.text._cut import first_line as first_line
from sightline.text._filter import StreamFilter as StreamFilter
from sightline.text._filter import clean_line as clean_line
from sightline.text._filter import clean_styled as clean_styled
from sightline.text._filter import clean_text as clean_text
from sightline.text._filter import clean_value as clean_value
from sightline.text._filter import escape_controls as escape_controls
from sightline.text._filter import sequences as sequences
from sightline.text._filter import unfinished_from as unfinished_from
from sightline.text._filter import without_sequences as without_sequences
from sightline.text._message import message as message
from sightline.text._output import after_sequence as after_sequence
from sightline.text._output import clean_output as clean_output
from sightline.text._output import complete_prefix as complete_prefix
from sightline.text._row import ContinuedRow as ContinuedRow
from sightline.text._row import Row as Row
from sightline.text._row import StyledRun as StyledRun
from sightline.text._row import row_text as row_text
from sightline.text._screen import OutputScreen as OutputScreen
from sightline.text._style import DEFAULT as DEFAULT
from sightline.text._style import Style as Style
from sightline.text._unified import Unified as Unified
from sightline.text._unified import changed_spans as changed_spans
from sightline.text._unified import common_start as common_start
from sightline.text._unified import unified_diff as unified_diff
from sightline.text._visible import mark_blanks as mark_blanks
from sightline.text._visible import visible as visible
from sightline.text._visible import visible_value as visible_value
