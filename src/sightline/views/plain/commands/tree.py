"""The tree of a session: drawn, moved in, labelled.

Drawn so that a long conversation stays readable: only where it branches does it go to the right. `•` marks the
current branch.
"""

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from sightline import journal
from sightline.conversation import AssistantMessage, ToolMessage, text_of
from sightline.exceptions import OutsideFailure, UserMistake
from sightline.journal import Entry, JournalWriter, Moment, OutlineLine, SessionTree, Store
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.views.plain._output import pretty_json, room_in_row
from sightline.views.plain._palette import Palette

if TYPE_CHECKING:
    from sightline.host import Command, CommandReply

ACTIVE = "•"
_SHOWN = 200
_ID = 6  # columns

# Makes the summary of a branch that is left, of its entries, the oldest first.
Summarise = Callable[[list[Entry]], str]


def tree_text(store: Store, session: str, palette: Palette, *, filter: journal.Filter, search: str) -> str:
    tree = SessionTree.load(store.folder(session))
    lines = journal.outline(tree, filter, search)
    rows = _drawn(tree, lines, palette)
    if not rows:
        rows = ["nothing to show: --filter all shows everything" if not search else "nothing found"]
    rows.append(f"{palette.dim}{_where(tree.leaf)}{palette.reset}")
    if tree.unreadable:
        rows.append(f"{palette.dim}{tree.unreadable} entries cannot be read{palette.reset}")
    return "".join(f"{row}\n" for row in rows)


def tree_json(store: Store, session: str, *, filter: journal.Filter, search: str) -> bytes:
    tree = SessionTree.load(store.folder(session))
    lines = journal.outline(tree, filter, search)
    texts = {entry.id: _text_line(entry) for entry in tree.read(line.node for line in lines)}
    facts = [_facts(line, texts.get(line.node.id, "")) for line in lines]
    return pretty_json(facts)


def move_in_tree(
    store: Store, session: str, target: str, *, summary: str = "", summarise: Summarise | None = None
) -> str:
    """Continue the conversation from another entry. Returns what is printed: the place, and a message to edit."""
    try:
        writer, tree = store.reopen(session)
    except journal.Busy:
        return _moved_by_host(session, target, summary, summarise is not None)
    try:
        move = tree.move(target)
        if move.already:
            return f"already at this point: {_where(tree.leaf)}\n"
        left = tree.abandoned(tree.leaf, move.leaf)
        if left and summarise is not None:
            summary = summarise(left)
        entries = journal.move_entries(tree, move, Moment(time.time(), tree.last_seq), summary=summary if left else "")
        _append(writer, tree, entries)
        journal.append_branch(writer, tree, time.time())
    finally:
        writer.close()
    return _moved_words(tree.leaf, move.prefill)


def _moved_words(leaf: str, prefill: str) -> str:
    place = f"{_where(leaf)}\n"
    return f"{place}\nyour message, to change and send again:\n\n{clean_text(prefill)}\n" if prefill else place


def label_in_tree(store: Store, session: str, target: str, label: str) -> str:
    """Name an entry, or take its name away."""
    label = clean_line(label).strip()
    try:
        writer, tree = store.reopen(session)
    except journal.Busy:
        from sightline.host import Label

        _submitted(session, Label(target, label))
        return _labelled_words(target, label)
    try:
        _append(writer, tree, [journal.label_entry(tree, target, label, Moment(time.time(), tree.last_seq))])
    finally:
        writer.close()
    return _labelled_words(target, label)


def _moved_by_host(session: str, target: str, summary: str, summarize: bool) -> str:
    """Move a running session: its host is the only writer."""
    from sightline.host import MoveTo

    if summary:
        hint = f"use --summarize instead, or end it first: sightline stop {session}"
        raise UserMistake(f"session {session} is running, and writes the summary itself", hint)
    done = _submitted(session, MoveTo(target, summarize))
    if not done.get("moved"):
        return f"already at this point: {_where(str(done.get('leaf', '')))}\n"
    return _moved_words(str(done.get("leaf", "")), str(done.get("prefill", "")))


def _submitted(session: str, command: "Command") -> dict[str, object]:
    import asyncio

    from sightline.host import connect

    async def submit() -> "CommandReply":
        client = await connect(session)
        try:
            return await client.submit(command)
        finally:
            client.close()

    try:
        reply = asyncio.run(submit())
    except OSError as error:
        hint = f"try again, or end it: sightline stop {session}"
        raise OutsideFailure(f"session {session} is running but does not answer", hint) from error
    if not reply.ok:
        raise UserMistake(reply.error, reply.hint)
    return reply.data if isinstance(reply.data, dict) else {}


