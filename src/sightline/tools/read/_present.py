"""An excerpt as a model reads it: a header, numbered lines, and what it should know in brackets at the end."""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from sightline.events import ReadFact, UiFact
from sightline.settings import Settings
from sightline.tools._sizes import human_size
from sightline.tools._tool import Outcome
from sightline.tools._truncation import fitting
from sightline.tools.files._selectors import Selector
from sightline.tools.hashline import header, numbered
from sightline.tools.read._excerpt import Excerpt, ExcerptPlan

GAP = "..."
DISPLAYED = 48 * 1024  # bytes of a text in details
Mode = Literal["hash", "numbers", "plain"]


class ReadSubject(msgspec.Struct, frozen=True, kw_only=True):
    """What is being read: `name` as the model is to write it again, `source` for views."""

    name: str
    source: str
    source_kind: Literal["path", "url", "internal"] = "path"
    noun: str = "file"  # what it is called in messages
    notes: tuple[str, ...] = ()


def mode_of(settings: Settings, selector: Selector | None, *, editable: bool) -> Mode:
    """Tags are for what the edit tool can change; raw is the text and nothing else."""
    if selector is not None and selector.raw:
        return "plain"
    if editable and settings.read.hash_lines:
        return "hash"
    return "numbers" if settings.read.line_numbers else "plain"


def present(excerpt: Excerpt, wanted: ExcerptPlan, shown: ReadSubject, *, mode: Mode, tag: str = "") -> Outcome:
    """The text and details of a read. A tag makes it one that can be edited."""
    is_empty = excerpt.total_lines == 0
    if _is_beyond(excerpt, wanted) and not (is_empty and wanted.asked[0].first == 1):
        return _beyond(excerpt, wanted, shown)
    body = [header(shown.name, tag)] if mode == "hash" and tag else []
    body += [f"[The {shown.noun} is empty]"] if is_empty else _body(excerpt, mode)
    notices = [*shown.notes, *_notices(excerpt, wanted, shown, mode)]
    text = "\n".join(body) + ("\n\n" + "\n".join(notices) if notices else "")
    return Outcome(text=text, details=_details(excerpt, shown))


def _body(excerpt: Excerpt, mode: Mode) -> list[str]:
    """The lines, with a mark where some between them are left out."""
    rows: list[str] = []
    before = None
    for number, line in excerpt.lines.items():
        if before is not None and number != before + 1:
            rows.append(GAP)
        rows.append(line if mode == "plain" else numbered(number, line))
        before = number
    return rows


def _notices(excerpt: Excerpt, wanted: ExcerptPlan, shown: ReadSubject, mode: Mode) -> list[str]:
    found = []
    for number, size in excerpt.long_lines.items():
        cut = human_size(wanted.longest_line)
        hint = "" if mode == "plain" else f"; {shown.name}:{number}-{number}:raw shows more of it"
        found.append(f"[Line {number} has {human_size(size)}, of which the first {cut} are shown{hint}]")
    last = next(reversed(excerpt.lines), 0)
    rest_is_open = wanted.ranges[-1].last is None
    if excerpt.cut_by is not None or (rest_is_open and excerpt.total_lines not in (last, 0)):
        found.append(_cut_notice(excerpt, last))
    for one in wanted.asked:
        if excerpt.total_lines is not None and excerpt.lines and one.first > excerpt.total_lines:
            found.append(f"[Line {one.first} is beyond the end of the {shown.noun} ({_lines(excerpt.total_lines)})]")
    return found


def _cut_notice(excerpt: Excerpt, last: int) -> str:
    spans = ", ".join(f"{first}-{end}" for first, end in excerpt.spans())
    of = f" of {excerpt.total_lines}" if excerpt.total_lines is not None else ""
    limit = ", as much as one read shows" if excerpt.cut_by == "bytes" else ""
    return f"[Showing lines {spans}{of} ({human_size(excerpt.total_bytes)} in all{limit}). Use :{last + 1} to continue]"


def _is_beyond(excerpt: Excerpt, wanted: ExcerptPlan) -> bool:
    """Whether nothing that was asked for exists; the lines around it may."""
    return excerpt.total_lines is not None and wanted.asked[0].first > excerpt.total_lines


def _beyond(excerpt: Excerpt, wanted: ExcerptPlan, shown: ReadSubject) -> Outcome:
    total = excerpt.total_lines or 0
    if total == 0:
        text = f"Line {wanted.asked[0].first} is beyond the end: the {shown.noun} is empty. Use :1 to read it anyway."
    else:
        text = (
            f"Line {wanted.asked[0].first} is beyond the end of the {shown.noun} ({_lines(total)}). "
            f"Use :1 to read from the start, or :{total} to read the last line."
        )
    return Outcome(text="\n".join([text, *shown.notes]), details=_details(excerpt, shown))


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def details_of(kind: Callable[..., UiFact], shown: ReadSubject, **facts: Any) -> dict[str, Any]:
    """What every result says of itself."""
    meta = {"source": {"type": shown.source_kind, "value": shown.source}}
    return kind(path=shown.name, **facts).as_details(meta=meta)


def _details(excerpt: Excerpt, shown: ReadSubject) -> dict[str, Any]:
    first, last = next(iter(excerpt.lines), 0), next(reversed(excerpt.lines), 0)
    details = details_of(ReadFact, shown, first=first, last=last, total=excerpt.total_lines)
    text = "\n".join(_body(excerpt, "plain"))
    details["display_content"] = {"text": fitting(text, DISPLAYED), "start_line": first or 1}
    if excerpt.cut_by is not None:
        details["truncation"] = details["meta"]["truncation"] = _truncation(excerpt, last)
    return details


def _truncation(excerpt: Excerpt, last: int) -> dict[str, Any]:
    return {
        "by": excerpt.cut_by,
        "shown_ranges": [list(span) for span in excerpt.spans()][:100],
        "total_lines": excerpt.total_lines,
        "total_bytes": excerpt.total_bytes,
        "next_offset": last + 1,
    }
