"""What a result says, and to whom: a model is told of a command in words that a header says to a person.

- Of our own calls the content is for the model. How a command ended, that it wrote nothing, and what was refused stand
  in the header: below it stays what it does not say.
- Of others' commands the content is their output, and may have more than the pieces that came while it ran.
"""

import msgspec

from sightline.events import call_ending
from sightline.text import OutputScreen, clean_output, clean_text, row_text
from sightline.transcript import TranscriptCall
from sightline.views.console.shapes._shape import line_count

_OURS = frozenset(("agent", "exec", "person", "host"))


def below_header(call: TranscriptCall) -> str:
    """The content of a command without the lines that say how it ended."""
    return call_ending(call.details).without_outcome(call.content or "")


def without_refusal(call: TranscriptCall) -> TranscriptCall:
    """A call that was refused with nothing but the reason as its content; any other as it is."""
    ending = call_ending(call.details)
    if call.content is None or not ending.by:
        return call
    return msgspec.structs.replace(call, content=ending.why_refused)


def plain_output(call: TranscriptCall) -> str:
    """The text of the pieces, as a terminal would have left it."""
    screen = OutputScreen(height=1)
    for piece in call.pieces:
        screen.feed(clean_output(piece.text), piece.stream)
    screen.finish()
    return "\n".join([row_text(row).rstrip() for row in screen.take_settled()])


def has_more_than_pieces(call: TranscriptCall) -> bool:
    """Whether the result of somebody else's command has the lines that came while it ran, and others."""
    if not call.content or call.source in _OURS or call_ending(call.details).ended:
        return False
    came = plain_output(call).strip("\n")
    whole = clean_text(call.content).strip("\n")
    if call.skipped:  # half a line is where the rest was let go
        came = came.partition("\n")[2]
    more = len(call.content.encode()) > call.received if call.skipped else len(whole) > len(came)
    lines = iter([line.rstrip() for line in whole.split("\n")])
    return more and all(line in lines for line in came.split("\n"))


def lines_in_all(call: TranscriptCall) -> int | None:
    """How many lines an ended command wrote, where its result tells; None where nobody knows."""
    ending = call_ending(call.details)
    if not call.content or ending.cut or ending.ended == "job":
        return None
    is_ours = call.source in _OURS or bool(ending.ended)
    is_whole = ending.outcome_lines is not None if is_ours else len(call.content.encode()) >= call.received
    return line_count(below_header(call)) if is_whole else None
