"""All a call said, whatever was cut of it on the screen."""

from collections.abc import Sequence
from typing import Any

import msgspec

from sightline.host import MaskedArtifact, secrets_here
from sightline.journal import artifact_file
from sightline.text import clean_line
from sightline.transcript import Call
from sightline.tty import Theme, expand_tabs
from sightline.views.console._desk import Desk
from sightline.views.console.selectors._pager import Document, Opens, show
from sightline.views.console.selectors._pages import Kept, Source, Told

_TITLE = 200


async def view_output(desk: Desk, calls: Sequence[Call], back: int = 0) -> None:
    """Opens on the last call (a change of the todo list is none: it has a panel), or on the one so many back; others
    are beside it."""
    told = [call for call in calls if _has_something(call)]
    if not told:
        desk.tell("no call has any output yet")
        return
    if back > len(told):
        known = f"there are only {len(told)}" if len(told) > 1 else "there is only one"
        desk.tell(f"no call that many back: {known}", "warning", "/output 1 is the last")
        return
    last = len(told) - 1
    at = len(told) - back if back else next((n for n in range(last, -1, -1) if not _is_todo(told[n])), last)
    await show(desk, [opens(desk, call) for call in told], at)


def opens(desk: Desk, call: Call) -> Opens:
    """What a call said, to be looked at."""

    def document() -> Document:
        diff = diff_of(call.details)
        return Document(
            title_of(call),
            Kept(diff) if diff else _source(desk, call),
            lambda: call.content is None,
            paint_diff if diff else None,
        )

    return document


def diff_of(details: Any) -> str:
    """The diff in what a call tells of itself, by its shape; empty when there is none."""
    if not isinstance(details, dict) or not isinstance(details.get("ui"), dict):
        return ""
    diff = details.get("diff")
    return diff if details["ui"].get("kind") == "diff" and isinstance(diff, str) else ""


def title_of(call: Call) -> str:
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


def _source(desk: Desk, call: Call) -> Source:
    """What was kept byte for byte, without secrets; else what the fold has; else what the call was told to do."""
    path = artifact_file(desk.store.folder(desk.session), call.id) if desk.session else None
    if path is not None:
        return MaskedArtifact(path, secrets_here(desk.settings), lambda: call.content is None)
    if call.content is None and (call.args is not None or call.received):
        return Told(lambda: call.output, lambda: call.updates)
    if text := call.content or call.output:
        return Kept(text)
    if call.args is None:
        return Kept(call.written)
    return Kept(msgspec.json.format(msgspec.json.encode(call.args)).decode())


def _is_todo(call: Call) -> bool:
    ui = call.details.get("ui") if isinstance(call.details, dict) else None
    return isinstance(ui, dict) and ui.get("kind") == "todo"


def _has_something(call: Call) -> bool:
    return bool(call.received or call.content or call.args or call.written)


def _arguments(call: Call) -> dict[str, Any]:
    return call.args if isinstance(call.args, dict) else {}
