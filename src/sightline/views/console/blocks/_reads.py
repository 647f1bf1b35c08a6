"""A group of calls that only read something: one header, and every name below."""

from collections.abc import Sequence
from typing import NamedTuple

from sightline.events import ReadFact, ui_fact
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import measure, truncate
from sightline.views.console._drawing import DrawingOptions
from sightline.views.console.blocks._header import INDENT, sign_of
from sightline.views.console.shapes import shape_of

_BETWEEN = ", "


class ReadSummary(NamedTuple):
    """What is shown of one call. It has ended, so this is found once."""

    label: str
    title: str
    suffix: str
    is_file: bool


def read_of(call: TranscriptCall, drawing: DrawingOptions) -> ReadSummary:
    shape = shape_of(call, drawing)
    return ReadSummary(clean_line(call.name), shape.title, shape.suffix, isinstance(ui_fact(call.details), ReadFact))


def group_rows(reads: Sequence[ReadSummary], drawing: DrawingOptions, width: int) -> tuple[str, ...]:
    """The header, and the names side by side; unfolded, one a row with its size."""
    theme = drawing.theme
    labels = list(dict.fromkeys(read.label for read in reads))
    sign, role = sign_of("ok", spoken=drawing.linear)
    way = drawing.way_to("view_output")
    key = f" ({way})" if way else ""
    what = "files" if all(read.is_file for read in reads) else "files and folders"
    head = truncate(f"{'/'.join(labels)} {len(reads)} {what}", width - measure(sign) - 1 - len(key))
    first = f"{theme.style(role, sign)} {theme.style('strong', head)}{theme.style('muted', key)}"
    if drawing.unfolded:
        rows = [f"{read.title} {theme.style('muted', read.suffix)}" for read in reads]
    else:
        rows = _packed([read.title for read in reads], width - len(INDENT))
    return (first, *(INDENT + truncate(row, width - len(INDENT)) for row in rows))


def _packed(names: Sequence[str], width: int) -> list[str]:
    rows: list[str] = []
    for name in names:
        joined = f"{rows[-1]}{_BETWEEN}{name}" if rows else name
        if rows and measure(joined) <= width:
            rows[-1] = joined
        else:
            if rows:
                rows[-1] += _BETWEEN.rstrip()
            rows.append(name if measure(name) <= width else _end_of(name, width))
    return rows


def _end_of(name: str, width: int) -> str:
    """The end of a path that does not fit: it is what differs from other paths."""
    while measure(name) > max(width - 1, 1):
        name = name[1:]
    return "…" + name
