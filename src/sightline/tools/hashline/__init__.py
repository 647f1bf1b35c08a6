"""The hashline patch language: files shown with tags and line numbers, and edits that refer to them."""

from sightline.tools.hashline._apply import BlockResolver, LineChange, Splice, changes_of, refuse_overlaps, splices_of
from sightline.tools.hashline._format import header, numbered, strip_display
from sightline.tools.hashline._messages import MismatchError, PatchError, missing_tag
from sightline.tools.hashline._parser import Hunk, PatchParser, PatchSection, merge, parse
from sightline.tools.hashline._patch import Patched, PatchTarget, is_current, patch
from sightline.tools.hashline._preview import compact, unified
from sightline.tools.hashline._snapshots import Snapshots, SnapshotStep, split_lines
from sightline.tools.hashline._text import FileText

__all__ = [
    "BlockResolver",
    "FileText",
    "Hunk",
    "LineChange",
    "MismatchError",
    "PatchError",
    "PatchParser",
    "PatchSection",
    "PatchTarget",
    "Patched",
    "SnapshotStep",
    "Snapshots",
    "Splice",
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
    "split_lines",
    "strip_display",
    "unified",
]
