"""What a result says, and to whom: a model is told of a command in words that a header says to a person.

- Of our own calls the content is for the model. How a command ended, that it wrote nothing, and what was refused stand
  in the header: below it stays what it does not say.
- Of others' commands the content is their output, and may have more than the pieces that came while it ran.
"""

import msgspec

from sightline.conversation import reason_refused, says_the_end
from sightline.text import Screen, clean_output, clean_text, row_text
from sightline.transcript import Call
from sightline.views.console.shapes._command_line import COMMANDS
from sightline.views.console.shapes._shape import details_of, kind_of, line_count, record, text_in

_OURS = frozenset(("agent", "exec", "person", "host"))
_CUT = "[the last "  # how the words for a model begin where they are not all of an output


def below_header(call: Call) -> str:
    """The content of a command without the lines that say how it ended."""
    content = call.content or ""
    said = call.exit_code is not None and kind_of(call) == "command"
    if not said and details_of(call).get("ended") != "cancelled":
        return content
    return "\n".join([line for line in content.split("\n") if not says_the_end(line)])


def without_refusal(call: Call) -> Call:
    """A call that was refused with nothing but the reason as its content; any other as it is."""
    if call.content is None or details_of(call).get("ended") != "refused":
        return call
    return msgspec.structs.replace(call, content=_reason(call))


def _reason(call: Call) -> str:
    content = call.content or ""
    if wanted := text_in(record(call.args), *COMMANDS).strip():  # whatever stands in the command itself is no reason
        content = content.replace(wanted, "", 1)
    reason = reason_refused(content)
    return call.content or "" if reason is None else reason


def plain_output(call: Call) -> str:
    """The text of the pieces, as a terminal would have left it."""
    screen = Screen(height=1)
    for piece in call.pieces:
        screen.feed(clean_output(piece.text), piece.stream)
    screen.finish()
    return "\n".join([row_text(row).rstrip() for row in screen.take_settled()])


def has_more_than_pieces(call: Call) -> bool:
    """Whether the result of somebody else's command has the lines that came while it ran, and others."""
    if not call.content or call.source in _OURS or "ended" in details_of(call):
        return False
    came = plain_output(call).strip("\n")
    whole = clean_text(call.content).strip("\n")
    if call.skipped:  # half a line is where the rest was let go
        came = came.partition("\n")[2]
    more = len(call.content.encode()) > call.received if call.skipped else len(whole) > len(came)
    lines = iter([line.rstrip() for line in whole.split("\n")])
    return more and all(line in lines for line in came.split("\n"))


def lines_in_all(call: Call) -> int | None:
    """How many lines an ended command wrote, where its result tells; None where nobody knows."""
    if not call.content or call.content.startswith(_CUT) or details_of(call).get("ended") == "job":
        return None
    is_ours = call.source in _OURS or "ended" in details_of(call)
    is_whole = is_ours or len(call.content.encode()) >= call.received
    return line_count(below_header(call)) if is_whole else None
