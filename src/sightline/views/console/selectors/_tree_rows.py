"""The lines of a session's tree as rows to choose from.

Rows are indented only where the conversation branches, so that a long one stays readable. `•` marks the active branch;
several roots are branches of one that is not drawn.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from sightline.text import clean_line
from sightline.tty import Theme, measure, truncate
from sightline.tty.components import Item, SelectList
from sightline.tty.theme._theme import selected

ACTIVE = "•"


class TreeLine(msgspec.Struct, frozen=True):
    """One entry, as the host reports it. `parent` is the line it is listed under."""

    id: str
    parent: str = ""
    type: str = ""
    role: str = ""
    text: str = ""
    label: str = ""
    active: bool = False
    current: bool = False  # the conversation continues from here
    time: float = 0.0


class OutlineReply(msgspec.Struct, frozen=True):
    """The answer to `Outline`."""

    lines: list[TreeLine] = []
    leaf: str = ""


def outlined(data: object) -> OutlineReply:
    """Decode the reply of the host; empty, if it is something else."""
    try:
        return msgspec.convert(data, OutlineReply)
    except msgspec.ValidationError:
        return OutlineReply()


def prefixes(lines: Iterable[TreeLine]) -> dict[str, str]:
    """The branch lines before each of them, by id."""
    below: dict[str, list[str]] = {}
    known: set[str] = set()
    for line in lines:
        below.setdefault(line.parent if line.parent in known else "", []).append(line.id)
        known.add(line.id)
    found: dict[str, str] = {}
    waiting = [("", "")]
    while waiting:
        id, prefix = waiting.pop()
        children = below.get(id, [])
        for child in children:
            if len(children) == 1:
                found[child], rest = prefix, prefix
            else:
                last = child == children[-1]
                found[child], rest = prefix + ("└─ " if last else "├─ "), prefix + ("   " if last else "│  ")
            waiting.append((child, rest))
    return found


def speaker(line: TreeLine) -> str:
    """The role of a message, otherwise the type of the entry."""
    return clean_line(line.role if line.type == "message" else line.type)


def words(line: TreeLine) -> str:
    """The text, in quotes where it is a message or a summary."""
    text = clean_line(line.text)
    return f'"{text}"' if line.role in ("user", "assistant") or line.type.endswith("summary") else text


class EntryList(SelectList):
    """A list of entries. The highlighted one is in the middle where there are enough on both sides."""

    def __init__(self, theme: Theme, *, spoken: bool = False, **options: Any) -> None:
        """`spoken`: items are read out, so that their labels are complete. Otherwise a row is made when it is drawn."""
        self._is_spoken = spoken
        self._lines: dict[str, TreeLine] = {}
        self._prefixes: dict[str, str] = {}
        super().__init__(theme=theme, **options)

    def set_lines(self, lines: Sequence[TreeLine], at: str) -> None:
        """Replace the lines; highlight `at`, or else the last one of the active branch."""
        self._lines = {line.id: line for line in lines}
        self._prefixes = prefixes(lines)
        self.set_items(Item(line.id, self._spoken(line) if self._is_spoken else "") for line in lines)
        ids = [line.id for line in lines]
        on_branch = [line.id for line in lines if line.active]
        target = at if at in self._lines else (on_branch or ids or [""])[-1]
        if target in self._lines:
            self.move(ids.index(target))

    @property
    def line(self) -> TreeLine | None:
        return None if self.highlighted is None else self._lines[self.highlighted.value]

    def page(self, pages: int) -> None:
        self._page(pages)

    def _spoken(self, line: TreeLine) -> str:
        mark = "here: " if line.current else "" if line.active else "elsewhere: "
        label = f"[{clean_line(line.label)}] " if line.label else ""
        return f"{mark}{label}{speaker(line)}: {words(line)}"

    def _window(self) -> list[int | str]:
        first = min(max(0, self._at - self._max_rows // 2), max(0, len(self._found) - self._max_rows))
        return list(range(first, min(first + self._max_rows, len(self._found))))

    def _row(self, number: int, width: int) -> str:
        line = self._lines[self._items[self._found[number]].value]
        chosen = number == self._at
        row = truncate(self._styled(line, "› " if chosen else "  ", width), width)
        return selected(row, width, self._theme) if chosen else row

    def _styled(self, line: TreeLine, pointer: str, width: int) -> str:
        style = self._theme.style
        prefix = self._prefixes[line.id]
        # The text matters more than the exact depth.
        if measure(prefix) > width // 3:
            prefix = "… " + prefix[len(prefix) - width // 3 + 2 :]
        mark = style("accent", ACTIVE) + " " if line.active else ""
        label = style("success", f"[{clean_line(line.label)}]") + " " if line.label else ""
        who = style("accent" if line.role == "user" else "muted", f"{speaker(line)}:")
        return f"{pointer}{style('border', prefix)}{mark}{label}{who} {words(line)}"
