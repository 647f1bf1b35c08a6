"""The header of a call: its state, the tool, the title and the outcome.

Without room for all in one row, the title is wrapped over a few rows before it is cut. The outcome, with the exit code,
is always shown.
"""

from collections.abc import Iterable

from sightline.tty import Theme, measure, truncate, wrap
from sightline.views.console._drawing import DrawingOptions

SIGNS = {
    "running": ("◌", "accent"),
    "background": ("↗", "accent"),  # it runs on as a job: its end is a row of its own
    "ok": ("✓", "success"),
    "error": ("✕", "error"),
    "stopped": ("–", "muted"),
    "aside": ("?", "info"),  # a question beside the conversation
}
SPOKEN = {
    "running": "running:",
    "background": "started:",
    "ok": "ok:",
    "error": "failed:",
    "stopped": "stopped:",
    "aside": "question:",
}
"""Words in place of signs, for screen readers."""
INDENT = "  "
_LINE = "│"  # as wide as the indent with the space after it
_LEAST = 16  # cells of a title that are still useful


def beside(rows: Iterable[str], drawing: DrawingOptions, role: str = "gutter") -> list[str]:
    """Rows that are not the agent's words: indented, or with a thin line at their side."""
    if drawing.linear:
        return [INDENT + row if row else "" for row in rows]
    line = drawing.theme.style(role, _LINE)
    return [f"{line} {row}" if row else line for row in rows]


def sign_of(state: str, *, spoken: bool) -> tuple[str, str]:
    """The sign or the word, and its role."""
    sign, role = SIGNS[state]
    return (SPOKEN[state] if spoken else sign), role


def header_rows(
    theme: Theme,
    width: int,
    *,
    state: str,
    label: str,
    title: str,
    suffix: str,
    most: int,
    spoken: bool = False,
    role: str = "strong",
) -> list[str]:
    """`role`: how the label looks."""
    sign, sign_role = sign_of(state, spoken=spoken)
    label = truncate(label, max(width - measure(sign) - 1, 1))
    start = theme.style(sign_role, sign) + (f" {theme.style(role, label)}" if label else "")
    room = width - measure(start) - 1
    end = theme.style("error" if state == "error" else "muted", suffix)
    beside = room - measure(suffix) - 2 if suffix else room
    if most == 1 and beside >= _LEAST:  # one row for all of it
        room = beside
    rows = _title(title, room, width - len(INDENT), most)
    rows = [f"{start} {rows[0]}" if rows and rows[0] else start, *(INDENT + row for row in rows[1:])]
    if not suffix:
        return rows
    if measure(rows[-1]) + 2 + measure(suffix) <= width:
        rows[-1] += f"  {end}"
    else:
        rows.append(truncate(INDENT + end, width))
    return rows


def _title(title: str, first: int, rest: int, most: int) -> list[str]:
    """The title in at most `most` rows; the first has less room than the others."""
    lines = [line.rstrip() for line in title.strip("\n").split("\n")] if title else []
    if not lines:
        return []
    if first < 1 and most == 1:
        return [""]
    if first < 1:
        rows = [""]
    else:
        whole = wrap(lines[0], first) or [""]
        if len(whole) == 1:
            rows, lines = whole, lines[1:]
        else:
            head = whole[0]
            rows = [head]
            lines[0] = lines[0][len(head) :].lstrip() if lines[0].startswith(head) else lines[0]
    for line in lines:
        if len(rows) > most:
            break
        rows += wrap(line, max(rest, 1)) or [""]
    if len(rows) <= most:
        return rows
    *shown, last = rows[:most]
    room = first if most == 1 else rest
    cut = truncate(last + "…", max(room, 1)) if measure(last) < room else truncate(last, room - 1) + "…"
    return [*shown, cut]
