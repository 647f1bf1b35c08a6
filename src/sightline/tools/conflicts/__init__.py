"""Merge conflicts left in files: found, given an id for the session, shown, and resolved by that id."""

from sightline.tools.conflicts._regions import readable as readable
from sightline.tools.conflicts._registry import Conflicts as Conflicts
from sightline.tools.conflicts._registry import ConflictUrl as ConflictUrl
from sightline.tools.conflicts._registry import is_conflict_url as is_conflict_url
from sightline.tools.conflicts._registry import parse_url as parse_url
from sightline.tools.conflicts._render import read_conflict as read_conflict
from sightline.tools.conflicts._render import render as render
from sightline.tools.conflicts._resolve import MAX_BYTES as MAX_BYTES
from sightline.tools.conflicts._resolve import ResolvedFile as ResolvedFile
from sightline.tools.conflicts._resolve import planned as planned
from sightline.tools.conflicts._resolve import resolve_all as resolve_all
from sightline.tools.conflicts._resolve import resolve_one as resolve_one
