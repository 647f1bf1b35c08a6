"""Text with style laid over it, on its way to becoming rows.

A run is text, the SGR that opens its style, and the address it opens. Where rows break is decided on the plain text
alone, so that style never changes the layout; the runs are then cut at the same places.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from sightline.tty.cells._link import link
from sightline.tty.cells._width import graphemes, measure, wrap
from sightline.tty.theme._theme import RESET


class TextRun(NamedTuple):
    """Text in one style: `style` is the SGR that opens it, `url` what it links to."""

    text: str
    style: str = ""
    url: str = ""


Span = tuple[int, int]


def wrap_runs(runs: Sequence[TextRun], width: int) -> list[str]:
    """Rows of at most `width` cells, broken at spaces where possible; a newline begins a new row."""
    return paint(runs, word_spans(plain(runs), width))


def fold_runs(runs: Sequence[TextRun], width: int) -> list[str]:
    """Rows of at most `width` cells with every character shown: broken only where a row is full."""
    return paint(runs, fold_spans(plain(runs), width))


def word_spans(text: str, width: int) -> list[Span]:
    """Where the rows of wrapped text begin and end; the blanks at a break belong to neither row."""
    if "\n" not in text:
        return _line_spans(text, 0, width)
    spans: list[Span] = []
    start = 0
    for line in text.split("\n"):
        spans += _line_spans(line, start, width)
        start += len(line) + 1
    return spans


def _line_spans(text: str, base: int, width: int) -> list[Span]:
    if not text.isascii():
        return _measured_spans(text, base, width)
    spans: list[Span] = []
    at, size = 0, len(text.rstrip(" "))
    while size - at > width:
        cut = text.rfind(" ", at + 1, at + width + 1)
        end = len(text[at:cut].rstrip(" ")) + at if cut > 0 else at
        if end == at:  # one word longer than the row, or blanks only
            end = cut = at + width
        spans.append((base + at, base + end))
        while text[cut] == " ":
            cut += 1
        at = cut
    spans.append((base + at, base + size))
    return spans


def _measured_spans(text: str, base: int, width: int) -> list[Span]:
    """The same for text whose characters differ in width: the rows of `wrap`, found again in the text."""
    spans: list[Span] = []
    at = 0
    for row in wrap(text, width):
        row = row.rstrip(" ")
        found = text.find(row, at)
        if found < 0:
            return [(base + start, base + end) for start, end in fold_spans(text, width)]
        spans.append((base + found, base + found + len(row)))
        at = found + len(row)
    return spans or [(base, base)]


def fold_spans(text: str, width: int) -> list[Span]:
    """Where rows begin and end when nothing but the width breaks them."""
    if len(text) <= width and (text.isascii() or measure(text) <= width):
        return [(0, len(text))]
    if text.isascii():
        return [(at, min(at + width, len(text))) for at in range(0, len(text), width)]
    starts, at, cells = [0], 0, 0
    for cluster, size in graphemes(text):
        if cells + size > width and cells:
            starts.append(at)
            cells = 0
        at += len(cluster)
        cells += size
    return list(pairwise([*starts, len(text)]))


def paint(runs: Sequence[TextRun], spans: Iterable[Span]) -> list[str]:
    """One row for each span, styled by the runs below it."""
    if len(runs) == 1 and not runs[0].style and not runs[0].url:
        text = runs[0].text
        return [text[start:end] for start, end in spans]
    rows: list[str] = []
    index, base = 0, 0
    for start, end in spans:
        while index < len(runs) and base + len(runs[index].text) <= start:
            base += len(runs[index].text)
            index += 1
        parts: list[str] = []
        at, here = index, base
        while at < len(runs) and here < end:
            text, style, url = runs[at]
            if piece := text[max(start - here, 0) : end - here]:
                styled = f"{style}{piece}{RESET}" if style else piece
                parts.append(link(url, styled) if url else styled)
            here += len(text)
            at += 1
        rows.append("".join(parts))
    return rows


def restyled(runs: Iterable[TextRun], parts: Sequence[tuple[int, int, str]]) -> list[TextRun]:
    """The same text with parts of it (start, end, style) in another style; an empty style changes nothing."""
    made: list[TextRun] = []
    base = 0
    for run in runs:
        at, end = base, base + len(run.text)
        for start, stop, style in parts:
            if start < end and stop > at:
                made.append(run._replace(text=run.text[at - base : max(start, at) - base]))
                made.append(TextRun(run.text[max(start, at) - base : min(stop, end) - base], style or run.style))
                at = min(stop, end)
        made.append(run._replace(text=run.text[at - base :]))
        base = end
    return [run for run in made if run.text]


def cut_runs(runs: Sequence[TextRun], start: int) -> tuple[TextRun, ...]:
    left: list[TextRun] = []
    base = 0
    for run in runs:
        if base + len(run.text) > start:
            left.append(run._replace(text=run.text[max(start - base, 0) :]))
        base += len(run.text)
    return tuple(left)


def plain(runs: Iterable[TextRun]) -> str:
    return "".join(run.text for run in runs)
