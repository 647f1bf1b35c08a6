"""Files and folders of this machine."""

import asyncio
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec

from sightline.events import ImageFact, ListingFact, MarkdownFact, ReadFact
from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome, ToolError
from sightline.tools._truncation import MAX_BYTES, MAX_LINES, fitting, human_size, truncate_head
from sightline.tools.files import _documents, _images
from sightline.tools.files._paths import display, shown
from sightline.tools.files._regular import opened, read_all
from sightline.tools.files._selectors import Selector
from sightline.tools.hashline import header, numbered, split_lines
from sightline.tools.read import _files, _folders
from sightline.tools.read._excerpt import Excerpt, plan_excerpt
from sightline.tools.read._present import (
    DISPLAYED,
    GAP,
    Mode,
    ReadSubject,
    details_of,
    head_truncation,
    mode_of,
    present,
    present_text,
)

NOTEBOOK_BYTES = 50 * 1024**2
MAX_SUMMARY_BYTES = 2 * 1024**2
MAX_SUMMARY_LINES = 20_000
_EXAMPLES = 4
_CLOSERS = {"{": "}", "(": ")", "[": "]"}
T = TypeVar("T")


async def read_local(
    path: Path, selector: Selector | None, context: ToolContext, clock: Callable[[], float] = time.time
) -> Outcome:
    if await asyncio.to_thread(path.is_dir):
        return await _folder(path, selector, context, clock())
    began = time.time()
    outcome = await _file(path, selector, context)
    context.snapshots.note_read(path, began)
    return outcome


async def _file(path: Path, selector: Selector | None, context: ToolContext) -> Outcome:
    name = display(path, context.cwd)
    what = ReadSubject(name=name, source=shown(path))
    raw = selector is not None and selector.raw
    if selector is not None and selector.conflicts:
        return await _conflicts(path, what, context)
    if path.suffix.lower() == ".ipynb" and not raw:
        return await _notebook(path, selector, what, context)
    if _documents.is_document(path.name) and not raw:
        return await _document(path, selector, what, context)
    return await read_file(path, selector, what, context)


async def read_file(
    path: Path, selector: Selector | None, what: ReadSubject, context: ToolContext, *, editable: bool = True
) -> Outcome:
    """A file as text, image or neither; of a big one, only the selected lines are held."""
    plan = plan_excerpt(selector, default_limit=context.settings.read.default_limit)
    content = await _in_thread(lambda stopped: _files.load(path, plan, stopped))
    match content:
        case _files.ImageData(data):
            return await _image(data, what, context)
        case _files.Binary(size):
            text = f"[Cannot read binary file '{what.name}' ({human_size(size)}): use a command to look into it]"
            return Outcome(text=text, details=details_of(ReadFact, what))
        case _files.WholeText(text, note):
            if not editable:
                return present_text(text, selector, _noted(what, note) if note else what, context)
            return await asyncio.to_thread(_whole, path, text, note, selector, what, context)
        case Excerpt():
            return _part(path, content, selector, what, context, editable=editable)


def _whole(
    path: Path, text: str, note: str, selector: Selector | None, what: ReadSubject, context: ToolContext
) -> Outcome:
    if note:
        return present_text(text, selector, _noted(what, note), context)
    if selector is None and (summary := _summary(path, text, what, context)) is not None:
        return summary
    return present_text(text, selector, what, context, file=path)


def _part(
    path: Path, excerpt: Excerpt, selector: Selector | None, what: ReadSubject, context: ToolContext, *, editable: bool
) -> Outcome:
    """Some lines of a big file. Those shown in part are no base for an edit."""
    plan = plan_excerpt(selector, default_limit=context.settings.read.default_limit)
    mode = mode_of(context.settings, selector, editable=editable and not excerpt.garbled)
    tag = ""
    if mode == "hash" and excerpt.lines:
        whole_lines = {number: line for number, line in excerpt.lines.items() if number not in excerpt.long_lines}
        tag = context.snapshots.record_lines(path, whole_lines)
    noted = _noted(what, _files.GARBLED) if excerpt.garbled else what
    return present(excerpt, plan, noted, mode=mode, tag=tag)


