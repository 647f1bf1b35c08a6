"""Rows as text: a table of at most 120 columns of characters, or one row with a line for each of its values."""

from collections.abc import Sequence
from typing import Any

from sightline.tools._truncation import cut_end

TABLE_WIDTH = 120
COLUMN_WIDTH = 40
_LEAST_WIDTH = 4
_GAP = " | "
VALUE_CHARS = 8 * 1024  # of one value, when a row is shown alone
_BLOB_SHOWN = 16

_ESCAPES = str.maketrans(
    {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
    | {chr(code): f"\\x{code:02x}" for code in (*range(9), 11, 12, *range(14, 32), 127)}
)


def cell(value: Any, limit: int = COLUMN_WIDTH) -> str:
    """One value on one line."""
    if value is None:
        return "NULL"
    if isinstance(value, bytes):
        shown = value[:_BLOB_SHOWN].hex()
        return cut(
            f"<blob {len(value)} bytes{': ' + shown if shown else ''}{'…' if len(value) > _BLOB_SHOWN else ''}>", limit
        )
    if isinstance(value, str):
        return cut(value[: limit + 1].translate(_ESCAPES) + ("…" if len(value) > limit + 1 else ""), limit)
    return cut(repr(value) if isinstance(value, float) else str(value), limit)


def cut(text: str, width: int) -> str:
    return text if len(text) <= width else cut_end(text[: width - 1]) + "…"


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Header, rule, rows. Columns that do not fit are counted, not shown."""
    names = [cell(name) for name in columns]
    cells = [[cell(value) for value in row] for row in rows]
    widths = [max([len(names[at]), *(len(row[at]) for row in cells)]) for at in range(len(names))]
    fitted = _fitted(widths)
    lines = [_line(names, fitted), "-+-".join("-" * width for width in fitted), *(_line(row, fitted) for row in cells)]
    if len(fitted) < len(names):
        hidden = len(names) - len(fitted)
        lines.append(f"[{hidden} more columns do not fit: {cut(', '.join(names[len(fitted) :]), TABLE_WIDTH)}]")
    return "\n".join(lines)


def _fitted(widths: list[int]) -> list[int]:
    """Widths that fit side by side: the widest give way first, then the last columns go."""
    kept = list(widths)
    while kept and sum(min(width, _LEAST_WIDTH) for width in kept) + len(_GAP) * (len(kept) - 1) > TABLE_WIDTH:
        kept.pop()
    room = TABLE_WIDTH - len(_GAP) * (len(kept) - 1)
    while sum(kept) > room:
        widest = max(range(len(kept)), key=lambda at: kept[at])
        kept[widest] -= 1
    return kept


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    fitting = (cut(text, width).ljust(width) for text, width in zip(cells, widths, strict=False))
    return _GAP.join(fitting).rstrip()


def record(columns: Sequence[str], row: Sequence[Any]) -> str:
    return "\n".join(f"{name}: {cell(value, VALUE_CHARS)}" for name, value in zip(columns, row, strict=True))
