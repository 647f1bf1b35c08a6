"""The tree of a session as text, and what was moved or labelled in it.

Drawn so that a long conversation stays readable: only where it branches does it go to the right. `•` marks the
current branch.
"""

from typing import TYPE_CHECKING

from sightline import journal
from sightline.conversation import AssistantMessage, ToolMessage, text_of
from sightline.journal import Entry, OutlineLine, SessionTree, Store
from sightline.text import clean_line, clean_text, cut_graphemes
from sightline.views.plain._output import pretty_json, room_in_row
from sightline.views.plain._palette import Palette

if TYPE_CHECKING:
    from sightline.host import MovedTree

ACTIVE = "•"
_SHOWN = 200
_ID = 6  # columns


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


def moved_text(moved: "MovedTree") -> str:
    """Where the conversation continues now, and a message to edit."""
    if not moved.moved:
        return f"already at this point: {_where(moved.leaf)}\n"
    place = f"{_where(moved.leaf)}\n"
    if not moved.prefill:
        return place
    return f"{place}\nyour message, to change and send again:\n\n{clean_text(moved.prefill)}\n"


def labelled_text(target: str, label: str) -> str:
    return f"{target} is [{label}]\n" if label else f"{target} has no label\n"


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
