"""The fold: events to the state a view draws. Live, replayed and resumed are the same fold over the same events."""

from sightline.transcript._fold import Transcript as Transcript
from sightline.transcript._fold import fold as fold
from sightline.transcript._projection import seen_from as seen_from
from sightline.transcript._repair import HOST as HOST
from sightline.transcript._repair import LOST as LOST
from sightline.transcript._repair import RECOVERY as RECOVERY
from sightline.transcript._repair import LeftOpen as LeftOpen
from sightline.transcript._repair import StoredCall as StoredCall
from sightline.transcript._state import ENDED_TAIL as ENDED_TAIL
from sightline.transcript._state import OUTPUT_TAIL as OUTPUT_TAIL
from sightline.transcript._state import Entry as Entry
from sightline.transcript._state import MailReceipt as MailReceipt
from sightline.transcript._state import Reached as Reached
from sightline.transcript._state import Remark as Remark
from sightline.transcript._state import Snapshot as Snapshot
from sightline.transcript._state import Total as Total
from sightline.transcript._state import TranscriptAgent as TranscriptAgent
from sightline.transcript._state import TranscriptCall as TranscriptCall
from sightline.transcript._state import TranscriptMail as TranscriptMail
from sightline.transcript._state import TranscriptMessage as TranscriptMessage
from sightline.transcript._state import TranscriptPiece as TranscriptPiece
from sightline.transcript._state import TranscriptRun as TranscriptRun
from sightline.transcript._state import TranscriptText as TranscriptText