def _summary(path: Path, text: str, what: ReadSubject, context: ToolContext) -> Outcome | None:
    """Of a source file that would not be shown whole."""
    settings = context.settings.read
    lines = split_lines(text)
    if not settings.summarize or len(lines) <= min(settings.default_limit, MAX_LINES):
        return None
    mode = mode_of(context.settings, None, editable=True)
    summary = summarize(text, lines, path, mode=mode)
    if summary is None:
        return None
    tag = [header(what.name, context.snapshots.record(path, text))] if mode == "hash" else []
    shown_text = "\n".join([*tag, *summary.rows, "", summary.footer(what.name)])
    details = details_of(ReadFact, what, first=1, last=len(lines), total=len(lines))
    details |= {
        "summary": summary.details(),
        "display_content": {"text": fitting("\n".join(summary.rows), DISPLAYED), "start_line": 1},
    }
    return Outcome(text=shown_text, details=details)


async def _image(data: bytes, what: ReadSubject, context: ToolContext) -> Outcome:
    limits = context.settings.images
    fitted = await asyncio.to_thread(_images.fit, data, max_bytes=limits.max_bytes, max_side=limits.max_side)
    picture = fitted.image
    details = details_of(ImageFact, what, media_type=picture.media_type, bytes=len(picture.data))
    return Outcome(text=f"{fitted.note} {what.name} ({human_size(len(data))})", images=(picture,), details=details)


async def _notebook(path: Path, selector: Selector | None, what: ReadSubject, context: ToolContext) -> Outcome:
    from sightline.tools.files._notebook import to_text

    def converted() -> str:
        with opened(path) as fd:
            data = read_all(fd, NOTEBOOK_BYTES)
        if len(data) > NOTEBOOK_BYTES:
            raise ToolError(f"{what.name} has more than {human_size(NOTEBOOK_BYTES)}. Read lines of it with :A-B:raw.")
        return to_text(data)

    return present_text(await asyncio.to_thread(converted), selector, what, context, file=path)


async def _document(path: Path, selector: Selector | None, what: ReadSubject, context: ToolContext) -> Outcome:
    """The text of a document; of a long one the beginning, or the selected lines."""
    await asyncio.to_thread(_check_readable, path)
    try:
        text = await context.shared(_documents.Conversions).text(path)
    except _documents.DocumentError as error:
        return Outcome(text=_documents.cannot_read(path.name, error), details=details_of(ReadFact, what))
    if selector is not None:
        return present_text(text, selector, what, context)
    cut = truncate_head(text)
    details = details_of(MarkdownFact, what, total=cut.total_lines)
    details["display_content"] = {"text": fitting(cut.text, DISPLAYED), "start_line": 1}
    if not cut.truncated:
        return Outcome(text=text or "[The document has no text]", details=details)
    details["truncation"] = details["meta"]["truncation"] = head_truncation(cut)
    notice = f"[Showing lines 1-{cut.shown_lines} of {cut.total_lines}. Use :{cut.shown_lines + 1} to continue]"
    return Outcome(text=f"{cut.text.rstrip(chr(10))}\n\n{notice}", details=details)


def _check_readable(path: Path) -> None:
    with opened(path):
        pass


async def _conflicts(path: Path, what: ReadSubject, context: ToolContext) -> Outcome:
    from sightline.tools.conflicts import MAX_BYTES as CONFLICT_BYTES
    from sightline.tools.conflicts import Conflicts, render

    def found() -> str:
        text = _files.read_text(path, CONFLICT_BYTES)
        return render(context.shared(Conflicts).register(path, text), what.name)

    return Outcome(text=await asyncio.to_thread(found), details=details_of(ReadFact, what))


