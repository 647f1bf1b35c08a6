"""Working copies whose owner was killed: found by their records, and removed after their changes were stored."""

import msgspec

from sightline.working_copies._copy import WorkingCopy
from sightline.working_copies._facts import StoredPatch
from sightline.working_copies._records import CopyRecord, born, records


def leftovers() -> list[CopyRecord]:
    """Those whose process is gone; not a whole one that belongs to the user."""
    gone = [record for record in records() if born(record.pid) != record.born or not record.born]
    return [record for record in gone if not (record.is_users and record.is_whole)]


def remove_leftover(record: CopyRecord) -> StoredPatch:
    """Its changes are stored as `record.patch` first, and its commits; an error leaves it as it is."""
    copy = WorkingCopy(record)
    if not record.is_whole:  # killed while it was opened: no agent was in it; or while it was removed: all is stored
        copy.discard()
        return StoredPatch()
    stored = msgspec.structs.replace(copy.store_patch(), commits=tuple(copy.store_commits()))
    copy.remove()
    return stored
