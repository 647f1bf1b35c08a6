"""An excerpt as a model reads it: a header, numbered lines, and notices in brackets at the end."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec

from sightline.events import ReadFact, UiFact
from sightline.settings import Settings
from sightline.tools._context import ToolContext
from sightline.tools._tool import Details, Outcome
from sightline.tools._truncation import Truncated, fitting, human_size
from sightline.tools.files._selectors import Selector
from sightline.tools.hashline import header, numbered, split_lines
from sightline.tools.read._excerpt import Excerpt, ExcerptPlan, excerpt_of, plan_excerpt

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


def present_text(
    text: str,
    selector: Selector | None,
    subject: ReadSubject,
    context: ToolContext,
    *,
    file: Path | None = None,
    default_limit: int | None = None,
) -> Outcome:
    """A text in memory, read as files are. `file`: where an edit of it would go; None when it cannot be edited.
    `default_limit`: in place of that of the settings."""
    plan = plan_excerpt(selector, default_limit=default_limit or context.settings.read.default_limit)
    mode = mode_of(context.settings, selector, editable=file is not None)
    tag = context.snapshots.record(file, text) if mode == "hash" and file is not None else ""
    excerpt = excerpt_of(split_lines(text, raw=plan.raw), plan, len(text.encode("utf-8", "replace")))
    return present(excerpt, plan, subject, mode=mode, tag=tag)


def present(excerpt: Excerpt, plan: ExcerptPlan, subject: ReadSubject, *, mode: Mode, tag: str = "") -> Outcome:
    """The text and details of a read. A tag makes it one that can be edited."""
    is_empty = excerpt.total_lines == 0
    is_beyond = excerpt.total_lines is not None and plan.requested[0].first > excerpt.total_lines
    if is_beyond and not (is_empty and plan.requested[0].first == 1):  # lines around the requested ones may exist
        return _beyond(excerpt, plan, subject)
    body = [header(subject.name, tag)] if mode == "hash" and tag else []
    body += [f"[The {subject.noun} is empty]"] if is_empty else _body(excerpt, mode)
    notices = [*subject.notes, *_notices(excerpt, plan, subject, mode)]
    text = "\n".join(body) + ("\n\n" + "\n".join(notices) if notices else "")
    return Outcome(text=text, details=_details(excerpt, subject))


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


def _notices(excerpt: Excerpt, plan: ExcerptPlan, subject: ReadSubject, mode: Mode) -> list[str]:
    found = []
    for number, size in excerpt.long_lines.items():
        cut = human_size(plan.longest_line)
        hint = "" if mode == "plain" else f"; {subject.name}:{number}-{number}:raw shows more of it"
        found.append(f"[Line {number} has {human_size(size)}, of which the first {cut} are shown{hint}]")
    last = next(reversed(excerpt.lines), 0)
    rest_is_open = plan.ranges[-1].last is None
    if excerpt.cut_by is not None or (rest_is_open and excerpt.total_lines not in (last, 0)):
        found.append(_cut_notice(excerpt, last))
    for one in plan.requested:
        if excerpt.total_lines is not None and excerpt.lines and one.first > excerpt.total_lines:
            found.append(f"[Line {one.first} is beyond the end of the {subject.noun} ({_lines(excerpt.total_lines)})]")
    return found


def _cut_notice(excerpt: Excerpt, last: int) -> str:
    spans = ", ".join(f"{first}-{end}" for first, end in excerpt.spans())
    of = f" of {excerpt.total_lines}" if excerpt.total_lines is not None else ""
    limit = ", as much as one read shows" if excerpt.cut_by == "bytes" else ""
    return f"[Showing lines {spans}{of} ({human_size(excerpt.total_bytes)} in all{limit}). Use :{last + 1} to continue]"


def _beyond(excerpt: Excerpt, plan: ExcerptPlan, subject: ReadSubject) -> Outcome:
    first, total = plan.requested[0].first, excerpt.total_lines or 0
    if total == 0:
        text = f"Line {first} is beyond the end: the {subject.noun} is empty. Use :1 to read it anyway."
    else:
        text = (
            f"Line {first} is beyond the end of the {subject.noun} ({_lines(total)}). "
            f"Use :1 to read from the start, or :{total} to read the last line."
        )
    return Outcome(text="\n".join([text, *subject.notes]), details=_details(excerpt, subject))


def _lines(count: int) -> str:
    return f"{count} line{'' if count == 1 else 's'}"


def details_of(kind: Callable[..., UiFact], subject: ReadSubject, **facts: object) -> Details:
    """The details every read result has."""
    meta = {"source": {"type": subject.source_kind, "value": subject.source}}
    return kind(path=subject.name, **facts).as_details(meta=meta)


def _details(excerpt: Excerpt, subject: ReadSubject) -> Details:
    first, last = next(iter(excerpt.lines), 0), next(reversed(excerpt.lines), 0)
    details = details_of(ReadFact, subject, first=first, last=last, total=excerpt.total_lines)
    text = "\n".join(_body(excerpt, "plain"))
    details["display_content"] = {"text": fitting(text, DISPLAYED), "start_line": first or 1}
    if excerpt.cut_by is not None:
        ranges = [list(span) for span in excerpt.spans()][:100]
        found = _truncation(excerpt.cut_by, ranges, excerpt.total_lines, excerpt.total_bytes, last)
        details["truncation"] = details["meta"]["truncation"] = found
    return details


def head_truncation(cut: Truncated) -> Details:
    """Of a text whose beginning is shown."""
    return _truncation(cut.by, [[1, cut.shown_lines]], cut.total_lines, cut.total_bytes, cut.shown_lines)


def _truncation(by: str | None, ranges: list[list[int]], lines: int | None, size: int, last: int) -> Details:
    return {"by": by, "shown_ranges": ranges, "total_lines": lines, "total_bytes": size, "next_offset": last + 1}
