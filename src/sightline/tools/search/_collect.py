"""Lines as an engine finds them, kept as far as they can be shown."""

import os

from sightline.handles import real_path
from sightline.tools.files._paths import shown
from sightline.tools.files._selectors import LineRange
from sightline.tools.search._query import MATCHES_IN_ANY_ORDER, FileMatches, MatchLine, SearchPage, SearchQuery


class MatchCollector:
    """Takes the lines of one file after the other. `in_order`: files come in the order of their paths."""

    def __init__(self, query: SearchQuery, *, in_order: bool) -> None:
        self._query = query
        self._in_order = in_order
        self._files: dict[str, FileMatches] = {}
        self._ranges = {str(target.path): target.ranges for target in query.targets if target.ranges}
        self._kept = 0
        self._last = 0  # the number of the last line that matched
        self._current = FileMatches("")
        self._current_ranges: tuple[LineRange, ...] = ()
        self._done: set[str] = set()  # a file that two targets lead to is found twice
        self.overflowed = False  # too many matches for a search in no order
        self.satisfied = False  # nothing that comes later can be shown
        self.problem = ""  # why not everything was searched
        self.unreadable: list[str] = []  # of what was named, with the reason

    def add(self, path: str, number: int, matched: bool, raw: bytes) -> None:
        if path != self._current.path:
            self._next_file(path)
        if path in self._done:
            return
        if self._current_ranges:
            if not self._near(number):
                return
            matched = matched and any(number in range_ for range_ in self._current_ranges)
        if self._current.more and number > self._last + self._query.after:
            self.satisfied = self._query.single
            return
        if matched and self._current.matches == self._query.per_file:
            self._current.more = True
            matched = False  # still worth showing, as what surrounds the match before it
        if matched:
            self._count_match(path, number)
        self._current.lines.append(MatchLine(number, matched, raw))

    def _count_match(self, path: str, number: int) -> None:
        self._last = number
        self._current.matches += 1
        self._kept += 1
        if self._current.matches == 1:
            self._files[path] = self._current
            self.satisfied = self._in_order and len(self._files) > self._query.enough
        self.overflowed = not self._in_order and self._kept > MATCHES_IN_ANY_ORDER

    def _next_file(self, path: str) -> None:
        self._done.add(self._current.path)
        if self._in_order and len(self._files) <= self._query.first:
            self._current.lines = []  # of an earlier page
        if self._query.is_denied is not None and self._query.is_denied(shown(real_path(path))):
            self._done.add(path)
        self._current = FileMatches(path, [])
        self._current_ranges = self._ranges.get(path, ())

    def _near(self, number: int) -> bool:
        """Whether a line is in a range that was asked for or could surround a match there."""
        before, after = self._query.before, self._query.after
        last = self._current_ranges[-1].last
        if last is not None and number > last + after:
            self.satisfied = self._query.single
        return any(
            one.first - before <= number and (one.last is None or number <= one.last + after)
            for one in self._current_ranges
        )

    def found(self) -> SearchPage:
        """The page."""
        ordered = sorted(self._files.values(), key=lambda hits: path_order(hits.path))
        page = ordered[self._query.first : self._query.enough]
        for hits in page:
            hits.lines = _around_matches(hits.lines, self._query.before, self._query.after)
        return SearchPage(
            hits=page, more_files=len(ordered) > self._query.enough, problem=self.problem, unreadable=self.unreadable
        )


def path_order(path: str) -> list[bytes]:
    """Folder by folder, as ripgrep sorts."""
    return os.fsencode(path).split(b"/")


def _around_matches(lines: list[MatchLine], before: int, after: int) -> list[MatchLine]:
    """Without what surrounded only matches that are left out."""
    wanted: set[int] = set()
    for line in lines:
        if line.matched:
            wanted.update(range(line.number - before, line.number + after + 1))
    return [line for line in lines if line.number in wanted]
