"""A long source file without the bodies of its functions, and where to find what was left out."""

from collections.abc import Sequence
from pathlib import Path

import msgspec

from sightline.tools._truncation import MAX_BYTES, MAX_LINES
from sightline.tools.hashline import numbered
from sightline.tools.read._present import GAP, Mode

MAX_SUMMARY_BYTES = 2 * 1024**2
MAX_SUMMARY_LINES = 20_000
_EXAMPLES = 4
_CLOSERS = {"{": "}", "(": ")", "[": "]"}


class FileSummary(msgspec.Struct, frozen=True):
    rows: list[str]
    elided: list[tuple[int, int]]
    lines: int

    @property
    def elided_lines(self) -> int:
        return sum(last - first + 1 for first, last in self.elided)

    def footer(self, name: str) -> str:
        ranges = ",".join(f"{first}-{last}" for first, last in self.elided[:_EXAMPLES])
        return f"[{self.elided_lines} lines elided; re-read needed ranges, e.g. {name}:{ranges}]"

    def details(self) -> dict[str, int]:
        return {"lines": self.lines, "elided_spans": len(self.elided), "elided_lines": self.elided_lines}


def summarize(text: str, lines: Sequence[str], path: Path, *, mode: Mode) -> FileSummary | None:
    """None when it cannot be done, would leave nothing out, or would still be too long."""
    if len(text.encode("utf-8", "replace")) > MAX_SUMMARY_BYTES or len(lines) > MAX_SUMMARY_LINES:
        return None
    from sightline.tools.files._blocks import outline

    elided = [(first, min(last, len(lines))) for first, last in outline("\n".join(lines), path)]
    if not elided:
        return None
    rows = _rows(lines, elided, mode)
    too_long = len(rows) > MAX_LINES or sum(len(row.encode("utf-8", "replace")) + 1 for row in rows) > MAX_BYTES
    return None if too_long else FileSummary(rows, elided, len(lines))


def _rows(lines: Sequence[str], elided: Sequence[tuple[int, int]], mode: Mode) -> list[str]:
    rows: list[str] = []
    at = 1
    for first, last in elided:
        rows += [_row(number, lines[number - 1], mode) for number in range(at, first)]
        if at < first and last < len(lines) and _is_pair(lines[first - 2], lines[last]):
            joined = f"{lines[first - 2].rstrip()} .. {lines[last].strip()}"
            rows[-1] = joined if mode == "plain" else f"{first - 1}-{last + 1}:{joined}"
            at = last + 2
        else:
            rows.append(GAP)
            at = last + 1
    return rows + [_row(number, lines[number - 1], mode) for number in range(at, len(lines) + 1)]


def _row(number: int, line: str, mode: Mode) -> str:
    return line if mode == "plain" else numbered(number, line)


def _is_pair(opener: str, closer: str) -> bool:
    closing = _CLOSERS.get(opener.rstrip()[-1:])
    return closing is not None and closer.strip().startswith(closing)
