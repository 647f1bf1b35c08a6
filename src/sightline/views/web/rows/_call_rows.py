"""The rows of a call that has no artifact: of what it returned, as the fold knows it."""

from sightline.text import OutputScreen, clean_output
from sightline.transcript import TranscriptCall
from sightline.views.web.rows._json import encode_row, skipped_row


def rows_of(call: TranscriptCall) -> list[bytes]:
    """Its result where there is one, else what was seen of its output."""
    screen = OutputScreen()
    if call.content:
        screen.feed(clean_output(call.content))
        screen.finish()
        return [encode_row(row) for row in screen.take_settled()]
    rows: list[bytes] = []
    if call.skipped:
        rows.append(skipped_row(call.skipped))
    for piece in call.pieces:
        if piece.dropped:
            screen.finish()
            rows += [encode_row(row) for row in screen.take_settled()]
            rows.append(skipped_row(piece.dropped))
        screen.feed(clean_output(piece.text), piece.stream)
    screen.finish()
    return rows + [encode_row(row) for row in screen.take_settled()]
