"""What a multiplexer makes of the rows on its screen when its size changes. Pure arithmetic.

Rows wider than the new width are wrapped onto further rows; rows are counted in cells that were ever written, erased or
not. Then the screen is the end of it all: what does not fit leaves at the top, and is history. Rows below the cursor
are dropped first when there are fewer rows than before. How far the window is from the top of the screen is not known;
the result holds wherever it is.

Of clusters that terminals count in different ways it is not known either how many cells they took, nor whether they
stay together at the end of a row. The fewest rows are assumed: one row too many would take a row of history away, one
too few leaves a copy of a row.
"""

from collections.abc import Sequence
from typing import NamedTuple

from sightline.tty.cells._width import doubtful, graphemes
from sightline.tty.frame._ledger import visible


class Reflow(NamedTuple):
    """`out_of_reach` painted rows are history now; the cursor stands `up` screen rows below the first that is not."""

    out_of_reach: int
    up: int


def reflowed(rows: Sequence[str], used: Sequence[int], cursor: tuple[int, int], width: int, height: int) -> Reflow:
    """`used` are the cells of the painted rows, `cursor` is (row, column) among them."""
    row, column = cursor
    if not rows:
        return Reflow(0, 0)
    row = max(0, min(row, len(rows) - 1))
    heights = [_rows_for(text, cells, width) for text, cells in zip(rows, used, strict=True)]
    inside = _rows_for(rows[row], min(column + 1, used[row]), width) - 1
    above = min(row, height - 1)
    below = heights[row + 1 : row + height - above]
    pushed_up = heights[row] - 1 - inside + sum(below) - len(below)
    reachable = max(0, above - pushed_up)
    first, up = row, min(inside, reachable)
    while first and inside <= reachable and up + heights[first - 1] <= reachable:
        first -= 1
        up += heights[first]
    return Reflow(first, up)


def _rows_for(text: str, cells: int, width: int) -> int:
    """How many rows the first `cells` cells take: a wide character that does not fit a last column goes to the next."""
    if text.isascii() or width < 2:
        return max(1, -(-cells // max(1, width)))
    count, column, seen, in_doubt = 1, 0, 0, 0
    for cluster, taken in graphemes(visible(text)):
        if seen + taken > cells:
            break
        seen += taken
        if doubtful(cluster):
            in_doubt += taken
            continue
        more, column = _filled(column + in_doubt, width)
        in_doubt = 0
        if column + taken > width:
            more, column = more + 1, 0
        count += more
        column += taken
    # What is in doubt at the end may have taken no cell at all, unless cells behind it were written once.
    behind = cells - seen
    return count + _filled(column + (in_doubt + behind if behind else 0), width)[0]


def _filled(column: int, width: int) -> tuple[int, int]:
    """How many rows further cells that fill every row go, and the column in the last of them."""
    rows = max(0, column - 1) // width
    return rows, column - rows * width
