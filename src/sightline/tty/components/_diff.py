"""A unified diff: numbered lines with their sign, what changed within a line brought out."""

from collections.abc import Iterable, Iterator

from sightline.text import clean_text
from sightline.tty._component import Component, Rows
from sightline.tty._theme import PLAIN, Theme
from sightline.tty._width import expand_tabs, truncate
from sightline.tty.components._diff_lines import Line, Ranges, Words, read_diff
from sightline.tty.components._runs import Run, fold_runs, wrap_runs

_SIGNS = {"added": "+", "removed": "-", "context": " "}
_NARROWEST = 24  # below this there is no room for numbers


class Diff(Component):
    """Rows of a diff. Long lines are folded, with every character kept."""

    def __init__(self, text: str = "", *, theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._text = ""
        self._shown: tuple[int, list[str]] | None = None
        self.set_text(text)

    def set_text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self._shown = None

    def invalidate(self) -> None:
        self._shown = None

    def render(self, width: int) -> Rows:
        if self._shown is None or self._shown[0] != width:
            rows = [row for line in self._lines(max(width, 2)) for row in line]
            self._shown = (width, rows if width >= 2 else [truncate(row, width, "") for row in rows])
        return self._shown[1]

    def _lines(self, width: int) -> Iterator[list[str]]:
        lines = read_diff(clean_text(self._text))
        digits = max((len(str(line.number)) for line in lines if line.number is not None), default=0)
        numbers = digits if width >= _NARROWEST else 0
        changed = _changed_words(lines)
        for index, line in enumerate(lines):
            if line.kind == "file":
                yield [*([""] if index else []), *wrap_runs([Run(line.text, self._theme.open("title"))], width)]
            elif line.kind in ("hunk", "note"):
                role = "diff_hunk" if line.kind == "hunk" else "muted"
                yield fold_runs([Run(expand_tabs(line.text), self._theme.open(role))], width)
            else:
                yield self._content(line, changed.get(index, []), numbers, width)

    def _content(self, line: Line, changed: Ranges, digits: int, width: int) -> list[str]:
        look = self._theme.open
        number = f"{'' if line.number is None else line.number:>{digits}} " if digits else ""
        style = look(f"diff_{line.kind}")
        sign = _SIGNS[line.kind]
        text = list(self._runs(line, changed, style)) if line.text else [Run(sign.strip(), style)]
        if line.text and text[0].style == style:
            text[0] = Run(f"{sign} {text[0].text}", style)
        elif line.text:
            text.insert(0, Run(f"{sign} ", style))
        rows = fold_runs(text, width - len(number))
        if not number:
            return rows
        first, blank = self._theme.style("line_number", number[:-1]), " " * len(number)
        return [first + " " + rows[0] if rows[0] else first.rstrip(), *(blank + row for row in rows[1:])]

    def _runs(self, line: Line, changed: Ranges, style: str) -> Iterator[Run]:
        """The line's text; tabs are expanded last, where the parts are known."""
        at, column = 0, 0
        word = self._theme.open(f"diff_{line.kind}_word") or style
        for start, end in [*changed, (len(line.text), len(line.text))]:
            for part, look in ((line.text[at:start], style), (line.text[start:end], word)):
                expanded = expand_tabs(" " * (column % 4) + part)[column % 4 :] if "\t" in part else part
                column += len(expanded)
                if expanded:
                    yield Run(expanded, look)
            at = end


def _changed_words(lines: list[Line]) -> dict[int, Ranges]:
    """For each line that replaces another: which parts of it changed."""
    words = Words()
    found: dict[int, Ranges] = {}
    for removed, added in _replacements(lines):
        for old, new in zip(removed, added, strict=False):
            found[old], found[new] = words.changed(lines[old].text, lines[new].text)
    return found


def _replacements(lines: Iterable[Line]) -> Iterator[tuple[list[int], list[int]]]:
    """Removed lines directly followed by added ones, by their places."""
    removed: list[int] = []
    added: list[int] = []
    for index, line in enumerate(lines):
        if line.kind == "removed" and not added:
            removed.append(index)
        elif line.kind == "added" and removed:
            added.append(index)
        else:
            if added:
                yield removed, added
            removed, added = ([index] if line.kind == "removed" else []), []
    if added:
        yield removed, added
