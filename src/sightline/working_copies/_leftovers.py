"""Working copies whose owner was killed: found by their records, and removed after their changes were stored."""

from sightline.working_copies._copy import WorkingCopy
from sightline.working_copies._facts import StoredPatch
from sightline.working_copies._records import CopyRecord, born, records


def leftovers() -> list[CopyRecord]:
    """Those whose process is gone."""
    return [record for record in records() if born(record.pid) != record.born or not record.born]


def remove_leftover(record: CopyRecord) -> StoredPatch:
    """Its changes are stored as `record.patch` first; an error leaves it as it is."""
    copy = WorkingCopy(record)
    if not (record.parts / "manifest").is_file():  # killed while it was opened: no agent was in it
        copy.discard()
        return StoredPatch()
    stored = copy.store_patch()
    copy.remove()
    return stored
