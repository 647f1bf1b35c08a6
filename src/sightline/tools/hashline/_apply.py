"""From hunks to a changed list of lines.

Rules:

- A hunk becomes a splice: lines `start..stop` (counted from 0, `stop` not included) give way to its rows.
- Lines two hunks would replace are an error, and so is an insertion inside lines another hunk replaces; at their edge
  it is not.
- At one place `insert after` comes before `insert before`, `insert head` before both, `insert tail` after; otherwise
  insertions stand in the order they were written.
"""

from collections.abc import Callable, Sequence
from itertools import takewhile
from operator import eq

import msgspec

from sightline.tools.hashline import _messages as messages
from sightline.tools.hashline._parser import Hunk

# The first and last line (from 1) of the block that begins on a line, or None.
BlockResolver = Callable[[int], tuple[int, int] | None]

_MARK = "\ufeff"
_RANKS = {"head": 0, "after": 1, "before": 2, "replace": 3, "delete": 3, "tail": 4}


class Splice(msgspec.Struct, frozen=True):
    start: int
    stop: int
    rows: tuple[str, ...]
    hunk: Hunk

    @property
    def order(self) -> tuple[int, int, int]:
        return self.start, _RANKS[self.hunk.verb], self.hunk.at


class LineChange(msgspec.Struct, frozen=True):
    """Lines that differ between before and after, and where (counted from 0)."""

    before_at: int
    before: tuple[str, ...]
    after_at: int
    after: tuple[str, ...]


def splices_of(hunks: Sequence[Hunk], lines: Sequence[str], resolve: BlockResolver, hint: str = "") -> list[Splice]:
    """In the order of the file. `hint` is added when a block cannot be resolved."""
    splices = sorted((_splice(hunk, lines, resolve, hint) for hunk in hunks), key=lambda splice: splice.order)
    _refuse_overlaps(splices)
    return splices


def refuse_overlaps(hunks: Sequence[Hunk]) -> None:
    """The check that needs no file: blocks are left out."""
    placed = [hunk for hunk in hunks if not hunk.block and hunk.verb not in ("head", "tail")]
    splices = [Splice(*_span(hunk, hunk.first, hunk.last, 0), (), hunk) for hunk in placed]
    _refuse_overlaps(sorted(splices, key=lambda splice: splice.order))


def _splice(hunk: Hunk, lines: Sequence[str], resolve: BlockResolver, hint: str) -> Splice:
    first, last = hunk.first, hunk.last
    if hunk.verb not in ("head", "tail"):
        for number in (first, last):
            if not 1 <= number <= len(lines):
                raise messages.out_of_range(number, len(lines))
    if hunk.block:
        block = resolve(first)
        if block is None:
            context = messages.context_rows(lines, [first])
            raise messages.unresolved_block(hunk, context, hint)
        first, last = block
    return Splice(*_span(hunk, first, last, len(lines)), tuple(hunk.body), hunk)


def _span(hunk: Hunk, first: int, last: int, count: int) -> tuple[int, int]:
    match hunk.verb:
        case "replace" | "delete":
            return first - 1, last
        case "before":
            return first - 1, first - 1
        case "after":
            return last, last
        case "head":
            return 0, 0
        case "tail":
            return count, count


def _refuse_overlaps(splices: Sequence[Splice]) -> None:
    reaching: Splice | None = None  # of those before, the one that replaces furthest
    for splice in splices:
        inside = reaching is not None and reaching.start < splice.start < reaching.stop
        same = reaching is not None and reaching.start == splice.start < splice.stop
        if reaching is not None and (inside or same):
            first, second = sorted((reaching.hunk, splice.hunk), key=lambda hunk: hunk.at)
            raise messages.mistake("overlap", second.at, line=_shared_line(splice), other=first.at)
        if splice.stop > splice.start and (reaching is None or splice.stop > reaching.stop):
            reaching = splice


def _shared_line(splice: Splice) -> int:
    return splice.start if splice.hunk.verb == "after" else splice.start + 1


def spliced(items: Sequence[str], splices: Sequence[Splice], rows: Callable[[Splice], Sequence[str]]) -> list[str]:
    """The items with each splice's lines replaced by what `rows` gives for it."""
    result: list[str] = []
    place = 0
    for splice in splices:
        result += items[place : splice.start]
        result += rows(splice)
        place = splice.stop
    result += items[place:]
    return result


def changes_of(lines: Sequence[str], splices: Sequence[Splice]) -> list[LineChange]:
    """What really differs: splices that touch are one change, lines that stay at its edges are left out."""
    changes: list[LineChange] = []
    shift = 0
    for start, stop, rows in _joined(splices):
        before, after = tuple(lines[start:stop]), rows
        head = _shared_start(before, after)
        tail = _shared_start(before[head:][::-1], after[head:][::-1])
        change = LineChange(
            start + head, before[head : len(before) - tail], start + shift + head, after[head : len(after) - tail]
        )
        if change.before or change.after:
            changes.append(change)
        shift += len(after) - len(before)
    return changes


def _shared_start(one: Sequence[str], other: Sequence[str]) -> int:
    return len([*takewhile(bool, map(eq, one, other))])


def _joined(splices: Sequence[Splice]) -> list[tuple[int, int, tuple[str, ...]]]:
    joined: list[tuple[int, int, tuple[str, ...]]] = []
    for splice in splices:
        if joined and joined[-1][1] == splice.start:
            start, _, rows = joined.pop()
            joined.append((start, splice.stop, rows + splice.rows))
        else:
            joined.append((splice.start, splice.stop, splice.rows))
    return joined


class FileText(msgspec.Struct, frozen=True):
    """A file's text as lines that remember how they ended, so that what an edit leaves alone stays as it is."""

    lines: list[str]
    ends: list[str]  # "\n", "\r\n", or "" for a last line without one
    marked: bool = False  # begins with a byte order mark

    @classmethod
    def of(cls, text: str) -> "FileText":
        marked = text.startswith(_MARK)
        pieces = text.removeprefix(_MARK).split("\n")
        last = pieces.pop()
        lines = [piece.removesuffix("\r") for piece in pieces]
        ends = ["\r\n" if piece.endswith("\r") else "\n" for piece in pieces]
        return cls([*lines, last], [*ends, ""], marked) if last else cls(lines, ends, marked)

    def render(self) -> str:
        body = "".join(line + end for line, end in zip(self.lines, self.ends, strict=True))
        return (_MARK if self.marked else "") + body

    def edited(self, splices: Sequence[Splice]) -> "FileText":
        """New lines end as most lines do; the last line ends, or does not, as the last line did."""
        usual = "\r\n" if self.ends.count("\r\n") > self.ends.count("\n") else "\n"
        lines = spliced(self.lines, splices, lambda splice: splice.rows)
        ends = spliced(self.ends, splices, lambda splice: [usual] * len(splice.rows))
        ends = [end or usual for end in ends]
        if ends and self.ends and not self.ends[-1] and lines[-1]:  # an empty last line is nothing without its end
            ends[-1] = ""
        return FileText(lines, ends, self.marked)