def _labelled_words(target: str, label: str) -> str:
    return f"{target} is [{label}]\n" if label else f"{target} has no label\n"


def _append(writer: JournalWriter, tree: SessionTree, entries: list[Entry]) -> None:
    if not entries:
        return
    if not writer.append(entries):
        raise OutsideFailure(f"it could not be stored: {writer.problem}", "free some disk space")
    for entry in entries:
        tree.add(entry, writer.place_of(entry.id))


def _where(leaf: str) -> str:
    return f"the conversation continues after {leaf}" if leaf else "the conversation continues from the start"


def _drawn(tree: SessionTree, lines: list[OutlineLine], palette: Palette) -> list[str]:
    below: dict[str, list[OutlineLine]] = {}
    for line in lines:
        below.setdefault(line.above, []).append(line)
    texts = {entry.id: entry for entry in tree.read(line.node for line in lines)}
    room = room_in_row(0, _SHOWN + 60)
    rows = []
    waiting = _branches(below.get("", []), "")
    while waiting:
        line, first, rest = waiting.pop()
        rows.append(_row(line, texts.get(line.node.id), first, palette, room))
        waiting += _branches(below.get(line.node.id, []), rest)
    return rows


def _branches(lines: list[OutlineLine], prefix: str) -> list[tuple[OutlineLine, str, str]]:
    """Each with what stands before it, and before what is below it. The last one first: they are taken from the end."""
    if len(lines) == 1:
        return [(lines[0], prefix, prefix)]
    last = [(line, f"{prefix}└─ ", f"{prefix}   ") for line in lines[-1:]]
    return last + [(line, f"{prefix}├─ ", f"{prefix}│  ") for line in reversed(lines[:-1])]


def _row(line: OutlineLine, entry: Entry | None, prefix: str, palette: Palette, room: int) -> str:
    mark = f"{palette.busy}{ACTIVE}{palette.reset} " if line.active else ""
    label = f"{palette.good}[{clean_line(line.label)}]{palette.reset} " if line.label else ""
    who = _who(line, entry)
    used = _ID + 1 + len(prefix) + 2 * line.active + (len(line.label) + 3 if line.label else 0) + len(who)
    text = cut_graphemes(_text_line(entry), max(20, room - used)) if entry is not None else ""
    id = f"{palette.dim}{line.node.id:<{_ID}}{palette.reset}"
    return f"{id} {palette.dim}{prefix}{palette.reset}{mark}{label}{who}{text}".rstrip()


def _who(line: OutlineLine, entry: Entry | None) -> str:
    node = line.node
    if node.type == "message":
        ended = f" ({node.stop_reason})" if node.stop_reason not in ("", "stop", "tool_use") else ""
        return f"{node.role}{ended}: "
    name = f" {clean_line(entry.custom)}" if entry is not None and entry.custom else ""
    return f"{node.type}{name}: "


def _text_line(entry: Entry) -> str:
    """One line of it: words in quotes, everything else as it is."""
    message = entry.message
    if message is None:
        text = _one_line(journal.content_of(entry))
        if entry.type == "label" and isinstance(entry.data, dict):
            return f"{clean_line(str(entry.data.get('target')))} [{text}]"
        return f'"{text}"' if entry.type in ("compaction", "branch_summary") else text
    words = _one_line(text_of(message))
    if isinstance(message, ToolMessage):
        return f'{clean_line(message.name)}{" failed" if message.is_error else ""} "{words}"'
    if not words and isinstance(message, AssistantMessage):
        return _one_line(journal.content_of(entry))
    return f'"{words}"'


def _one_line(text: str) -> str:
    return cut_graphemes(" ".join(clean_line(text[: _SHOWN * 8]).split()), _SHOWN)


def _facts(line: OutlineLine, text: str) -> dict[str, object]:
    node = line.node
    return {
        "id": node.id,
        "parent": node.parent,
        "type": node.type,
        "role": node.role,
        "time": node.time,
        "seq": node.seq,
        "stop_reason": node.stop_reason,
        "label": line.label,
        "active": line.active,
        "leaf": line.is_leaf,
        "orphan": node.orphan,
        "text": text,
    }
