"""Archives read and rewritten where they are: nothing in them is ever unpacked onto the disk.

A path with an archive in it is `archive.ext:path/inside`. Archives inside archives are entries like any other.
"""

from sightline.tools.archives._archive import Archive as Archive
from sightline.tools.archives._archive import ArchiveListing as ArchiveListing
from sightline.tools.archives._names import ArchivePath as ArchivePath
from sightline.tools.archives._names import candidates as candidates
from sightline.tools.archives._names import normalize_entry as normalize_entry
from sightline.tools.archives._names import places as places
from sightline.tools.archives._write import entry_target as entry_target
from sightline.tools.archives._write import write_entry as write_entry
