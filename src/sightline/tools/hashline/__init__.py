"""The hashline patch language: files shown with tags and line numbers, and edits that refer to them."""

from sightline.tools.hashline._apply import BlockResolver as BlockResolver
from sightline.tools.hashline._apply import FileText as FileText
from sightline.tools.hashline._apply import LineChange as LineChange
from sightline.tools.hashline._apply import Splice as Splice
from sightline.tools.hashline._apply import changes_of as changes_of
from sightline.tools.hashline._apply import refuse_overlaps as refuse_overlaps
from sightline.tools.hashline._apply import splices_of as splices_of
from sightline.tools.hashline._format import header as header
from sightline.tools.hashline._format import numbered as numbered
from sightline.tools.hashline._format import strip_display as strip_display
from sightline.tools.hashline._messages import missing_tag as missing_tag
from sightline.tools.hashline._parser import Hunk as Hunk
from sightline.tools.hashline._parser import PatchParser as PatchParser
from sightline.tools.hashline._parser import PatchSection as PatchSection
from sightline.tools.hashline._parser import merge as merge
from sightline.tools.hashline._parser import parse as parse
from sightline.tools.hashline._patch import PatchTarget as PatchTarget
from sightline.tools.hashline._patch import is_current as is_current
from sightline.tools.hashline._patch import patch as patch
from sightline.tools.hashline._preview import compact as compact
from sightline.tools.hashline._preview import unified as unified
from sightline.tools.hashline._snapshots import Snapshots as Snapshots
from sightline.tools.hashline._snapshots import SnapshotStep as SnapshotStep
from sightline.tools.hashline._snapshots import split_lines as split_lines
