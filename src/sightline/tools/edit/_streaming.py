"""What an edit will change, shown while the model still writes it.

Rules:

- Each call costs what is new since the last one: the arguments are decoded once, each line parsed once, a closed hunk
  placed once. The diff is made anew when a line has come, of a long patch when a sixty-fourth of it has. What is shown
  is bounded.
- Nothing here is an error. Of a patch that stops making sense the last diff stays; a hunk that cannot be placed in
  the state its tag names is left out; of a file whose state is not known only the new lines are shown.
- The disk is not touched.
"""

import json
import re
from collections import OrderedDict
from pathlib import Path

import msgspec

from sightline.events import DiffFact
from sightline.tools._tool import Details, ToolError
from sightline.tools.hashline import Hunk, PatchParser, PatchSection, Snapshots, Splice, changes_of, splices_of, unified

_START = re.compile(r'"input"\s*:\s*"')
# As many whole characters of a JSON string as there are.
_CHARACTERS = re.compile(r'(?:[^"\\]+|\\u[0-9a-fA-F]{4}|\\[^u])*', re.DOTALL)
_HALF_A_PAIR = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\Z")
_MAX_STREAMS = 8
_MAX_ROWS = 200
_MAX_ROW = 500
_MAX_BYTES = 32 * 1024
_MAX_BLOCK_TEXT = 256 * 1024


class Streams:
    """The edits being written in a session."""

    def __init__(self) -> None:
        self._streams: OrderedDict[str, Stream] = OrderedDict()

    def of(self, call: str, snapshots: Snapshots, cwd: Path, local: Path) -> "Stream":
        if call not in self._streams:
            self._streams[call] = Stream(snapshots, cwd, local)
            while len(self._streams) > _MAX_STREAMS:
                self._streams.popitem(last=False)
        return self._streams[call]

    def forget(self, call: str) -> None:
        self._streams.pop(call, None)


class Stream:
    """One edit. `feed` it the arguments so far."""

    def __init__(self, snapshots: Snapshots, cwd: Path, local: Path) -> None:
        self._snapshots = snapshots
        self._cwd = cwd
        self._local = local
        self._parser = PatchParser()
        self._place = -1  # up to where the arguments are decoded; -1: the text has not begun
        self._line = ""  # the line being written
        self._lines = 0
        self._drawn_lines = 0  # of them, when the diff was last made
        self._over = False
        self._drawn: list[Drawn] = []
        self._details: Details | None = None

    def feed(self, written: str) -> Details | None:
        try:
            if not self._over and self._take(written):
                self._details = self._draw() or self._details
        except (ToolError, ValueError):  # ValueError: not JSON, not text, or a path no file can have
            self._over = True
        return self._details

    def _take(self, written: str) -> bool:
        """Whether there is enough new to be drawn."""
        if self._place < 0:
            start = _START.search(written)
            if start is None:
                return False
            self._place = start.end()
        found = _CHARACTERS.match(written, self._place)
        raw = found[0] if found else ""
        ended = written[self._place + len(raw) :][:1] == '"'
        if not ended:
            raw = _HALF_A_PAIR.sub("", raw)
        self._place += len(raw)
        *lines, self._line = (self._line + json.loads(f'"{raw}"', strict=False)).split("\n")
        if ended:
            lines, self._over = [*lines, self._line], True
        for line in lines:
            self._parser.feed(line)
        self._lines += len(lines)
        return self._over or self._lines - self._drawn_lines > self._drawn_lines // 64

    def _draw(self) -> Details | None:
        self._drawn_lines = self._lines
        for section in self._parser.sections[len(self._drawn) :]:
            self._drawn.append(Drawn(section, self._snapshots, self._cwd, self._local))
        if not self._drawn:
            return None
        diff = "".join(drawn.diff(last=drawn is self._drawn[-1]) for drawn in self._drawn)
        path = self._drawn[-1].section.path[:_MAX_ROW]
        return DiffFact(path=path, diff=_end_of(diff), partial=True).as_details()


def _end_of(diff: str) -> str:
    """The last rows, as many as may be shown: what is being written is at the end."""
    rows = diff.split("\n")
    first, room = len(rows), _MAX_BYTES
    while first > 0 and len(rows) - first < _MAX_ROWS:
        room -= len(msgspec.json.encode(rows[first - 1][:_MAX_ROW]))
        if room < 0:
            break
        first -= 1
    shown = [row[:_MAX_ROW] for row in rows[first:]]
    return "\n".join([f"… {first} lines before", *shown] if first else shown)


class Drawn:
    """One section and what is known of its diff."""

    def __init__(self, section: PatchSection, snapshots: Snapshots, cwd: Path, local: Path) -> None:
        from sightline.tools.edit._files import file_of

        self.section = section
        self._path = file_of(section.path, cwd, local)
        version = None if section.tag is None else snapshots.find(self._path, section.tag)
        self._lines = None if version is None else version.lines
        self._placed: list[Splice] = []
        self._closed = 0  # hunks placed for good
        self._final: str | None = None

    def diff(self, *, last: bool) -> str:
        if self._final is not None:
            return self._final
        diff = self._body_rows() if self._lines is None else self._known(self._lines, last=last)
        if not last:
            self._final = diff
        return diff

    def _known(self, lines: list[str], *, last: bool) -> str:
        hunks = self.section.hunks
        closed = len(hunks) - 1 if last else len(hunks)
        for hunk in hunks[self._closed : closed]:
            self._placed = self._with(hunk, lines)
        self._closed = max(self._closed, closed)
        splices = self._with(hunks[-1], lines) if last and hunks else self._placed
        return unified(self.section.path, lines, changes_of(lines, splices))

    def _with(self, hunk: Hunk, lines: list[str]) -> list[Splice]:
        """The splices so far and this hunk's, unless it cannot be placed or meets another."""
        try:
            splice = splices_of([hunk], lines, lambda line: self._block(lines, line))[0]
        except ToolError:
            return self._placed
        if any(splice.start < other.stop and other.start < splice.stop for other in self._placed):
            return self._placed
        return sorted([*self._placed, splice], key=lambda one: one.order)

    def _block(self, lines: list[str], line: int) -> tuple[int, int] | None:
        from sightline.tools.files._blocks import block_at

        text = "".join(f"{text}\n" for text in lines)
        return block_at(text, self._path, line) if len(text) <= _MAX_BLOCK_TEXT else None

    def _body_rows(self) -> str:
        rows = [f"+++ b/{self.section.path}"]
        for hunk in self.section.hunks:
            rows += [f"@@ {hunk.operation.rstrip(':')} @@", *(f"+{row}" for row in hunk.body)]
        return "\n".join(rows) + "\n"
