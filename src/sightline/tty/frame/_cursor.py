"""The cursor: a mark that a component leaves in its rows, taken out before they are drawn."""

from sightline.tty._component import CURSOR
from sightline.tty.cells._marks import strip_marks
from sightline.tty.cells._width import graphemes, measure, pad, slice_columns
from sightline.tty.theme._theme import RESET

Place = tuple[int, int]  # row of the window and column

_REVERSE = "\x1b[7m"


def take_mark(rows: list[str]) -> tuple[list[str], Place | None]:
    """The rows without the mark, and where it was. Only one component has the focus, and it mostly is near the end."""
    for index in range(len(rows) - 1, -1, -1):
        row = rows[index]
        if CURSOR in row:
            rows[index] = row.replace(CURSOR, "")
            return rows, (index, measure(row[: row.index(CURSOR)]))
    return rows, None


def drawn(rows: list[str], place: Place, width: int) -> list[str]:
    """The rows with a cursor drawn into them, for a terminal whose own is not to be used."""
    index, column = place[0], min(place[1], width - 1)
    row = slice_columns(rows[index], 0, width)
    at, cluster = _cluster_at(row, column)
    before, after = slice_columns(row, 0, at), slice_columns(row, at + measure(cluster), width)
    rows[index] = f"{pad(before, at)}{_REVERSE}{cluster}{RESET}{after}"
    return rows


def _cluster_at(row: str, column: int) -> tuple[int, str]:
    """The cluster that covers a column, and the column it begins in."""
    at = 0
    for cluster, cells in graphemes(strip_marks(row)):
        if at + cells > column:
            return at, cluster
        at += cells
    return column, " "
