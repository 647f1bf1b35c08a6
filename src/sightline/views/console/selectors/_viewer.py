"""`/output`: the whole output of a call, however much of it was cut on the screen."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sightline.events import DiffFact, TodoFact
from sightline.journal import artifact_file
from sightline.secrets import MaskedArtifact, secrets_here
from sightline.text import clean_line
from sightline.transcript import TranscriptCall
from sightline.tty import Theme, expand_tabs
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._pager import Opens, PagerDocument, show
from sightline.views.console.selectors._pages import ChangingText, PagerSource, TextInMemory

_TITLE = 200


async def view_output(desk: Desk, calls: Sequence[TranscriptCall], back: int = 0) -> None:
    """Opens on the last call (a change of the todo list is none: it has a panel), or on the one so many back; others
    are beside it."""
    shown = [call for call in calls if _has_something(call)]
    if not shown:
        desk.report("no call has any output yet")
        return
    if back > len(shown):
        known = f"there are only {len(shown)}" if len(shown) > 1 else "there is only one"
        desk.report(f"no call that many back: {known}", "warning", "/output 1 is the last")
        return
    last = len(shown) - 1
    no_plan = (n for n in range(last, -1, -1) if TodoFact.of(shown[n].details) is None)
    at = len(shown) - back if back else next(no_plan, last)
    await show(desk, [opens(desk, call) for call in shown], at)


def opens(desk: Desk, call: TranscriptCall) -> Opens:
    def document() -> PagerDocument:
        diff = diff_of(call.details)
        return PagerDocument(
            title_of(call),
            TextInMemory(diff) if diff else _source(desk, call),
            lambda: call.content is None,
            paint_diff if diff else None,
        )

    return document


def diff_of(details: object) -> str:
    """The diff in the details of a call; empty when there is none."""
    fact = DiffFact.of(details)
    return fact.diff if fact else ""


def title_of(call: TranscriptCall) -> str:
    arg = call.arg or next((value for value in _arguments(call).values() if isinstance(value, str)), "")
    ended = f" · exit {call.exit_code}" if call.exit_code is not None else " · failed" if call.is_error else ""
    return f"{clean_line(call.name)} {clean_line(arg[:_TITLE])}".strip() + ended


def paint_diff(line: str, theme: Theme) -> str:
    """One line of a diff."""
    line = expand_tabs(line)
    if line.startswith(("+++", "---")):
        return theme.style("title", line)
    roles = {"+": "diff_added", "-": "diff_removed", "@": "diff_hunk"}
    return theme.style(roles.get(line[:1], "diff_context"), line)


def _source(desk: Desk, call: TranscriptCall) -> PagerSource:
    """The stored output without secrets; else what the fold has; else the arguments of the call."""
    path = artifact_file(desk.store.folder(desk.session), call.id) if desk.session else None
    if path is not None:
        return MaskedArtifact(path, secrets_here(desk.settings), lambda: call.content is None)
    if call.content is None and (call.args is not None or call.received):
        return ChangingText(lambda: call.output, lambda: call.updates)
    if text := call.content or call.output:
        return TextInMemory(text)
    if call.args is None:
        return TextInMemory(call.written)
    return TextInMemory(msgspec.json.format(msgspec.json.encode(call.args)).decode())


def _has_something(call: TranscriptCall) -> bool:
    return bool(call.received or call.content or call.args or call.written)


def _arguments(call: TranscriptCall) -> dict[str, Any]:
    return call.args if isinstance(call.args, dict) else {}
