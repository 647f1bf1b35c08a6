"""The hashline patch language: files shown with tags and line numbers, and edits that refer to them."""

from sightline.tools.hashline._apply import BlockResolver, Change, Splice, changes_of, refuse_overlaps, splices_of
from sightline.tools.hashline._format import header, numbered, strip_display
from sightline.tools.hashline._messages import MismatchError, PatchError, missing_tag
from sightline.tools.hashline._parser import Hunk, Parser, Section, merge, parse
from sightline.tools.hashline._patch import Patched, Target, is_current, patch
from sightline.tools.hashline._preview import compact, unified
from sightline.tools.hashline._snapshots import Snapshots, Step
from sightline.tools.hashline._text import FileText

__all__ = [
    "BlockResolver",
    "Change",
    "FileText",
    "Hunk",
    "MismatchError",
    "Parser",
    "PatchError",
    "Patched",
    "Section",
    "Snapshots",
    "Splice",
    "Step",
    "Target",
    "changes_of",
    "compact",
    "header",
    "is_current",
    "merge",
    "missing_tag",
    "numbered",
    "parse",
    "patch",
    "refuse_overlaps",
    "splices_of",
    "strip_display",
    "unified",
]