async def _folder(path: Path, selector: Selector | None, context: ToolContext, now: float) -> Outcome:
    if selector is not None and selector.conflicts:
        raise ToolError(f"'{display(path, context.cwd)}' is a directory; :conflicts is for files.")
    found = await asyncio.to_thread(_folders.tree, path, now)
    what = ReadSubject(name=display(path, context.cwd), source=shown(path))
    lines, notes = _paged(found.lines, selector)
    details = details_of(ListingFact, what, entries=len(lines))
    details["is_directory"] = True
    if found.limited or notes:
        details["meta"]["limits"] = {"result_limit": len(lines)}
    return Outcome(text="\n".join([*lines, *notes]), details=details)


def _paged(lines: list[str], selector: Selector | None) -> tuple[list[str], list[str]]:
    """The selected rows of a listing, as far as they are shown, and notices."""
    rows = [
        line
        for number, line in enumerate(lines, 1)
        if selector is None or not selector.ranges or any(number in one for one in selector.ranges)
    ]
    if not rows:
        return [], [f"The listing has {len(lines)} rows. Use :1 to read it from the start."]
    cut = truncate_head("\n".join(rows), MAX_LINES, MAX_BYTES)
    if not cut.truncated:
        return rows, []
    return rows[: cut.shown_lines], [f"[{cut.shown_lines} of {len(rows)} rows shown; use :A-B for others]"]


async def _in_thread(work: Callable[[Callable[[], bool]], T]) -> T:
    """Run it in a thread, with a function that is true once the call was cancelled."""
    stopped = threading.Event()
    try:
        return await asyncio.to_thread(work, stopped.is_set)
    finally:
        stopped.set()


def _noted(what: ReadSubject, note: str) -> ReadSubject:
    return msgspec.structs.replace(what, notes=(*what.notes, note))


class FileSummary(msgspec.Struct, frozen=True):
    """A long source file without the bodies of its functions, and where to find what was left out."""

    rows: list[str]
    elided: list[tuple[int, int]]
    lines: int

    @property
    def elided_lines(self) -> int:
        return sum(last - first + 1 for first, last in self.elided)

    def footer(self, name: str) -> str:
        ranges = ",".join(f"{first}-{last}" for first, last in self.elided[:_EXAMPLES])
        return f"[{self.elided_lines} lines elided; re-read needed ranges, e.g. {name}:{ranges}]"

    def details(self) -> dict[str, int]:
        return {"lines": self.lines, "elided_spans": len(self.elided), "elided_lines": self.elided_lines}


def summarize(text: str, lines: Sequence[str], path: Path, *, mode: Mode) -> FileSummary | None:
    """None when it cannot be done, would leave nothing out, or would still be too long."""
    if len(text.encode("utf-8", "replace")) > MAX_SUMMARY_BYTES or len(lines) > MAX_SUMMARY_LINES:
        return None
    from sightline.tools.files._blocks import outline

    elided = [(first, min(last, len(lines))) for first, last in outline("\n".join(lines), path)]
    if not elided:
        return None
    rows = _rows(lines, elided, mode)
    too_long = len(rows) > MAX_LINES or sum(len(row.encode("utf-8", "replace")) + 1 for row in rows) > MAX_BYTES
    return None if too_long else FileSummary(rows, elided, len(lines))


def _rows(lines: Sequence[str], elided: Sequence[tuple[int, int]], mode: Mode) -> list[str]:
    rows: list[str] = []
    at = 1
    for first, last in elided:
        rows += [_row(number, lines[number - 1], mode) for number in range(at, first)]
        if at < first and last < len(lines) and _is_pair(lines[first - 2], lines[last]):
            joined = f"{lines[first - 2].rstrip()} .. {lines[last].strip()}"
            rows[-1] = joined if mode == "plain" else f"{first - 1}-{last + 1}:{joined}"
            at = last + 2
        else:
            rows.append(GAP)
            at = last + 1
    return rows + [_row(number, lines[number - 1], mode) for number in range(at, len(lines) + 1)]


def _row(number: int, line: str, mode: Mode) -> str:
    return line if mode == "plain" else numbered(number, line)


def _is_pair(opener: str, closer: str) -> bool:
    closing = _CLOSERS.get(opener.rstrip()[-1:])
    return closing is not None and closer.strip().startswith(closing)
