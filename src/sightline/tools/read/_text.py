"""Texts in memory, read as files are: a document, a notebook, an entry of an archive, an internal resource."""

from pathlib import Path

from sightline.tools._context import ToolContext
from sightline.tools._tool import Outcome
from sightline.tools.files._selectors import Selector
from sightline.tools.read._excerpt import excerpt_of, plan
from sightline.tools.read._present import ReadSubject, mode_of, present

_MARK = "\ufeff"


def lines_of(text: str, *, raw: bool = False) -> list[str]:
    """As they are counted everywhere: no byte order mark, no line ends, none after the last. Raw keeps what it can."""
    lines = (text if raw else text.removeprefix(_MARK).replace("\r\n", "\n")).split("\n")
    if not lines[-1]:
        lines.pop()
    return lines


def present_text(
    text: str, selector: Selector | None, shown: ReadSubject, context: ToolContext, *, file: Path | None = None
) -> Outcome:
    """`file`: where an edit of this text would go; None when it cannot be edited."""
    wanted = plan(selector, default_limit=context.settings.read.default_limit)
    mode = mode_of(context.settings, selector, editable=file is not None)
    tag = context.snapshots.record(file, text) if mode == "hash" and file is not None else ""
    size = len(text.encode("utf-8", "replace"))
    excerpt = excerpt_of(lines_of(text, raw=wanted.raw), wanted, size)
    return present(excerpt, wanted, shown, mode=mode, tag=tag)
