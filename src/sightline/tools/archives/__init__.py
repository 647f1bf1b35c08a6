"""Archives read and rewritten where they are: nothing in them is ever unpacked onto the disk.

A path with an archive in it is `archive.ext:path/inside`. Archives inside archives are entries like any other.
"""

from sightline.tools.archives._archive import Archive, ArchiveListing, Child
from sightline.tools.archives._names import ArchivePath, candidates, normalize_entry, places
from sightline.tools.archives._write import entry_target, write_entry

__all__ = [
    "Archive",
    "ArchiveListing",
    "ArchivePath",
    "Child",
    "candidates",
    "entry_target",
    "normalize_entry",
    "places",
    "write_entry",
]
