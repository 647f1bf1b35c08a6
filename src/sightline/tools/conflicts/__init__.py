"""Merge conflicts left in files: found, given an id for the session, shown, and resolved by that id."""

from sightline.tools.conflicts._regions import Region, find_regions, readable
from sightline.tools.conflicts._registry import Conflict, Conflicts
from sightline.tools.conflicts._render import read_conflict, render
from sightline.tools.conflicts._resolve import MAX_BYTES, ResolvedFile, planned, resolve_all, resolve_one
from sightline.tools.conflicts._urls import ConflictUrl, is_conflict_url, parse_url

__all__ = [
    "MAX_BYTES",
    "Conflict",
    "ConflictUrl",
    "Conflicts",
    "Region",
    "ResolvedFile",
    "find_regions",
    "is_conflict_url",
    "parse_url",
    "planned",
    "read_conflict",
    "readable",
    "render",
    "resolve_all",
    "resolve_one",
]
