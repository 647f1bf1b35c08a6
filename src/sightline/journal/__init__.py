"""What is stored of a session: its events, the tree of its conversation, the output of its calls, and lists of these.

Nothing here runs anything.
"""

from sightline.journal._artifact import Artifact as Artifact
from sightline.journal._artifact import ArtifactReader as ArtifactReader
from sightline.journal._artifact import ArtifactRun as ArtifactRun
from sightline.journal._ids import is_job_id as is_job_id
from sightline.journal._ids import is_session_id as is_session_id
from sightline.journal._ids import session_of as session_of
from sightline.journal._index import JobIndex as JobIndex
from sightline.journal._index import JobRecord as JobRecord
from sightline.journal._index import JobState as JobState
from sightline.journal._jobs import job_began as job_began
from sightline.journal._jobs import job_ended as job_ended
from sightline.journal._jobs import jobs_of as jobs_of
from sightline.journal._jobs import stored_calls as stored_calls
from sightline.journal._prune import prune as prune
from sightline.journal._reader import SessionReader as SessionReader
from sightline.journal._record import JournalHeader as JournalHeader
from sightline.journal._repair import agent_states as agent_states
from sightline.journal._repair import agents_started as agents_started
from sightline.journal._repair import append_branch as append_branch
from sightline.journal._repair import events_since_message as events_since_message
from sightline.journal._repair import mail_events as mail_events
from sightline.journal._shelf import artifact_file as artifact_file
from sightline.journal._shelf import is_private as is_private
from sightline.journal._shelf import store_file as store_file
from sightline.journal._store import Store as Store
from sightline.journal._store import still_running as still_running
from sightline.journal._writer import Busy as Busy
from sightline.journal._writer import EntryPlace as EntryPlace
from sightline.journal._writer import JournalWriter as JournalWriter
from sightline.journal.catalogue._session_record import SessionHit as SessionHit
from sightline.journal.catalogue._session_record import SessionRecord as SessionRecord
from sightline.journal.tree._entry import NATIVE as NATIVE
from sightline.journal.tree._entry import PROVIDER_NOTE as PROVIDER_NOTE
from sightline.journal.tree._entry import REVIEW_NOTE as REVIEW_NOTE
from sightline.journal.tree._entry import Entry as Entry
from sightline.journal.tree._entry import EntryType as EntryType
from sightline.journal.tree._outline import FILTERS as FILTERS
from sightline.journal.tree._outline import Filter as Filter
from sightline.journal.tree._outline import OutlineLine as OutlineLine
from sightline.journal.tree._outline import content_of as content_of
from sightline.journal.tree._outline import outline as outline
from sightline.journal.tree._readable import readable as readable
from sightline.journal.tree._readable import readable_events as readable_events
from sightline.journal.tree._tree import Moment as Moment
from sightline.journal.tree._tree import SessionTree as SessionTree
from sightline.journal.tree._tree import TreeMove as TreeMove
from sightline.journal.tree._tree import label_entry as label_entry
from sightline.journal.tree._tree import move_entries as move_entries
