"""Stored conversations: listed, searched and printed."""

import time
from collections.abc import Iterator, Mapping

import msgspec

from sightline.conversation import AssistantMessage, ToolMessage, UserMessage, text_of, user_run_of
from sightline.events import CallEnding
from sightline.journal import NATIVE, Entry, SessionHit, SessionRecord, SessionTree, Store
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.views._names import listed_title, session_folder, title_of
from sightline.views.plain._output import pretty_json, write_message, write_text
from sightline.views.plain._palette import CALL, STEP, Palette
from sightline.views.plain._table import NARROW, WIDE, Cell, Column, Tinted, cut_columns, draw_table

NEWEST = 30
_ARGUMENT_SHOWN = 80
_FAILURE_SHOWN = 200
_TITLE_ROOM = 60
_OURS = "Sightline"
_AROUND_A_TITLE = 48  # columns of the question


def conversations_table(
    store: Store,
    query: str,
    palette: Palette,
    *,
    cwd: str | None,
    limit: int | None,
    archived: bool = False,
    columns: int | None = None,
) -> str:
    """Those that changed last first, or with a query the best first; how many more there are at the end. `columns`: of
    the terminal. A state is shown where one is running, the folder where there may be several."""
    hits = _hits(store, query, cwd, limit, archived)
    if not hits:
        return _nothing(store, query, cwd, archived)
    some_run = any(hit.session.running for hit in hits)
    states = _states(store, palette) if some_run else {}
    shown = [
        _ID,
        _AGENT,
        *([_STATE] if some_run else []),
        _CHANGED,
        *([_MESSAGES] if columns is None or columns >= WIDE else []),
        *([_FOLDER] if cwd is None and (columns is None or columns >= NARROW) else []),
        _TITLE,
    ]
    rows = [_cells(store, hit.session, states, palette) for hit in hits]
    head, *drawn = draw_table(shown, [[row[column.name] for column in shown] for row in rows], palette, columns)
    lines = [head]
    for hit, row in zip(hits, drawn, strict=True):
        lines.append(row)
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
    return pretty_json(facts)


def names_of(store: Store, sessions: list[str], columns: int | None) -> list[str]:
    """Each as its id and its title, for a question about them."""
    titles = {record.id: title_of(record) for record in store.conversations() if record.id in sessions}
    titles |= {record.id: title_of(record) for record in store.conversations(archived=True) if record.id in sessions}
    room = _TITLE_ROOM if columns is None else max(columns - _AROUND_A_TITLE, _TITLE_ROOM // 3)
    shown = {session: cut_columns(title, room) for session, title in titles.items()}
    return [f"{session} “{shown[session]}”" if shown.get(session) else session for session in sessions]


def unread_note(store: Store) -> str:
    """A note about sessions that a list does not have yet, for want of time."""
    behind = store.catalogue.behind
    sessions = "session is" if behind == 1 else "sessions are"
    return f"note: {behind} {sessions} not read yet\nhint: run it again to see them\n" if behind else ""


def show_conversation(store: Store, session: str, palette: Palette) -> int:
    """Print the current branch of a conversation, and how to resume it."""
    tree = SessionTree.load(store.folder(session))
    for entry in tree.read(tree.path()):
        for part in _paragraphs(entry, palette):
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


def _nothing(store: Store, query: str, cwd: str | None, archived: bool) -> str:
    where = " in this folder" if cwd is not None else ""
    if archived and not query:
        return f"no archived sessions{where}\n"
    if query:
        hidden = store.count(cwd, archived=True) if not archived else 0
        more = f"; --archived searches the {hidden:,} archived" if hidden else ""
        return f"nothing found{where}: fewer or shorter words find more{more}\n"
    return f"no sessions yet{where}: start one with sightline\n"


_ID, _AGENT, _STATE, _TITLE = Column("ID"), Column("AGENT"), Column("STATE"), Column("TITLE")
_CHANGED, _MESSAGES = Column("CHANGED", right=True), Column("MESSAGES", right=True)
_FOLDER = Column("FOLDER", gives_way=True)


def _states(store: Store, palette: Palette) -> dict[str, Tinted]:
    from sightline.views.plain._standing import hosts_by_session, standing

    return {session: Tinted(*standing(hello, palette)) for session, hello in hosts_by_session(store).items()}


def _cells(store: Store, record: SessionRecord, states: dict[str, Tinted], palette: Palette) -> dict[str, Cell]:
    """By the name of the column. One whose host does not answer is running all the same."""
    running = states.get(record.id, Tinted(f"{STEP['running']} running", palette.busy))
    return {
        "ID": record.id,
        "AGENT": record.provider or _OURS,
        "STATE": running if record.running else "",
        "CHANGED": _ago(record.changed),
        "MESSAGES": str(record.messages),
        "FOLDER": session_folder(store, record),
        "TITLE": listed_title(record),
    }


def _facts(hit: SessionHit, *, found: bool) -> dict[str, object]:
    facts: dict[str, object] = msgspec.to_builtins(hit.session)
    facts["provider"] = hit.session.provider or NATIVE
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


def _paragraphs(entry: Entry, palette: Palette) -> Iterator[str]:
    message = entry.message
    if isinstance(message, UserMessage) and (run := user_run_of(message)) is not None:
        yield "\n".join(f"{palette.bold}> {line}{palette.reset}" for line in clean_text(run[0]).splitlines())
        yield clean_text(run[1])
    elif isinstance(message, UserMessage) and message.origin:
        yield "\n".join(f"{palette.dim}· {line}{palette.reset}" for line in clean_text(text_of(message)).splitlines())
    elif isinstance(message, UserMessage):
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
    elif isinstance(message, ToolMessage) and message.is_error:
        yield f"  {palette.bad}{STEP['error']} {clean_line(message.name)}: {_failure(message)}{palette.reset}"
    elif entry.type == "compaction":
        yield f"{palette.dim}· everything above was summarised for the model{palette.reset}"
    elif entry.type == "branch_summary" and isinstance(entry.data, dict):
        summary = clean_text(str(entry.data.get("summary", "")))
        yield f"{palette.dim}· from a branch that was left: {summary}{palette.reset}"


def _failure(message: ToolMessage) -> str:
    """Why a call failed, in a line: how it ended, else the first line of what the model read."""
    ending = message.ending or CallEnding()
    if ending.by:
        return clean_line(": ".join(filter(None, ["refused", ending.why_refused])))
    if ending.exit_code and ending.ended in ("", "exit"):
        return f"exit code {ending.exit_code}"
    if ending.exit_code is not None and ending.ended:
        return {"timeout": "timed out"}.get(ending.ended, ending.ended)
    first = next(iter(text_of(message).strip().splitlines()), "")
    return cut_graphemes(clean_line(first[: _FAILURE_SHOWN * 4]), _FAILURE_SHOWN) or "failed"


def _call(name: str, args: Mapping[str, object], palette: Palette) -> str:
    first = next((value for value in args.values() if isinstance(value, str)), "")
    arg = cut_graphemes(clean_line(first[: _ARGUMENT_SHOWN * 4]), _ARGUMENT_SHOWN)
    return f"{palette.dim}{CALL}{palette.reset} {palette.bold}{clean_line(name)}{palette.reset} {arg}".rstrip()


def _ago(moment: float) -> str:
    seconds = max(time.time() - moment, 0.0)
    for size, word in ((86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size or (size < 86400 and seconds >= size):
            return f"{int(seconds // size)} {word} ago"
    return "now"
