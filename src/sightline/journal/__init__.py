"""What is kept of a session: its events, the output of its calls, and the list of jobs. Nothing here runs anything."""

from sightline.journal._artifact import Artifact, ArtifactReader, ArtifactRun
from sightline.journal._ids import is_job_id, is_session_id, new_session_id, session_of
from sightline.journal._index import JobIndex, JobRecord, JobState
from sightline.journal._jobs import job_began, job_ended, jobs_of
from sightline.journal._prune import KEPT_BYTES, KEPT_SECONDS, Pruned, prune
from sightline.journal._reader import KeptSession
from sightline.journal._record import Header
from sightline.journal._store import Store
from sightline.journal._writer import Busy, JournalWriter

__all__ = [
    "KEPT_BYTES",
    "KEPT_SECONDS",
    "Artifact",
    "ArtifactReader",
    "ArtifactRun",
    "Busy",
    "Header",
    "JobIndex",
    "JobRecord",
    "JobState",
    "JournalWriter",
    "KeptSession",
    "Pruned",
    "Store",
    "is_job_id",
    "is_session_id",
    "job_began",
    "job_ended",
    "jobs_of",
    "new_session_id",
    "prune",
    "session_of",
]
