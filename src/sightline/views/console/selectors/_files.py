"""`/files`: the files changed in this session, each with its diffs, and opened in the user's editor.

Files are found by the details of calls (`details.ui.kind` is `diff`), whichever agent made the call.
"""

from collections.abc import Iterable, Iterator
from functools import partial

import msgspec

from sightline.events import DiffFact
from sightline.text import clean_line
from sightline.transcript import Entry, TranscriptCall
from sightline.tty.components import Item
from sightline.views.console._desk import Desk
from sightline.views.console._external import edit_file
from sightline.views.console.selectors._pager import PagerDocument, show
from sightline.views.console.selectors._pages import TextInMemory
from sightline.views.console.selectors._panel import ChoicePanel
from sightline.views.console.selectors._viewer import paint_diff


class Changed(msgspec.Struct):
    """A file, and its changes."""

    path: str
    diffs: list[str] = []
    added: int = 0
    removed: int = 0
    created: bool = False


class _Edit(msgspec.Struct, frozen=True):
    path: str


async def open(desk: Desk, args: str) -> None:
    at = args.strip()
    while True:
        files = changed_files(desk.state.shown)
        if not files:
            desk.report("no file has been changed in this session")
            return
        chosen = await desk.ask(_panel(desk, files, at))
        if chosen is None:
            return
        if isinstance(chosen, _Edit):
            at = chosen.path
            edit_file(desk, at)
        else:
            at = chosen
            await show(desk, [partial(_document, file) for file in files.values()], list(files).index(at))


def _panel(desk: Desk, files: dict[str, Changed], at: str) -> ChoicePanel:
    panel = ChoicePanel(
        desk,
        "Files changed",
        [_item(file) for file in files.values()],
        at=at,
        confirm="open",
        hints=(("list_edit", "edit"),),
        keys={"list_edit": lambda item: panel.finish(_Edit(item.value))},
    )
    return panel


def changed_files(entries: Iterable[Entry]) -> dict[str, Changed]:
    """By path, in the order of their first change. A call that failed or has not ended changed nothing."""
    found: dict[str, Changed] = {}
    for entry in entries:
        if isinstance(entry, TranscriptCall) and entry.content is not None and not entry.is_error:
            for change in _changes(entry.details):
                file = found.setdefault(change.path, Changed(change.path, created=change.created))
                file.diffs += change.diffs
                file.added += change.added
                file.removed += change.removed
    return found


def _changes(details: object) -> Iterator[Changed]:
    fact = DiffFact.of(details)
    if fact is None or not fact.diff or fact.partial:
        return
    for change in fact.changes:
        if change.path:
            lines = change.diff.split("\n")  # a form feed or U+2028 is part of its line
            yield Changed(
                change.path,
                [change.diff],
                sum(line.startswith("+") and not line.startswith("+++") for line in lines),
                sum(line.startswith("-") and not line.startswith("---") for line in lines),
                change.op == "create",
            )


def _item(file: Changed) -> Item:
    times = f" · {len(file.diffs)} changes" if len(file.diffs) > 1 else ""
    return Item(
        file.path, clean_line(file.path), f"{'new · ' if file.created else ''}+{file.added} −{file.removed}{times}"
    )


def _document(file: Changed) -> PagerDocument:
    return PagerDocument(file.path, TextInMemory("\n".join(file.diffs)), paint=paint_diff)
