"""Kept conversations: listed, searched, forked, and read again."""

import os
import shutil
import time
from collections.abc import Iterator
from typing import Any

import msgspec

from sightline.conversation import AssistantMessage, UserMessage, text_of
from sightline.journal import Entry, SessionHit, SessionRecord, Store, Tree
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.views.plain._output import write_message, write_text
from sightline.views.plain._palette import CALL, STEP, Palette

NEWEST = 30
_FOLDER = 28  # columns
_CHANGED = 15
_BEFORE_THE_TITLE = 68
_TITLE_SHOWN = 200
_ARGUMENT_SHOWN = 80


def conversations_table(
    store: Store, query: str, palette: Palette, *, cwd: str | None, limit: int | None, archived: bool = False
) -> str:
    """Those that changed last first, or with a query the best first; how many more there are at the end."""
    hits = _hits(store, query, cwd, limit, archived)
    if not hits:
        return _nothing(query, cwd, archived)
    head = f"{'ID':<7} {'CHANGED':>{_CHANGED}} {'MESSAGES':>9}  {'FOLDER':<{_FOLDER}}  TITLE"
    lines = [f"{palette.dim}{head}{palette.reset}"]
    room, home = _room_for_the_title(), os.path.expanduser("~")
    standings = _standings(store, palette) if any(hit.session.running for hit in hits) else {}
    for hit in hits:
        lines.append(_row(hit.session, _changed(hit.session, standings, palette), room, home))
        if query:
            where = f"{hit.entry}: " if hit.entry else ""
            lines.append(f"{palette.dim}        {where}{palette.reset}{_snippet(hit.snippet, palette)}")
    more = 0 if query else store.count(cwd, archived=archived) - len(hits)
    if more > 0:
        lines.append(f"{palette.dim}… {more} more: sightline sessions --all{palette.reset}")
    return "".join(f"{line}\n" for line in lines)


def conversations_json(
    store: Store, query: str, *, cwd: str | None, limit: int | None, archived: bool = False
) -> bytes:
    facts = [_facts(hit, found=bool(query)) for hit in _hits(store, query, cwd, limit, archived)]
    return msgspec.json.format(msgspec.json.encode(facts)) + b"\n"


def unread_note(store: Store) -> str:
    """What a list does not have yet, for want of time."""
    behind = store.catalogue.behind
    sessions = "session is" if behind == 1 else "sessions are"
    return f"note: {behind} {sessions} not read yet\nhint: run it again to see them\n" if behind else ""


def show_conversation(store: Store, session: str, palette: Palette) -> int:
    """What was said on the way to where it goes on, and how to go on."""
    tree = Tree.load(store.folder(session))
    for entry in tree.read(tree.path()):
        for part in _told(entry, palette):
            write_text(1, f"{part}\n\n")
    if tree.unreadable:
        steps = "step" if tree.unreadable == 1 else "steps"
        write_message(2, "note", f"{tree.unreadable} {steps} of this conversation cannot be read")
    running = f" (it is running: sightline attach {session})" if store.is_running(session) else ""
    write_text(1, f"{palette.dim}Resume with: sightline --resume {session}{running}{palette.reset}\n")
    return 0


def _hits(store: Store, query: str, cwd: str | None, limit: int | None, archived: bool) -> list[SessionHit]:
    if query:
        return store.search(query, cwd, limit, archived=archived)
    return [SessionHit(record, "", "") for record in store.conversations(cwd, limit, archived=archived)]


def _nothing(query: str, cwd: str | None, archived: bool) -> str:
    where = " in this folder" if cwd is not None else ""
    if archived and not query:
        return f"no archived sessions{where}\n"
    if query:
        return f"nothing found{where}: fewer or shorter words find more\n"
    return f"no sessions yet{where}: start one with sightline\n"


def _standings(store: Store, palette: Palette) -> dict[str, tuple[str, str]]:
    from sightline.views.plain._standing import hosts_by_session, standing

    return {session: standing(hello, palette) for session, hello in hosts_by_session(store).items()}


def _changed(record: SessionRecord, standings: dict[str, tuple[str, str]], palette: Palette) -> str:
    """When it changed; of one that is open how it stands, or that it runs, where its host has not answered."""
    if not record.running:
        return f"{_ago(record.changed):>{_CHANGED}}"
    state, tint = standings.get(record.id, (f"{STEP['running']} running", palette.busy))
    return f"{tint}{state}{palette.reset}{' ' * (_CHANGED - len(state))}"


def _row(record: SessionRecord, changed: str, room: int, home: str) -> str:
    folder = _short(clean_line(record.cwd), home)
    title = clean_line(record.title or record.first_prompt or record.last_text)
    title = cut_graphemes(title, room)
    return f"{record.id:<7} {changed} {record.messages:>9}  {folder:<{_FOLDER}}  {title}".rstrip()


def _facts(hit: SessionHit, *, found: bool) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(hit.session)
    if found:
        snippet = hit.snippet.replace("\x02", "").replace("\x03", "")
        facts |= {"entry": hit.entry, "snippet": clean_line(snippet)}
    return facts


def _snippet(text: str, palette: Palette) -> str:
    parts = []
    for piece in text.split("\x02"):
        found, mark, rest = piece.rpartition("\x03")
        parts.append(
            f"{palette.bold}{clean_line(found)}{palette.reset}{clean_line(rest)}" if mark else clean_line(rest)
        )
    return "".join(parts)


def _told(entry: Entry, palette: Palette) -> Iterator[str]:
    message = entry.message
    if isinstance(message, UserMessage):
        lines = clean_text(text_of(message)).splitlines() or [""]
        yield "\n".join(f"{palette.bold}> {line}{palette.reset}" for line in lines)
    elif isinstance(message, AssistantMessage):
        if words := clean_text(message.text).strip():
            yield words
        if calls := [_call(call.name, call.args, palette) for call in message.calls]:
            yield "\n".join(calls)
        if message.error or message.stop_reason not in ("stop", "tool_use"):
            why = clean_line(message.error) or message.stop_reason
            yield f"{palette.bad}{STEP['error']} the answer ended early: {why}{palette.reset}"
    elif entry.type == "compaction":
        yield f"{palette.dim}· everything above was summarised for the model{palette.reset}"
    elif entry.type == "branch_summary" and isinstance(entry.data, dict):
        summary = clean_text(str(entry.data.get("summary", "")))
        yield f"{palette.dim}· from a branch that was left: {summary}{palette.reset}"


def _call(name: str, args: dict[str, Any], palette: Palette) -> str:
    first = next((value for value in args.values() if isinstance(value, str)), "")
    arg = cut_graphemes(clean_line(first[: _ARGUMENT_SHOWN * 4]), _ARGUMENT_SHOWN)
    return f"{palette.dim}{CALL}{palette.reset} {palette.bold}{clean_line(name)}{palette.reset} {arg}".rstrip()


def _short(folder: str, home: str) -> str:
    """Its end says more than its beginning."""
    if folder == home or folder.startswith(f"{home}/"):
        folder = f"~{folder[len(home) :]}"
    return folder if len(folder) <= _FOLDER else f"…{folder[1 - _FOLDER :]}"


def _ago(moment: float) -> str:
    seconds = max(time.time() - moment, 0.0)
    for size, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size < 86400 and seconds >= size):
            return f"{int(seconds // size)} {word} ago"
    return "now"


def _room_for_the_title() -> int:
    """A conversation is one row of a terminal. What is piped has room."""
    if not os.isatty(1):
        return _TITLE_SHOWN
    return max(20, min(_TITLE_SHOWN, shutil.get_terminal_size().columns - _BEFORE_THE_TITLE))
