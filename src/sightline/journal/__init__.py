"""What is kept of a session: its events, the tree of its conversation, the output of its calls, and lists of all that.

Nothing here runs anything.
"""

from sightline.journal._artifact import Artifact, ArtifactReader, ArtifactRun
from sightline.journal._entry import ENTRY_CAP, NATIVE, PROVIDER_NOTE, Entry, EntryType
from sightline.journal._ids import is_job_id, is_session_id, new_session_id, session_of
from sightline.journal._index import JobIndex, JobRecord, JobState
from sightline.journal._jobs import job_began, job_ended, jobs_of
from sightline.journal._moves import Moment, Move, label_entry, move_entries
from sightline.journal._node import Node
from sightline.journal._outline import FILTERS, Filter, Line, content_of, outline
from sightline.journal._prune import KEPT_BYTES, KEPT_SECONDS, Pruned, prune
from sightline.journal._reader import KeptSession
from sightline.journal._record import RECOVERY, Header
from sightline.journal._session_record import SessionHit, SessionRecord
from sightline.journal._shelf import artifact_file, is_private, keep_file
from sightline.journal._store import Store
from sightline.journal._tree import Tree
from sightline.journal._writer import Busy, JournalWriter, Place

__all__ = [
    "ENTRY_CAP",
    "FILTERS",
    "KEPT_BYTES",
    "KEPT_SECONDS",
    "NATIVE",
    "PROVIDER_NOTE",
    "RECOVERY",
    "Artifact",
    "ArtifactReader",
    "ArtifactRun",
    "Busy",
    "Entry",
    "EntryType",
    "Filter",
    "Header",
    "JobIndex",
    "JobRecord",
    "JobState",
    "JournalWriter",
    "KeptSession",
    "Line",
    "Moment",
    "Move",
    "Node",
    "Place",
    "Pruned",
    "SessionHit",
    "SessionRecord",
    "Store",
    "Tree",
    "artifact_file",
    "content_of",
    "is_job_id",
    "is_private",
    "is_session_id",
    "job_began",
    "job_ended",
    "jobs_of",
    "keep_file",
    "label_entry",
    "move_entries",
    "new_session_id",
    "outline",
    "prune",
    "session_of",
]
