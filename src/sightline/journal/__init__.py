"""What is kept of a session: its events, the tree of its conversation, the output of its calls, and lists of all that.

Nothing here runs anything.
"""

from sightline.journal._artifact import Artifact, ArtifactReader, ArtifactRun
from sightline.journal._ids import is_job_id, is_session_id, new_session_id, session_of
from sightline.journal._index import JobIndex, JobRecord, JobState
from sightline.journal._jobs import job_began, job_ended, jobs_of, stored_calls
from sightline.journal._prune import KEPT_BYTES, KEPT_SECONDS, Pruned, prune
from sightline.journal._reader import SessionReader
from sightline.journal._record import JournalHeader
from sightline.journal._repair import events_since_message
from sightline.journal._shelf import artifact_file, is_private, store_file
from sightline.journal._store import Store, still_running
from sightline.journal._writer import Busy, EntryPlace, JournalWriter
from sightline.journal.catalogue._session_record import SessionHit, SessionRecord
from sightline.journal.tree._entry import ENTRY_CAP, NATIVE, PROVIDER_NOTE, Entry, EntryType
from sightline.journal.tree._moves import Moment, TreeMove, label_entry, move_entries
from sightline.journal.tree._node import SessionNode
from sightline.journal.tree._outline import FILTERS, Filter, OutlineLine, content_of, outline
from sightline.journal.tree._tree import SessionTree

__all__ = [
    "ENTRY_CAP",
    "FILTERS",
    "KEPT_BYTES",
    "KEPT_SECONDS",
    "NATIVE",
    "PROVIDER_NOTE",
    "Artifact",
    "ArtifactReader",
    "ArtifactRun",
    "Busy",
    "Entry",
    "EntryPlace",
    "EntryType",
    "Filter",
    "JobIndex",
    "JobRecord",
    "JobState",
    "JournalHeader",
    "JournalWriter",
    "Moment",
    "OutlineLine",
    "Pruned",
    "SessionHit",
    "SessionNode",
    "SessionReader",
    "SessionRecord",
    "SessionTree",
    "Store",
    "TreeMove",
    "artifact_file",
    "content_of",
    "events_since_message",
    "is_job_id",
    "is_private",
    "is_session_id",
    "job_began",
    "job_ended",
    "jobs_of",
    "label_entry",
    "move_entries",
    "new_session_id",
    "outline",
    "prune",
    "session_of",
    "still_running",
    "store_file",
    "stored_calls",
]
