"""Text that the user approves, a line at a time: every character of it is visible, and nothing is laid out before it is
in sight.

Rules:

- Blanks at the end of a line, tabs and runs of blanks have signs (`sightline.text.mark_blanks`). What cannot be drawn
  at all became a sign where it came from.
- A line that is longer than a row is folded with every character shown. Its further rows begin with a mark, so that
  none of them passes for a line of its own.
- A line's rows depend on the line and the width alone: those in sight cost the same, however many there are.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from sightline.text import clean_text, mark_blanks
from sightline.tty.cells._width import pad, wrap
from sightline.tty.components._diff import LineColours, is_tinted
from sightline.tty.components._diff_lines import DiffLine, Ranges, WordDiff, read_diff, replacements
from sightline.tty.components._highlight import State, highlighter
from sightline.tty.components._runs import TextRun, fold_runs, plain, restyled, wrap_runs
from sightline.tty.theme._theme import PLAIN, Theme, on_background

_CONTINUED = "↪"
_SIGNS = {"added": "+", "removed": "-", "context": " "}
_NARROWEST = 24  # columns; below this there is no room for numbers
_HIGHLIGHTED_AT_MOST = 500  # lines of a command: colours of a line depend on those before it
_HIGHLIGHTED_IN_HUNK = 1000  # lines, likewise; those after them are in one colour
_sign = re.compile(r"⟨[^⟨⟩]{1,20}⟩|[␀-␟␡]+|·+|→ {3}").finditer


class ExactLines:
    """Lines, and the rows of each."""

    def __len__(self) -> int:
        raise NotImplementedError

    def rows(self, index: int, width: int) -> Sequence[str]:
        """At least one."""
        raise NotImplementedError


class Paragraphs(ExactLines):
    """Lines of prose, wrapped at spaces."""

    def __init__(self, text: str, role: str | None = None, *, theme: Theme = PLAIN) -> None:
        self._lines = clean_text(text).split("\n")
        self._role = role
        self._theme = theme

    def __len__(self) -> int:
        return len(self._lines)

    def rows(self, index: int, width: int) -> Sequence[str]:
        rows = wrap(mark_blanks(self._lines[index]), width) or [""]
        return [self._theme.style(self._role, row) for row in rows] if self._role else rows


class ExactText(ExactLines):
    """A command, a path, an argument: in colour where a language is given."""

    def __init__(self, text: str, language: str = "", role: str = "", *, theme: Theme = PLAIN) -> None:
        self._lines = clean_text(text).split("\n")
        self._theme = theme
        self._base = theme.open(role) if role else ""
        few = len(self._lines) <= _HIGHLIGHTED_AT_MOST
        self._highlighter = highlighter(language) if language and few else None
        self._states: list[State] = [""]  # before each line, as far as it was needed

    def __len__(self) -> int:
        return len(self._lines)

    def rows(self, index: int, width: int) -> Sequence[str]:
        return _folded(_signed(self._runs(index), self._theme), width, "", self._theme)

    def _runs(self, index: int) -> list[TextRun]:
        text = mark_blanks(self._lines[index])
        if self._highlighter is None:
            return [TextRun(text, self._base)]
        while len(self._states) <= index:
            before = mark_blanks(self._lines[len(self._states) - 1])
            self._states.append(self._highlighter.line(before, self._states[-1])[1])
        tokens, _ = self._highlighter.line(text, self._states[index])
        return [TextRun(part, self._theme.open(role) if role else self._base) for role, part in tokens]


class ExactDiff(ExactLines):
    """A unified diff: numbered lines with their sign, what changed within a line brought out. `path`: the file that
    is named beside it; where the diff is of that one alone, it is not named again."""

    def __init__(self, text: str, *, path: str = "", theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._lines = _without_name(read_diff(clean_text(text)), path)
        self._digits = max((len(str(line.number)) for line in self._lines if line.number is not None), default=0)
        self._words = WordDiff()
        self._changed: dict[int, Ranges] = {}
        self._partners: dict[int, int] | None = None
        self._hunks = list(_hunks(self._lines, path, theme))  # for each line, the hunk it is in

    def __len__(self) -> int:
        return len(self._lines)

    def rows(self, index: int, width: int) -> Sequence[str]:
        line, look = self._line(index), self._theme.open
        if line.kind == "file":
            return wrap_runs([TextRun(line.text, look("title"))], width)
        if line.kind in ("hunk", "note"):
            role = "diff_hunk" if line.kind == "hunk" else "muted"
            return _folded([TextRun(line.text, look(role))], width, "", self._theme)
        number = f"{'' if line.number is None else line.number:>{self._digits}} " if self._digits else ""
        runs = [TextRun(f"{_SIGNS[line.kind]} ", look(f"diff_{line.kind}")), *self._content(index, line)]
        rows = _folded(_signed(runs, self._theme), width, number if width >= _NARROWEST else "", self._theme)
        tint = look(f"diff_{line.kind}_line")
        return [on_background(pad(row, width), tint) for row in rows] if tint else rows

    def _line(self, index: int) -> DiffLine:
        line = self._lines[index]
        return line._replace(text=mark_blanks(line.text))

    def _content(self, index: int, line: DiffLine) -> Iterable[TextRun]:
        coloured = self._hunks[index].runs(self._line, index, self._ranges(index))
        return self._in_one_colour(index, line) if coloured is None else coloured

    def _in_one_colour(self, index: int, line: DiffLine) -> Iterator[TextRun]:
        is_plain = is_tinted(self._theme) and line.kind != "context"
        style, at = "" if is_plain else self._theme.open(f"diff_{line.kind}"), 0
        word = self._theme.open(f"diff_{line.kind}_word") or style
        for start, end in [*self._ranges(index), (len(line.text), len(line.text))]:
            yield from (TextRun(line.text[at:start], style), TextRun(line.text[start:end], word))
            at = end

    def _ranges(self, index: int) -> Ranges:
        """What changed in a line that replaces another."""
        if self._partners is None:
            pairs = list(replacements(self._lines))
            self._partners = dict([*pairs, *((new, old) for old, new in pairs)])
        partner = self._partners.get(index)
        if partner is None:
            return []
        if index not in self._changed:
            old, new = sorted((index, partner))
            changed = self._words.changed(self._line(old).text, self._line(new).text)
            self._changed[old], self._changed[new] = changed
        return self._changed[index]


class _Hunk:
    """The colours of its lines: computed on demand, from its first line on."""

    def __init__(self, first: int, path: str, theme: Theme) -> None:
        self._first = first
        self._colours = LineColours(path, theme)
        self._before = [self._colours.states]  # what each line begins in

    def runs(self, line: Callable[[int], DiffLine], index: int, changed: Ranges) -> list[TextRun] | None:
        """None: in one colour."""
        at = index - self._first
        if at >= _HIGHLIGHTED_IN_HUNK:
            return None
        while len(self._before) <= at:
            self._colours.states = self._before[-1]
            earlier = line(self._first + len(self._before) - 1)
            if earlier.kind in _SIGNS:
                self._colours.runs(earlier, [])
            self._before.append(self._colours.states)
        self._colours.states = self._before[at]
        return self._colours.runs(line(index), changed)


def _hunks(lines: Sequence[DiffLine], path: str, theme: Theme) -> Iterator[_Hunk]:
    hunk = _Hunk(0, path, theme)
    for index, line in enumerate(lines):
        if line.kind == "file":
            path = line.path
        if line.kind in ("file", "hunk"):
            hunk = _Hunk(index + 1, path, theme)
        yield hunk


def _without_name(lines: list[DiffLine], path: str) -> list[DiffLine]:
    files = [line for line in lines if line.kind == "file"]
    if len(files) != 1 or files[0].is_renamed or not f"/{path}".endswith("/" + files[0].path.removeprefix("/")):
        return lines
    return [line for line in lines if line.kind != "file"]


def _signed(runs: Sequence[TextRun], theme: Theme) -> list[TextRun]:
    """The same with the signs for what is no text in a look of their own, whatever they stand in."""
    dim, warning = theme.open("dim"), theme.open("warning")
    signs = [(found.start(), found.end(), dim if found[0][0] in "·→" else warning) for found in _sign(plain(runs))]
    return restyled(runs, signs)


def _folded(runs: Sequence[TextRun], width: int, number: str, theme: Theme) -> list[str]:
    """`number` stands before the first row, the mark before the others."""
    margin = max(len(number), 2 if not number and width > 4 else 0)
    whole = fold_runs(runs, max(width - len(number), 1))
    if len(whole) <= 1:
        first = whole[0] if whole else ""
        return [f"{theme.style('line_number', number)}{first}" if number else first]
    rows = fold_runs(runs, max(width - margin, 1))
    mark = theme.style("line_number", f"{_CONTINUED:>{margin - 1}} ") if margin > 1 else ""
    first = theme.style("line_number", number) if number else ""
    return [first + rows[0], *(mark + row for row in rows[1:])]
