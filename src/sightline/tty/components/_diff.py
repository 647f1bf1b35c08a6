"""A unified diff: numbered lines with their sign, what changed within a line brought out.

Where the terminal has colours for it, changed lines have a faint background and the colours of their language;
elsewhere they are in the colour of their sign.
"""

from collections.abc import Iterable, Iterator

from sightline.text import clean_text
from sightline.tty._component import CachedComponent, Rows
from sightline.tty.cells._width import expand_tabs, pad, truncate
from sightline.tty.components._diff_lines import DiffLine, Ranges, WordDiff, read_diff, replacements
from sightline.tty.components._highlight import Highlighter, State, highlighter
from sightline.tty.components._runs import TextRun, fold_runs, restyled, wrap_runs
from sightline.tty.theme._theme import PLAIN, Theme, on_background

_SIGNS = {"added": "+", "removed": "-", "context": " "}
_NARROWEST = 24  # below this there is no room for numbers
_HIGHLIGHTED_AT_MOST = 2000  # characters of a line


class LineColours:
    """The colours of the lines of a file, as it was and as it is: each side has a state of its own."""

    def __init__(self, path: str, theme: Theme) -> None:
        self._highlighter = _highlighter_of(path) if is_tinted(theme) else None
        self._theme = theme
        self.begin_hunk()

    def begin_hunk(self) -> None:
        self.states: tuple[State, State] = ("", "")

    def runs(self, line: DiffLine, changed: Ranges) -> list[TextRun] | None:
        """The line's text, changed words brought out; None where no language is known."""
        if self._highlighter is None or len(line.text) > _HIGHLIGHTED_AT_MOST:
            return None
        old, new = self.states
        tokens, state = self._highlighter.line(line.text, old if line.kind == "removed" else new)
        self.states = (old if line.kind == "added" else state, new if line.kind == "removed" else state)
        look = self._theme.open
        runs = [TextRun(part, look(role) if role else "") for role, part in tokens]
        return _with_words(runs, changed, look(f"diff_{line.kind}_word"))


class Diff(CachedComponent):
    """Rows of a diff. Long lines are folded, with every character shown. `path`: of the file it is about, where the
    diff does not name it."""

    def __init__(self, text: str = "", *, path: str = "", theme: Theme = PLAIN) -> None:
        self._theme = theme
        self._path = path
        self._text = text

    def set_text(self, text: str) -> None:
        if text != self._text:
            self._text = text
            self.invalidate()

    def _draw(self, width: int) -> Rows:
        rows = [row for line in self._lines(max(width, 2)) for row in line]
        return rows if width >= 2 else [truncate(row, width, "") for row in rows]

    def _lines(self, width: int) -> Iterator[list[str]]:
        lines = read_diff(clean_text(self._text))
        digits = max((len(str(line.number)) for line in lines if line.number is not None), default=0)
        numbers = digits if width >= _NARROWEST else 0
        changed = _changed_words(lines)
        colours = LineColours(self._path, self._theme)
        for index, line in enumerate(lines):
            if line.kind == "hunk":
                colours.begin_hunk()
            if line.kind == "file":
                colours = LineColours(line.path, self._theme)
                yield [*([""] if index else []), *wrap_runs([TextRun(line.text, self._theme.open("title"))], width)]
            elif line.kind in ("hunk", "note"):
                role = "diff_hunk" if line.kind == "hunk" else "muted"
                yield fold_runs([TextRun(expand_tabs(line.text), self._theme.open(role))], width)
            elif is_tinted(self._theme):
                words = changed.get(index, [])
                yield self._tinted(line, colours.runs(line, words), words, numbers, width)
            else:
                yield self._content(line, changed.get(index, []), numbers, width)

    def _tinted(
        self, line: DiffLine, runs: list[TextRun] | None, changed: Ranges, digits: int, width: int
    ) -> list[str]:
        look, tint = self._theme.open, self._theme.open(f"diff_{line.kind}_line")
        number = f"{'' if line.number is None else line.number:>{digits}} " if digits else ""
        if runs is None:
            plain = "" if tint else look("diff_context")
            runs = _with_words([TextRun(line.text, plain)], changed, look(f"diff_{line.kind}_word"))
        text = [TextRun(f"{_SIGNS[line.kind]} ", look(f"diff_{line.kind}")), *_expanded(runs)]
        rows = fold_runs(text, width - len(number))
        shown = [self._theme.style("line_number", number) + rows[0]]
        shown += [" " * len(number) + row for row in rows[1:]]
        return [on_background(pad(row, width), tint) for row in shown] if tint else [row.rstrip() for row in shown]

    def _content(self, line: DiffLine, changed: Ranges, digits: int, width: int) -> list[str]:
        look = self._theme.open
        number = f"{'' if line.number is None else line.number:>{digits}} " if digits else ""
        style = look(f"diff_{line.kind}")
        sign = _SIGNS[line.kind]
        text = list(self._runs(line, changed, style)) if line.text else [TextRun(sign.strip(), style)]
        if line.text and text[0].style == style:
            text[0] = TextRun(f"{sign} {text[0].text}", style)
        elif line.text:
            text.insert(0, TextRun(f"{sign} ", style))
        rows = fold_runs(text, width - len(number))
        if not number:
            return rows
        first, blank = self._theme.style("line_number", number[:-1]), " " * len(number)
        return [first + " " + rows[0] if rows[0] else first.rstrip(), *(blank + row for row in rows[1:])]

    def _runs(self, line: DiffLine, changed: Ranges, style: str) -> Iterator[TextRun]:
        """The line's text; tabs are expanded last, where the parts are known."""
        at, column = 0, 0
        word = self._theme.open(f"diff_{line.kind}_word") or style
        for start, end in [*changed, (len(line.text), len(line.text))]:
            for part, look in ((line.text[at:start], style), (line.text[start:end], word)):
                expanded = expand_tabs(" " * (column % 4) + part)[column % 4 :] if "\t" in part else part
                column += len(expanded)
                if expanded:
                    yield TextRun(expanded, look)
            at = end


def is_tinted(theme: Theme) -> bool:
    return bool(theme.open("diff_added_line"))


def _highlighter_of(path: str) -> Highlighter | None:
    name = path.rpartition("/")[2]
    return highlighter(name.rpartition(".")[2]) if "." in name else None


def _with_words(runs: Iterable[TextRun], changed: Ranges, word: str) -> list[TextRun]:
    """The same text, with these parts of it in the style of changed words."""
    return restyled(runs, [(start, end, word) for start, end in changed]) if changed and word else list(runs)


def _expanded(runs: Iterable[TextRun]) -> Iterator[TextRun]:
    """Tabs lead to the next stop of the whole line."""
    column = 0
    for run in runs:
        text = expand_tabs(" " * (column % 4) + run.text)[column % 4 :] if "\t" in run.text else run.text
        column += len(text)
        if text:
            yield run._replace(text=text)


def _changed_words(lines: list[DiffLine]) -> dict[int, Ranges]:
    """For each line that replaces another: which parts of it changed."""
    words = WordDiff()
    found: dict[int, Ranges] = {}
    for old, new in replacements(lines):
        found[old], found[new] = words.changed(lines[old].text, lines[new].text)
    return found
